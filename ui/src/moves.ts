// How an order of links differs from the one before it.

export interface Scored {
  url: string;
  score: number | null;
}

export interface Moved extends Scored {
  /** Places gained (> 0) or lost (< 0); "new" came in, "gone" left. */
  move: number | "new" | "gone";
}

/** Marks each link of after by its move, and each link of before that is not in after as gone. */
export function moves(before: Scored[], after: Scored[]): { before: Moved[]; after: Moved[] } {
  const was = new Map(before.map((l, i) => [l.url, i]));
  const is = new Map(after.map((l, i) => [l.url, i]));
  return {
    before: before.map((l, i) => ({ ...l, move: is.has(l.url) ? i - is.get(l.url)! : "gone" })),
    after: after.map((l, i) => ({ ...l, move: was.has(l.url) ? was.get(l.url)! - i : "new" })),
  };
}

/** A move in words. */
export function moveText(move: Moved["move"]): string {
  if (move === "new") return "new";
  if (move === "gone") return "left the ten";
  if (move === 0) return "stays";
  return `${move > 0 ? "up" : "down"} ${Math.abs(move)}`;
}
