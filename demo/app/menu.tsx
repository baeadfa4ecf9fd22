import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { MoreIcon } from "./icons.tsx";

export interface MenuItem {
  readonly label: string;
  readonly keys?: string;
  readonly tone?: "danger";
  readonly act: () => void;
}

interface MenuProps {
  readonly label: string;
  readonly items: readonly MenuItem[];
  readonly tabStop?: boolean;
}

/** A button with a menu: arrows, Home and End move, Escape and Tab close, and focus returns to the button. */
export function Menu({ label, items, tabStop = true }: MenuProps): ReactNode {
  const [place, setPlace] = useState<{ top: number; right: number } | undefined>();
  const button = useRef<HTMLButtonElement>(null);
  const menu = useRef<HTMLDivElement>(null);
  const id = useId();
  const open = place !== undefined;
  const close = (): void => {
    setPlace(undefined);
    button.current?.focus();
  };

  useEffect(() => {
    if (!open) return;
    menu.current?.querySelector<HTMLElement>("[role=menuitem]")?.focus();
    const outside = (event: Event): void => {
      const inside =
        event.target instanceof Node &&
        (menu.current?.contains(event.target) || button.current?.contains(event.target));
      if (inside !== true) setPlace(undefined);
    };
    const gone = (): void => setPlace(undefined);
    addEventListener("pointerdown", outside);
    addEventListener("resize", gone);
    addEventListener("scroll", outside, { capture: true });
    return () => {
      removeEventListener("pointerdown", outside);
      removeEventListener("resize", gone);
      removeEventListener("scroll", outside, { capture: true });
    };
  }, [open]);

  const onKeyDown = (event: KeyboardEvent): void => {
    event.stopPropagation();
    if (event.key === "Escape" || event.key === "Tab") {
      event.preventDefault();
      close();
      return;
    }
    const all = [...(menu.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
    const { activeElement } = document;
    const at = activeElement instanceof HTMLElement ? all.indexOf(activeElement) : -1;
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 + all.length, Home: 0, End: all.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    all[to % all.length]?.focus();
  };

  return (
    <>
      <button
        ref={button}
        type="button"
        className="icon-button menu-button"
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        tabIndex={tabStop ? 0 : -1}
        onClick={() => setPlace(open ? undefined : placeBelow(button.current, items.length))}
      >
        <MoreIcon />
      </button>
      {open && (
        <div
          ref={menu}
          id={id}
          role="menu"
          aria-label={label}
          className="menu"
          style={{ top: place.top, right: place.right }}
          onKeyDown={onKeyDown}
        >
          {items.map((item) => (
            <button
              key={item.label}
              type="button"
              role="menuitem"
              tabIndex={-1}
              data-tone={item.tone}
              onClick={() => {
                close();
                item.act();
              }}
            >
              {item.label}
              {item.keys !== undefined && (
                <span className="key" aria-hidden="true">
                  {item.keys}
                </span>
              )}
            </button>
          ))}
        </div>
      )}
    </>
  );
}

const rowPx = 40;

/** Below the button, or above it where the window ends. */
function placeBelow(button: HTMLElement | null, rows: number): { top: number; right: number } | undefined {
  if (button === null) return undefined;
  const box = button.getBoundingClientRect();
  const height = rows * rowPx + 12;
  const top = box.bottom + height + 8 > innerHeight ? box.top - height - 4 : box.bottom + 4;
  return { top: Math.max(8, top), right: Math.max(8, document.documentElement.clientWidth - box.right) };
}
