// Squarified treemap (Bruls, Huizing and van Wijk, 2000).

export interface Tile {
  x: number;
  y: number;
  w: number;
  h: number;
}

/**
 * Divides a rectangle of w × h among values ≥ 0, largest first; tile i belongs to values[i]. Tiles
 * are as square as this greedy order makes them.
 */
export function treemap(values: number[], w: number, h: number): Tile[] {
  const total = values.reduce((a, b) => a + b, 0);
  const tiles: Tile[] = [];
  if (total <= 0 || w <= 0 || h <= 0) return values.map(() => ({ x: 0, y: 0, w: 0, h: 0 }));
  const areas = values.map((v) => (v / total) * w * h);
  let free: Tile = { x: 0, y: 0, w, h };
  for (let i = 0; i < areas.length; ) {
    const side = Math.max(Math.min(free.w, free.h), 1e-9);
    let n = 1;
    while (i + n < areas.length && worst(areas, i, n + 1, side) <= worst(areas, i, n, side)) n++;
    free = lay(areas.slice(i, i + n), free, tiles);
    i += n;
  }
  return tiles;
}

/** The worst ratio of sides among n areas from i on that share a row along a side. */
function worst(areas: number[], i: number, n: number, side: number): number {
  const row = areas.slice(i, i + n);
  const sum = row.reduce((a, b) => a + b, 0);
  if (sum <= 0) return 1;
  const thick = sum / side;
  return Math.max(...row.map((a) => (a <= 0 ? 1 : Math.max(thick ** 2 / a, a / thick ** 2))));
}

/** Lays a row along the shorter side of a rectangle and returns what remains of it. */
function lay(row: number[], free: Tile, tiles: Tile[]): Tile {
  const sum = row.reduce((a, b) => a + b, 0);
  const upright = free.w >= free.h; // the row is a column at the left
  const thick = upright ? Math.min(sum / free.h, free.w) : Math.min(sum / free.w, free.h);
  let at = 0;
  for (const area of row) {
    const long = thick > 0 ? area / thick : 0;
    tiles.push(upright ? { x: free.x, y: free.y + at, w: thick, h: long } : { x: free.x + at, y: free.y, w: long, h: thick });
    at += long;
  }
  return upright
    ? { x: free.x + thick, y: free.y, w: free.w - thick, h: free.h }
    : { x: free.x, y: free.y + thick, w: free.w, h: free.h - thick };
}
