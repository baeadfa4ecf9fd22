import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";

/**
 * What a relay answers who asks by plain HTTP: `/healthz`, whether the process lives; `/readyz`, whether it can take
 * work now; and that it is a relay.
 */
export function httpAnswers(ready: () => Promise<boolean>): RequestListener {
  return (request, response) => {
    const path = pathOf(request);
    if (path === "/healthz") answer(response, 200, "ok");
    else if (path === "/readyz") {
      void ready().then((is) => (is ? answer(response, 200, "ready") : answer(response, 503, "not ready")));
    } else answer(response, 404, "This is a relay: connect by WebSocket.");
  };
}

function pathOf({ url = "" }: IncomingMessage): string {
  return url.split("?", 1)[0] ?? "";
}

function answer(response: ServerResponse, status: number, says: string): void {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" });
  response.end(`${says}\n`);
}
