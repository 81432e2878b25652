// A layout of a small graph by forces (Fruchterman and Reingold, 1991).

export interface Point {
  x: number;
  y: number;
}

/**
 * Places n nodes in a rectangle of w × h pixels: all push each other away, and links, with weights
 * above 0, pull. The same graph always has the same places.
 */
export function layout(n: number, links: { from: number; to: number; weight: number }[], w: number, h: number, margin: number): Point[] {
  const at = Array.from({ length: n }, (_, i) => { // a spiral, as seeds of a sunflower
    const r = Math.sqrt((i + 0.5) / n) / 2;
    const turn = i * Math.PI * (3 - Math.sqrt(5));
    return { x: 0.5 + r * Math.cos(turn), y: 0.5 + r * Math.sin(turn) };
  });
  const heaviest = Math.max(1, ...links.map((l) => l.weight));
  const far = 0.8 / Math.sqrt(Math.max(1, n)); // the distance at which push and pull are even
  const rounds = 300;
  for (let round = 0; round < rounds; round++) {
    const move = at.map((p) => ({ x: (0.5 - p.x) * far * 0.5, y: (0.5 - p.y) * far * 0.5 })); // to the middle, so that no part drifts away
    const push = (i: number, j: number, of: (d: number) => number) => {
      const dx = at[i].x - at[j].x, dy = at[i].y - at[j].y;
      const d = Math.max(1e-4, Math.hypot(dx, dy));
      const f = of(d) / d;
      move[i].x += dx * f; move[i].y += dy * f;
      move[j].x -= dx * f; move[j].y -= dy * f;
    };
    for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) push(i, j, (d) => (far * far) / d);
    for (const l of links) if (l.from !== l.to) push(l.from, l.to, (d) => (-d * d / far) * Math.sqrt(l.weight / heaviest));
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
  return xs.map((x, i) => ({ x, y: ys[i] }));
}
