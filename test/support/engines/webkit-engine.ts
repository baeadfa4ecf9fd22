import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Builder, Capabilities, type WebDriver } from "selenium-webdriver";
import { type Engine, type EngineBrowser, tabOf } from "./engine.ts";

const packages = "webkit2gtk-driver xvfb python3-gi gir1.2-webkit2-4.1";
/** Debian's own: the bindings belong to it, not to a Python that stands earlier in the path. */
const python = "/usr/bin/python3";
const browserScript = fileURLToPath(new URL("./webkit-browser.py", import.meta.url));

function inPath(name: string): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

function hasBindings(): boolean {
  const homes = ["/usr/lib", ...(existsSync("/usr/lib") ? readdirSync("/usr/lib") : [])];
  const typelibs = homes.map((home) => join("/usr/lib", home, "girepository-1.0/WebKit2-4.1.typelib"));
  return existsSync("/usr/lib/python3/dist-packages/gi") && typelibs.some((path) => existsSync(path));
}

export const webkitEngine: Engine = {
  name: "webkit",
  lacking: () =>
    inPath("WebKitWebDriver") !== undefined &&
    inPath("Xvfb") !== undefined &&
    existsSync(python) &&
    hasBindings()
      ? undefined
      : `no WebKitGTK with its driver (Debian: apt-get install ${packages})`,
  open: async (profile) => {
    const screen = await startScreen();
    const port = await freePort();
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^WEBKIT_/.test(name)));
    // A process group of its own: the driver, the browser and the processes of its pages are killed together.
    const driver = spawn("WebKitWebDriver", [`--port=${port}`], {
      detached: true,
      stdio: "ignore",
      env: { ...env, DISPLAY: screen.display, GDK_BACKEND: "x11", NO_AT_BRIDGE: "1" },
    });
    const kill = () => killGroup(driver);
    process.once("exit", () => signalGroup(driver));
    const session = await startSession(port, profile);
    return browserOf(session, { home: await session.getWindowHandle(), kill });
  },
};

/** A screen of its own, which goes when the browser on it has gone. */
async function startScreen(): Promise<{ readonly display: string }> {
  const args = ["-displayfd", "3", "-terminate", "-nolisten", "tcp", "-screen", "0", "1280x1024x24"];
  const screen = spawn("Xvfb", args, { stdio: ["ignore", "ignore", "ignore", "pipe"] });
  const [number] = await once(screen.stdio[3] as NodeJS.ReadableStream, "data");
  return { display: `:${String(number).trim()}` };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("There is no free port.");
  return address.port;
}

async function startSession(port: number, profile: string): Promise<WebDriver> {
  const url = `http://127.0.0.1:${port}`;
  for (let attempt = 0; ; attempt += 1) {
    const up = await fetch(`${url}/status`).then(
      () => true,
      () => false,
    );
    if (up) break;
    if (attempt > 600) throw new Error("WebKitWebDriver does not answer.");
    await setTimeout(50);
  }
  const capabilities = new Capabilities({
    browserName: "Holdfast-WebKit",
    timeouts: { script: 600_000, pageLoad: 60_000, implicit: 0 },
    "webkitgtk:browserOptions": { binary: python, args: [browserScript, profile] },
  });
  return new Builder().usingServer(url).withCapabilities(capabilities).build();
}

/** `home` is the window that is there from the beginning: left empty, it is where the driver stands to open others. */
function browserOf(
  session: WebDriver,
  { home, kill }: { home: string; kill: () => Promise<void> },
): EngineBrowser {
  let last: Promise<unknown> = Promise.resolve();
  let calls = 0;
  /** The driver looks at one tab at a time. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work);
    last = done.catch(() => {});
    return done;
  };
  const inTab = <T>(tab: string, work: () => Promise<T>): Promise<T> =>
    inTurn(async () => {
      await session.switchTo().window(tab);
      return work();
    });

  return {
    openTab: async () => {
      const tab = await inTab(home, async () => {
        await session.switchTo().newWindow("tab");
        return session.getWindowHandle();
      });
      return tabOf({
        goto: (url) => inTab(tab, () => session.get(url)),
        close: () => inTab(tab, () => session.close()),
        evaluate: async (expression) => {
          calls += 1;
          const key = `call ${calls}`;
          const begin = callScript(key, expression);
          const look = callScript(key, 'Promise.reject(new Error("The page has gone."))');
          for (let script = begin; ; script = look) {
            const answer = JSON.parse(await inTab(tab, () => session.executeAsyncScript<string>(script)));
            if (answer.error !== undefined) throw new Error(answer.error);
            if (answer.json !== undefined) return answer.json;
            await setTimeout(10);
          }
        },
      });
    },
    kill,
    close: async () => {
      await inTurn(() => session.quit()).catch(() => {
        // What has not ended by itself is ended next.
      });
      await kill();
    },
  };
}

/** Begins the call, or looks how it does. Never waits long, so that other tabs have their turns. */
function callScript(key: string, expression: string): string {
  return `
    const tell = arguments[arguments.length - 1];
    const calls = (window.calls ??= {});
    calls["${key}"] ??= ${expression}.then((json) => ({ json }), (error) => ({ error: String(error) }));
    Promise.race([calls["${key}"], new Promise((later) => setTimeout(later, 30, {}))])
      .then((answer) => tell(JSON.stringify(answer)));`;
}

function signalGroup(leader: ChildProcess): boolean {
  if (leader.pid === undefined) return false;
  try {
    return process.kill(-leader.pid, "SIGKILL");
  } catch {
    // It has gone already.
    return false;
  }
}

async function killGroup(leader: ChildProcess): Promise<void> {
  const gone = leader.exitCode === null && leader.signalCode === null ? once(leader, "exit") : undefined;
  signalGroup(leader);
  await gone;
}
