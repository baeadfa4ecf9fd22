/** A piece of a growing text, and how many UTF-16 code units stand before it. */
export interface Piece {
  readonly at: number;
  readonly text: string;
}

export type Taken =
  | { readonly is: "grown"; readonly text: string }
  | { readonly is: "known" }
  /** Something before it was lost: it can only be asked for again. */
  | { readonly is: "gap" };

/** What a piece makes of the text held. Pieces may come twice, overlap, or be lost. */
export function takePiece(held: string, { at, text }: Piece): Taken {
  if (at > held.length) return { is: "gap" };
  if (at + text.length <= held.length) return { is: "known" };
  return { is: "grown", text: held + text.slice(held.length - at) };
}
