// A plot's data as the page and reports have it (internal/report writes it as JSON): its columns, the
// ends and marks of its axes, and its CSV.

import { count } from "./format";

export interface Point {
  x: number;
  y: number;
}

export interface Line {
  name: string;
  points: Point[] | null;
  band?: [number, number][]; // interval at each point
  dots?: boolean;
  stems?: boolean; // separate points with stems from the axis
}

/** A row of a plot of intervals, on a logarithmic axis. */
export interface Range {
  name: string;
  value: number;
  lo: number;
  hi: number;
}

/** Without rows: lines; x are counts and y shares in [0,1] unless it says otherwise. */
export interface Figure {
  title: string;
  xLabel: string;
  yLabel?: string;
  lines?: Line[] | null;
  rows?: Range[];
  level?: number; // a share to compare with
  levelName?: string;
  diagonal?: string; // name of the line y = x
  xShares?: boolean;
  xNumbers?: boolean; // the axis spans them
  xLog?: boolean;
  yCounts?: boolean; // at least 1, on a logarithmic axis
  yNumbers?: boolean; // on an axis that has 0 and 1
  fit?: "top" | "both"; // the end, or the ends, of an axis of shares lie by the values
}

/** All x in order, each with the place of the point that a line has there. Several points of a line at one x take as many rows. */
function rowsOf(f: Figure): { x: number; at: (number | undefined)[] }[] {
  const lines = f.lines ?? [];
  const places = new Map<number, number[][]>();
  lines.forEach((l, i) => (l.points ?? []).forEach((p, k) => {
    if (!places.has(p.x)) places.set(p.x, lines.map(() => []));
    places.get(p.x)![i].push(k);
  }));
  return [...places].sort((a, b) => a[0] - b[0]).flatMap(([x, of]) =>
    Array.from({ length: Math.max(1, ...of.map((ks) => ks.length)) }, (_, k) => ({ x, at: of.map((ks) => ks[k]) })));
}

export type Column = (number | null)[];

/** The values of all x in order, then a column of y for each line, null where it has no point. */
export function columns(f: Figure): [number[], ...Column[]] {
  if (f.rows) return [f.rows.map((_, i) => i), f.rows.map((r) => r.value)];
  const rows = rowsOf(f), xs = rows.map((r) => r.x);
  const ys: Column[] = (f.lines ?? []).map((l, i) => rows.map(({ at }) => (at[i] == null ? null : l.points![at[i]].y)));
  if (f.level != null) ys.push(xs.map(() => f.level!));
  if (f.diagonal) ys.push(xs);
  return [xs, ...ys];
}

/** What a line says at x, with its interval: more than one value as their least and most. */
export function said(l: Line, x: number, text: (v: number) => string): string {
  const at = (l.points ?? []).flatMap((p, k) => (p.x === x ? [k] : []));
  if (at.length === 0) return "–";
  const ys = at.map((k) => l.points![k].y), bands = l.band ? at.map((k) => l.band![k]) : [];
  const ends = (lo: number, hi: number) => (text(lo) === text(hi) ? text(lo) : `${text(lo)} to ${text(hi)}`);
  const value = ends(Math.min(...ys), Math.max(...ys));
  return bands.length ? `${value} (${text(Math.min(...bands.map((b) => b[0])))} to ${text(Math.max(...bands.map((b) => b[1])))})` : value;
}

/** Each point, one row per x as far as lines have one point there, comma-separated, with a line of names; intervals have two columns more. */
export function toCSV(f: Figure): string {
  const cell = (v: string | number) => (/[",\n\r]/.test(String(v)) ? `"${String(v).replaceAll('"', '""')}"` : String(v));
  let rows: (string | number)[][];
  if (f.rows) {
    rows = [["name", f.xLabel, "low", "high"], ...f.rows.map((r) => [r.name, r.value, r.lo, r.hi])];
  } else {
    const lines = f.lines ?? [];
    rows = rowsOf(f).map(({ x, at }) => [x, ...lines.flatMap((l, i): (string | number)[] => {
      const k = at[i];
      return k == null ? (l.band ? ["", "", ""] : [""]) : [l.points![k].y, ...(l.band ? l.band[k] : [])];
    })]);
    const names = lines.map((l) => l.name || f.yLabel || "y");
    rows.unshift([f.xLabel, ...lines.flatMap((l, i) => (l.band ? [names[i], `${names[i]}, low`, `${names[i]}, high`] : [names[i]]))]);
  }
  return rows.map((row) => row.map(cell).join(",") + "\n").join("");
}

/** The least of 1, 2 and 5 times a power of ten that is at least n, a number above 0. */
function roundUp(n: number): number {
  const power = 10 ** Math.floor(Math.log10(n));
  return [1, 2, 5, 10].map((k) => k * power).find((v) => v >= n * (1 - 1e-12))!;
}

/** The ends of an axis for shares from least to most, with five round steps between. */
export function around(least: number, most: number): [number, number] {
  for (const step of [1, 2, 5, 10]) {
    const lo = step * Math.floor(Math.min(100 * least, 100 - 5 * step) / step + 1e-9);
    if (lo >= 0 && 100 * most <= lo + 5 * step + 1e-9) return [lo / 100, (lo + 5 * step) / 100];
  }
  return [0, 1];
}

/** The ends of both axes. */
export function limits(f: Figure): { x: [number, number]; y: [number, number] } {
  if (f.rows) {
    const lo = Math.min(...f.rows.map((r) => r.lo)), hi = Math.max(...f.rows.map((r) => r.hi));
    const middle = Math.sqrt(lo * hi), room = Math.sqrt(10); // a decade at least, so that there are marks
    return { x: [-0.5, f.rows.length - 0.5], y: [0.9 * Math.min(lo, middle / room), 1.1 * Math.max(hi, middle * room)] };
  }
  const lines = f.lines ?? [];
  const xs = lines.flatMap((l) => (l.points ?? []).map((p) => p.x));
  const ys = lines.flatMap((l) => [...(l.points ?? []).map((p) => p.y), ...(l.band ?? []).flat()]);
  if (f.level != null) ys.push(f.level);
  const [least, most] = [Math.min(...ys), Math.max(...ys)];
  const lowX = Math.min(...xs);
  let x: [number, number] = [0, Math.max(1, ...xs)];
  if (f.xNumbers || f.xLog) {
    x = lowX < x[1] && lowX < Math.max(...xs) ? [lowX, Math.max(...xs)] : xs.length && lowX > 0 ? [lowX / 2, lowX * 2] : [f.xLog ? 0.1 : 0, 1];
    if (f.xLog) x[0] = Math.max(x[0], x[1] / 1e12);
  }
  const stems = lines[0]?.stems ? lines[0].points ?? [] : [];
  if (stems.length > 1) x[1] += (stems[1].x - stems[0].x) / 2; // room for the last stems
  let y: [number, number] = [0, 1];
  if (f.yCounts) y = [1, roundUp(Math.max(10, most))];
  else if (f.yNumbers) y = [least < 0 ? Math.floor(5 * least) / 5 : 0, Math.max(1, most)];
  else if (f.fit === "top") y = [0, [0.05, 0.1, 0.25, 0.5].find((end) => most <= end) ?? 1];
  else if (f.fit === "both" && least <= most) y = around(least, most);
  return { x, y };
}

/** Marks from lo to hi, about n and at least two, at multiples of 1, 2 or 5 times a power of ten. */
export function ticks(lo: number, hi: number, n = 6): number[] {
  if (!(hi > lo)) return [lo];
  const step = roundUp((hi - lo) / n);
  const first = Math.ceil(lo / step - 1e-9);
  const marks = Array.from({ length: Math.floor(hi / step + 1e-9) - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
  return marks.length < 2 ? ticks(lo, hi, 2 * n) : marks;
}

/** Marks at powers of ten; over less than three, or if else there were only one, also at 2 and 5 times these; over more than n, at each second, third, … */
export function powers(lo: number, hi: number, n = 6): number[] {
  const decades = Math.log10(hi / lo), every = Math.max(1, Math.ceil(decades / n));
  const at = (times: number[]) => {
    const marks: number[] = [];
    for (let e = Math.floor(Math.log10(lo)); e <= Math.log10(hi); e++) {
      for (const k of e % every ? [] : times) {
        const v = Number(`${k}e${e}`);
        if (v >= lo && v <= hi) marks.push(v);
      }
    }
    return marks;
  };
  const few = at([1]);
  return few.length < 2 || (every === 1 && decades < Math.min(3, n / 2)) ? at([1, 2, 5]) : few;
}

/** How values of x and y are written. */
export function texts(f: Figure): { x: (v: number) => string; y: (v: number) => string } {
  const share = (v: number) => `${Number((100 * v).toFixed(1))} %`;
  const number = (v: number) => (Math.abs(v) >= 1e6 || (v !== 0 && Math.abs(v) < 1e-3) ? String(Number(v.toPrecision(3))) : count(Number(v.toPrecision(4))));
  if (f.rows) return { x: (v) => f.rows![v]?.name ?? "", y: number };
  return { x: f.xShares ? share : number, y: f.yCounts || f.yNumbers ? number : share };
}
