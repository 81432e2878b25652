// A layout of a small graph by forces (Fruchterman and Reingold, 1991).

export interface Point {
  x: number;
  y: number;
}

/**
 * Places n nodes in a rectangle of w × h pixels: all push each other away, and links, with weights
 * above 0, pull. In the end no two are nearer than gap, if there is room. The same graph always has the
 * same places.
 */
export function layout(n: number, links: { from: number; to: number; weight: number }[], w: number, h: number, margin: number, gap = 0): Point[] {
  const at = Array.from({ length: n }, (_, i) => { // a spiral, as seeds of a sunflower
    const r = Math.sqrt((i + 0.5) / n) / 2;
    const turn = i * Math.PI * (3 - Math.sqrt(5));
    return { x: 0.5 + r * Math.cos(turn), y: 0.5 + r * Math.sin(turn) };
  });
  const heaviest = Math.max(1, ...links.map((l) => l.weight));
  const far = 0.8 / Math.sqrt(Math.max(1, n)); // the distance at which push and pull are even
  const rounds = 300;
  for (let round = 0; round < rounds; round++) {
    const move = at.map((p) => ({ x: 2 * (0.5 - p.x), y: 2 * (0.5 - p.y) })); // to the middle, so that no part drifts away
    const push = (i: number, j: number, of: (d: number) => number) => {
      const dx = at[i].x - at[j].x, dy = at[i].y - at[j].y;
      const d = Math.max(1e-4, Math.hypot(dx, dy));
      const f = of(d) / d;
      move[i].x += dx * f; move[i].y += dy * f;
      move[j].x -= dx * f; move[j].y -= dy * f;
    };
    for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) push(i, j, (d) => (far * far) / d);
    for (const l of links) if (l.from !== l.to) push(l.from, l.to, (d) => -d * (0.3 + 1.2 * Math.sqrt(l.weight / heaviest)));
    const hottest = 0.1 * (1 - round / rounds);
    at.forEach((p, i) => {
      const d = Math.max(1e-9, Math.hypot(move[i].x, move[i].y));
      p.x += (move[i].x / d) * Math.min(d, hottest);
      p.y += (move[i].y / d) * Math.min(d, hottest);
    });
  }
  const scale = (values: number[], size: number) => {
    const least = Math.min(...values), span = Math.max(...values) - least;
    return values.map((v) => (span > 0 ? margin + ((v - least) / span) * (size - 2 * margin) : size / 2));
  };
  const xs = scale(at.map((p) => p.x), w), ys = scale(at.map((p) => p.y), h);
  const placed = xs.map((x, i) => ({ x, y: ys[i] }));
  for (let round = 0; round < 60; round++) apart(placed, gap, w, h, margin);
  return placed;
}

/** Pushes points that are nearer than gap away from each other, within the rectangle. */
function apart(at: Point[], gap: number, w: number, h: number, margin: number): void {
  at.forEach((a, i) => at.slice(0, i).forEach((b) => {
    const dx = a.x - b.x, dy = a.y - b.y;
    const d = Math.max(1e-3, Math.hypot(dx, dy));
    if (d >= gap) return;
    const push = (gap - d) / 2 / d;
    for (const [p, sign] of [[a, 1], [b, -1]] as const) {
      p.x = Math.min(w - margin, Math.max(margin, p.x + sign * dx * push));
      p.y = Math.min(h - margin, Math.max(margin, p.y + sign * dy * push));
    }
  }));
}

/** Says which of the texts of a width, centred at points, show: each that overlaps none before it. */
export function readable(at: Point[], widths: number[], height: number): boolean[] {
  const kept: number[] = [];
  return at.map((p, i) => {
    const free = kept.every((k) => Math.abs(at[k].y - p.y) >= height || Math.abs(at[k].x - p.x) >= (widths[k] + widths[i]) / 2);
    if (free) kept.push(i);
    return free;
  });
}
