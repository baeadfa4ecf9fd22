import { type FormEvent, type ReactNode, useId, useState } from "react";
import { type Account, actorIdOf, relayUrlOf } from "./account.ts";
import { Mark } from "./icons.tsx";

interface SignInProps {
  readonly relayUrl: string;
  readonly onSignIn: (account: Account) => void;
}

export function SignIn({ relayUrl, onSignIn }: SignInProps): ReactNode {
  const [name, setName] = useState("");
  const [relay, setRelay] = useState(relayUrl);
  const [problem, setProblem] = useState<"name" | "relay" | undefined>();
  const ids = { name: useId(), relay: useId(), problem: useId() };

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const actorId = actorIdOf(name);
    const url = relayUrlOf(relay);
    if (actorId === "") setProblem("name");
    else if (url === undefined) setProblem("relay");
    else onSignIn({ name: name.trim(), actorId, relayUrl: url });
  };

  return (
    <main className="sign-in">
      <form className="sign-in-card" onSubmit={submit} noValidate>
        <Mark className="sign-in-mark" />
        <h1>Holdfast</h1>
        <p className="sign-in-lead">Conversations that survive: tunnels, closed laptops, restarts.</p>
        <label htmlFor={ids.name}>Your name</label>
        <input
          id={ids.name}
          name="name"
          autoComplete="username"
          placeholder="Ada"
          // biome-ignore lint/a11y/noAutofocus: the one field of a page that asks one thing
          autoFocus
          value={name}
          maxLength={100}
          aria-invalid={problem === "name"}
          aria-describedby={problem === "name" ? ids.problem : undefined}
          onChange={(event) => setName(event.target.value)}
        />
        <details open={problem === "relay" ? true : undefined}>
          <summary>Relay</summary>
          <label htmlFor={ids.relay}>Address</label>
          <input
            id={ids.relay}
            name="relay"
            inputMode="url"
            autoComplete="off"
            spellCheck={false}
            value={relay}
            aria-invalid={problem === "relay"}
            aria-describedby={problem === "relay" ? ids.problem : undefined}
            onChange={(event) => setRelay(event.target.value)}
          />
        </details>
        {problem !== undefined && (
          <p className="field-problem" id={ids.problem} role="alert">
            {problem === "name"
              ? "A name is needed to find your conversations."
              : "A relay's address begins with ws:// or wss://."}
          </p>
        )}
        <button type="submit" className="button primary">
          Continue
        </button>
        <p className="sign-in-note">
          A demonstration: there is no password, whoever gives your name sees what you write. The same name on
          another device is you.
        </p>
      </form>
    </main>
  );
}
