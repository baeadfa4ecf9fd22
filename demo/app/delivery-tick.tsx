import type { ReactNode } from "react";
import { AlertIcon, CheckIcon, ClockIcon } from "./icons.tsx";
import type { Entry } from "./thread-rows.ts";

const words: Readonly<Record<Entry["delivery"], string>> = {
  pending: "Waiting to be sent",
  confirmed: "Saved on the relay",
  rejected: "Not accepted",
};

export function DeliveryTick({ delivery }: { delivery: Entry["delivery"] }): ReactNode {
  return (
    <span className="tick" data-delivery={delivery} title={words[delivery]}>
      {delivery === "pending" && <ClockIcon />}
      {delivery === "confirmed" && <CheckIcon />}
      {delivery === "rejected" && <AlertIcon />}
      <span className="visually-hidden">{words[delivery]}</span>
    </span>
  );
}
