import { Component, type ReactNode } from "react";
import { Mark } from "./icons.tsx";

interface Props {
  readonly children: ReactNode;
  readonly onLeave: () => void;
}

/** What is shown when the client could not be opened, or the page broke: nothing stored is touched by it. */
export class Failure extends Component<Props, { error: unknown }> {
  override state: { error: unknown } = { error: undefined };

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <main className="sign-in">
        <div className="sign-in-card" role="alert">
          <Mark className="sign-in-mark" />
          <h1>That did not work</h1>
          <p className="sign-in-lead">{error instanceof Error ? error.message : String(error)}</p>
          <p className="sign-in-lead">What you wrote is still stored on this device.</p>
          <button type="button" className="button primary" onClick={() => location.reload()}>
            Try again
          </button>
          <button
            type="button"
            className="button"
            onClick={() => {
              this.setState({ error: undefined });
              this.props.onLeave();
            }}
          >
            Use another name
          </button>
        </div>
      </main>
    );
  }
}
