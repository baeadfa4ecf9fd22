import type { ReactNode } from "react";
import { Mark } from "./icons.tsx";

const suggestions: readonly string[] = [
  "What can you do?",
  "What is 17 × 23 + 4?",
  "What time is it?",
  "Show me some code",
];

export function Welcome({ onAsk }: { onAsk: (text: string) => void }): ReactNode {
  return (
    <div className="welcome">
      <Mark className="welcome-mark" />
      <h2>What shall we talk about?</h2>
      <p>
        Write with or without a network. Everything is kept here first, and meets your other devices when it
        can.
      </p>
      <ul aria-label="Suggestions">
        {suggestions.map((text) => (
          <li key={text}>
            <button type="button" className="suggestion" onClick={() => onAsk(text)}>
              {text}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
