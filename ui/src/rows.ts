// Which rows of a long list are in view, and which windows of it are loaded.

export const windowSize = 100; // rows of one request
const tallest = 8_000_000; // pixels; browsers draw nothing beyond 17 to 33 million

export interface Shown {
  first: number; // index of the first row drawn
  last: number; // index after the last row drawn
  height: number; // of the whole list, pixels
  top: number; // of the first row drawn, pixels
}

/**
 * Says which rows to draw at a scroll position. A list taller than browsers can draw is shortened:
 * each pixel of scrolling then stands for several pixels of rows.
 */
export function shown(scroll: number, view: number, total: number, row: number, spare = 8): Shown {
  const full = total * row;
  const height = Math.min(full, tallest);
  const most = Math.max(0, full - view); // of the scroll position, had the list its full height
  const scale = height > view ? most / (height - view) : 1;
  const at = Math.min(Math.max(0, scroll) * scale, most);
  const first = Math.max(0, Math.floor(at / row) - spare);
  const last = Math.min(total, Math.ceil((at + view) / row) + spare);
  return { first, last, height, top: Math.max(0, scroll) + first * row - at };
}

/** The scroll position at which row i is wholly in view, the nearest to the given one. */
export function reveal(i: number, scroll: number, view: number, total: number, row: number): number {
  const full = total * row;
  const height = Math.min(full, tallest);
  const scale = height > view ? (full - view) / (height - view) : 1;
  const at = scroll * scale;
  if (i * row < at) return (i * row) / scale;
  if ((i + 1) * row > at + view) return ((i + 1) * row - view) / scale;
  return scroll;
}

/** The offsets of the windows that hold rows first to last - 1. */
export function windowsOf(first: number, last: number): number[] {
  const offsets: number[] = [];
  for (let o = Math.floor(first / windowSize) * windowSize; o < last; o += windowSize) offsets.push(o);
  return offsets;
}
