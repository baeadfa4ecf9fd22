// Sums as people type them. A grammar, not `eval`: what comes out of a chat is never run as code.

type Token = number | "+" | "-" | "*" | "/" | "%" | "^" | "(" | ")";

const signs: Readonly<Record<string, Token>> = {
  "+": "+",
  "-": "-",
  "−": "-",
  "–": "-",
  "*": "*",
  "×": "*",
  "·": "*",
  "/": "/",
  "÷": "/",
  "%": "%",
  "^": "^",
  "(": "(",
  ")": ")",
};

/** Deeper nesting than this is refused instead of exhausting the stack. */
const maxDepth = 50;
/** Nobody types a sum behind this many characters; the search takes time with their square. */
const maxLength = 1_000;

const sum = /[-−–(]*\s*\d[\d\s.,+\-−–*×·/÷%^()]*[\d)]/gu;
const operator = /[\d)]\s*[+\-−–*×·/÷%^]\s*[-−–(]*\s*\d/u;

/** The longest sum in a text, or undefined where there is none. Dates and telephone numbers are not meant. */
export function findSum(text: string): string | undefined {
  const found = (text.slice(0, maxLength).match(sum) ?? []).filter(
    (part) => operator.test(part) && !/\d{1,4}-\d{1,2}-\d{1,4}/.test(part),
  );
  const longest = found.sort((a, b) => b.length - a.length)[0]?.trim();
  return longest === undefined || !isBalanced(longest) ? undefined : longest;
}

function isBalanced(text: string): boolean {
  let depth = 0;
  for (const char of text) {
    if (char === "(") depth += 1;
    if (char === ")") depth -= 1;
    if (depth < 0) return false;
  }
  return depth === 0;
}

/** The value of a sum. @throws Error in words that can be shown, for what is no sum and for division by zero. */
export function calculate(expression: string): number {
  const tokens = tokensOf(expression);
  let at = 0;

  const primary = (depth: number): number => {
    const token = tokens[at];
    if (depth > maxDepth) throw new Error("nested too deeply");
    at += 1;
    if (typeof token === "number") return token;
    if (token === "-") return -power(depth + 1);
    if (token === "+") return power(depth + 1);
    if (token !== "(")
      throw new Error(token === undefined ? "the sum ends too early" : `unexpected “${token}”`);
    const inner = terms(depth + 1);
    if (tokens[at] !== ")") throw new Error("a bracket is not closed");
    at += 1;
    return inner;
  };
  const power = (depth: number): number => {
    const base = primary(depth);
    if (tokens[at] !== "^") return base;
    at += 1;
    return base ** power(depth + 1);
  };
  const factors = (depth: number): number => {
    let value = power(depth);
    for (;;) {
      const token = tokens[at];
      if (token !== "*" && token !== "/" && token !== "%") return value;
      at += 1;
      const right = power(depth);
      if (token !== "*" && right === 0) throw new Error("division by zero");
      value = token === "*" ? value * right : token === "/" ? value / right : value % right;
    }
  };
  const terms = (depth: number): number => {
    let value = factors(depth);
    for (;;) {
      const token = tokens[at];
      if (token !== "+" && token !== "-") return value;
      at += 1;
      const right = factors(depth);
      value = token === "+" ? value + right : value - right;
    }
  };

  const value = terms(0);
  if (at < tokens.length) throw new Error(`unexpected “${tokens[at]}”`);
  if (!Number.isFinite(value)) throw new Error("the result is too large");
  // Twelve digits hide that 0.1 + 0.2 is not quite 0.3.
  return Number(value.toPrecision(12));
}

function tokensOf(expression: string): readonly Token[] {
  const tokens: Token[] = [];
  let rest = expression.trimStart();
  while (rest !== "") {
    // A comma before three digits parts thousands; any other is a decimal point.
    const number = /^(\d{1,3}(,\d{3})+(\.\d+)?|\d+([.,]\d+)?|\.\d+)/.exec(rest)?.[0];
    if (number !== undefined) {
      const plain = /,\d{3}(\D|$)/.test(number) ? number.replaceAll(",", "") : number.replace(",", ".");
      tokens.push(Number(plain));
      rest = rest.slice(number.length).trimStart();
      continue;
    }
    const sign = signs[rest[0] ?? ""];
    if (sign === undefined) throw new Error(`“${rest[0]}” is no part of a sum`);
    tokens.push(sign);
    rest = rest.slice(1).trimStart();
  }
  return tokens;
}
