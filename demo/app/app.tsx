import { HoldfastProvider } from "holdfast/react";
import { type ReactNode, useState } from "react";
import { type Account, forgetAccount, readAccount, saveAccount } from "./account.ts";
import type { DemoConfig } from "./demo-config.ts";
import { Failure } from "./failure.tsx";
import { SignIn } from "./sign-in.tsx";
import { Workspace } from "./workspace.tsx";

export function App({ config }: { config: DemoConfig }): ReactNode {
  const [account, setAccount] = useState<Account | undefined>(() => readAccount(localStorage));
  if (account === undefined) {
    return (
      <SignIn
        relayUrl={config.relayUrl}
        onSignIn={(chosen) => {
          saveAccount(localStorage, chosen);
          setAccount(chosen);
        }}
      />
    );
  }
  const leave = (): void => {
    forgetAccount(localStorage);
    sessionStorage.clear();
    location.hash = "#/";
    setAccount(undefined);
  };
  return (
    <Failure onLeave={leave}>
      <HoldfastProvider
        options={{ url: account.relayUrl, actorId: account.actorId, name: "holdfast-demo" }}
        fallback={<div className="splash" role="status" aria-label="Opening your conversations" />}
      >
        <Workspace account={account} config={config} onLeave={leave} />
      </HoldfastProvider>
    </Failure>
  );
}
