// The curve of a crawl, which grows and never has more than a few hundred points.

export interface Point {
  fetched: number;
  relevant: number;
}

const mostPoints = 400;

/** Appends a point; a curve that has become too long loses every second point but the last. */
export function grow(curve: Point[], p: Point): Point[] {
  const last = curve.at(-1);
  if (last && p.fetched <= last.fetched) return curve;
  const next = [...curve, p];
  return next.length <= mostPoints ? next : next.filter((_, i) => i % 2 === 0 || i === next.length - 1);
}

/** The points of a plot, from the origin on: pages fetched and pages on topic. */
export function fromOrigin(curve: Point[]): { x: number; y: number }[] {
  const from = curve[0]?.fetched === 0 ? curve : [{ fetched: 0, relevant: 0 }, ...curve];
  return from.map((p) => ({ x: p.fetched, y: p.relevant }));
}
