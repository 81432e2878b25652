// Draws a figure by uPlot, with its values on hover; gives its data as CSV and its picture as SVG.

import uPlot from "uplot";
import { columns, limits, powers, said, texts, ticks, toCSV, type Figure, type Line } from "./figure";
import { escapeXML, Path, Recorder } from "./svg";

const inks = 6; // colours of lines in base.css
const dashes = [[], [6, 3], [2, 2], [8, 3, 2, 3], [4, 4], [1, 3]];
const font = "12px system-ui, sans-serif";

/** The value of a custom property: a canvas cannot read the style sheet. */
function colour(el: Element, name: string): string {
  return getComputedStyle(el).getPropertyValue(name).trim() || "gray";
}

interface Look {
  name: string;
  stroke: string;
  dash: number[];
}

/** How each line is drawn, then the level and the diagonal. No two of 36 lines have both colour and dashes in common. */
function looksOf(f: Figure, el: Element): Look[] {
  const base = { stroke: colour(el, "--soft"), dash: [2, 3] };
  return [
    ...(f.lines ?? []).map((l, i) => ({ name: l.name || f.yLabel || "", stroke: colour(el, `--ink-${(i % inks) + 1}`), dash: l.stems ? [] : dashes[(i + Math.floor(i / inks)) % dashes.length] })),
    ...(f.rows ? [{ name: f.xLabel, stroke: colour(el, "--ink-1"), dash: [] }] : []),
    ...(f.level != null ? [{ ...base, name: f.levelName ?? "level" }] : []),
    ...(f.diagonal ? [{ ...base, name: f.diagonal }] : []),
  ];
}

/** The background of a line's mark in the legend: its colour, in its dashes. */
function mark({ stroke, dash }: Look): string {
  let at = 0;
  const parts = dash.map((n, i) => `${i % 2 ? "transparent" : stroke} ${at}px ${(at += n)}px`);
  return parts.length ? `repeating-linear-gradient(90deg, ${parts.join(", ")})` : stroke;
}

function heightOf(f: Figure): number {
  return f.rows ? 24 * f.rows.length + 64 : 250;
}

/** The points of a line in the order of x, with their intervals. */
const ordered = (l: Line) => (l.points ?? []).map((p, k) => ({ ...p, band: l.band?.[k] })).sort((a, b) => a.x - b.x);

/** Shows the last values of each line in the legend while no pointer asks for others. */
function showLast(u: uPlot): void {
  if (u.cursor.idx != null && u.cursor.left! >= 0) return;
  const last = u.data.map((column) => [...column].reduce<number>((at, v, k) => (v == null ? at : k), -1));
  if (last.some((k, i) => u.legend.idxs?.[i] !== k)) u.setLegend({ idxs: last });
}

/** Draws f into el in the colours that el has. The plot grows by update, with a figure of the same lines and axes. */
function draw(f: Figure, el: HTMLElement, width = el.clientWidth || 320): { plot: uPlot; update: (f: Figure) => void } {
  let { x, y } = limits(f), sorted = (f.lines ?? []).map(ordered);
  const text = texts(f), looks = looksOf(f, el);
  /** The settings of line i for uPlot, which takes dashes in device pixels. */
  const look = (i: number) => ({ label: looks[i].name, stroke: looks[i].stroke, dash: looks[i].dash.map((n) => n * devicePixelRatio), class: f.rows || f.lines?.[i]?.band || looks[i].name.length > 10 ? "long" : undefined });
  /** The text of the value at index k. A line without a point at the pointer's x shows its nearest point, and says at which x that is. */
  const told = (u: uPlot, k: number | null, value: (k: number) => string) => {
    if (k == null || k < 0) return "–";
    const at = u.data[0][k], asked = u.legend.idxs?.[0];
    return value(k) + (asked == null || at === u.data[0][asked] ? "" : ` at ${text.x(at)}`);
  };
  const logX = !f.rows && f.xLog, logY = f.rows || f.yCounts;
  const marks = (log: unknown) => (u: uPlot, axis: number, lo: number, hi: number) => {
    const n = Math.max(2, Math.floor((axis === (f.rows ? 1 : 0) ? u.bbox.width / devicePixelRatio / 60 : u.bbox.height / devicePixelRatio / 36)));
    return log ? powers(lo, hi, n) : ticks(lo, hi, n);
  };
  const ink = colour(el, "--soft");
  const axis: uPlot.Axis = { stroke: ink, font, labelFont: font, labelSize: 18, grid: { stroke: colour(el, "--line"), width: 1 }, ticks: { show: false }, filter: (_, at) => at }; // the marks are chosen: uPlot would take out some of a logarithmic axis
  const shown = (t: (v: number) => string) => (_: uPlot, v: number[]) => v.map(t);
  const across: uPlot.Axis = { ...axis, size: 30, label: f.xLabel, splits: marks(f.rows ? logY : logX), values: shown(f.rows ? text.y : text.x) };
  const names = f.rows ? f.rows.map((r) => (r.name.length > 24 ? r.name.slice(0, 23) + "…" : r.name)) : [];
  const up: uPlot.Axis = f.rows
    ? { ...axis, size: 16 + 6.6 * Math.max(...names.map((n) => n.length)), splits: () => names.map((_, i) => i), values: () => names, grid: { show: false } }
    : { ...axis, size: 56, label: f.yLabel, splits: marks(logY), values: shown(text.y) };
  const within = (v: number, ends: [number, number]) => Math.max(ends[0], Math.min(ends[1], v));
  const series: uPlot.Series[] = (f.lines ?? []).map((l, i) => {
    const { stroke } = looks[i];
    const px = (u: uPlot, v: number) => u.valToPos(within(v, x), "x", true) + (l.stems ? i * 6 * devicePixelRatio : 0);
    const py = (u: uPlot, v: number) => u.valToPos(within(v, y), "y", true);
    return {
      ...look(i), fill: stroke.replace(/^#\w{6}$/, "$&2b"), width: 2,
      points: { show: !l.stems && (l.dots || l.points?.length === 1), size: 7, fill: stroke },
      value: (u, _, __, k) => told(u, k, (k) => said(f.lines![i], u.data[0][k], text.y)),
      paths: (u) => {
        const line = new Path2D(), area = new Path2D(), points = sorted[i];
        points.forEach((p, k) => {
          if (l.stems) line.moveTo(px(u, p.x), py(u, y[0]));
          line[!l.stems && k === 0 ? "moveTo" : "lineTo"](px(u, p.x), py(u, p.y));
        });
        const banded = points.filter((p) => p.band);
        if (banded.length > 1) {
          banded.forEach((p, k) => area[k ? "lineTo" : "moveTo"](px(u, p.x), py(u, p.band![0])));
          banded.reverse().forEach((p) => area.lineTo(px(u, p.x), py(u, p.band![1])));
        }
        return { stroke: line, fill: area };
      },
    };
  });
  const base = (to: (u: uPlot) => [number, number, number, number]): uPlot.Series => ({
    ...look(series.length), width: 1.5, points: { show: false }, value: (_, v) => (v == null ? "–" : text.y(v)),
    paths: (u) => {
      const p = new Path2D(), [x0, y0, x1, y1] = to(u);
      p.moveTo(u.valToPos(x0, "x", true), u.valToPos(y0, "y", true));
      p.lineTo(u.valToPos(x1, "x", true), u.valToPos(y1, "y", true));
      return { stroke: p };
    },
  });
  if (f.level != null) series.push(base(() => [x[0], f.level!, x[1], f.level!]));
  if (f.diagonal) series.push(base(() => [0, 0, 1, 1]));
  if (f.rows) {
    series.push({
      ...look(0), width: 2, points: { show: true, size: 8, fill: looks[0].stroke },
      value: (_, v, __, k) => (v == null || k == null ? "–" : `${text.y(v)} (${text.y(f.rows![k].lo)} to ${text.y(f.rows![k].hi)})`),
      paths: (u) => {
        const p = new Path2D();
        f.rows!.forEach((r, i) => {
          p.moveTo(u.valToPos(r.lo, "y", true), u.valToPos(i, "x", true));
          p.lineTo(u.valToPos(r.hi, "y", true), u.valToPos(i, "x", true));
        });
        return { stroke: p };
      },
    });
  }
  const plot = new uPlot({
    width, height: heightOf(f), pxAlign: false,
    hooks: { setLegend: [showLast], setData: [showLast], ready: [showLast] },
    cursor: { drag: { x: false, y: false }, points: { size: 7 }, hover: { skip: [undefined, null] } },
    legend: { markers: { width: 0, fill: (_, i) => mark(looks[i - 1]) } },
    scales: {
      x: { time: false, range: () => x, distr: logX ? 3 : 1, ...(f.rows ? { ori: 1, dir: -1 } : {}) },
      y: { range: () => y, distr: logY ? 3 : 1, ...(f.rows ? { ori: 0, dir: 1 } : {}) },
    },
    axes: f.rows ? [{ ...up, side: 3 }, { ...across, side: 2 }] : [across, up],
    series: [{ label: f.rows ? "group" : f.xLabel, value: (_, v) => (v == null ? "–" : text.x(v)) }, ...series],
  }, columns(f) as uPlot.AlignedData, el);
  return { plot, update: (to) => {
    f = to;
    ({ x, y } = limits(f));
    sorted = (f.lines ?? []).map(ordered);
    plot.setData(columns(f) as uPlot.AlignedData);
  } };
}

/** Keeps a figure drawn in el: in its width, and in light or dark as the page is. */
export function keepDrawn(el: HTMLElement, f: Figure): { update: (f: Figure) => void; end: () => void } {
  let drawn = draw(f, el);
  const again = () => {
    drawn.plot.destroy();
    drawn = draw(f, el);
  };
  const sized = new ResizeObserver(() => el.clientWidth && el.clientWidth !== drawn.plot.width && drawn.plot.setSize({ width: el.clientWidth, height: heightOf(f) }));
  sized.observe(el);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", again);
  return {
    update: (to) => drawn.update(f = to),
    end: () => (sized.disconnect(), dark.removeEventListener("change", again), drawn.plot.destroy()),
  };
}

let pictures = 0; // so far: several may be in one document, where names of clips must differ

/** The picture of f on white, 640 px wide. */
export function toSVG(f: Figure): string {
  const w = 640, h = heightOf(f);
  const sheet = document.createElement("div");
  sheet.className = "paper";
  sheet.hidden = true;
  document.body.append(sheet);
  const canvas = HTMLCanvasElement.prototype, getContext = canvas.getContext, path = window.Path2D;
  const r = new Recorder(document.createElement("canvas").getContext("2d")!, `clip-${++pictures}`);
  const looks = looksOf(f, sheet);
  const scale = 1 / devicePixelRatio;
  try { // uPlot takes its context when it begins, and draws within batch
    canvas.getContext = (() => r) as never;
    window.Path2D = Path as never;
    const { plot } = draw(f, sheet, w);
    plot.batch(() => {});
    plot.destroy();
  } finally {
    canvas.getContext = getContext;
    window.Path2D = path;
    sheet.remove();
  }
  const legend = looks.length < 2 ? [] : looks.map(({ name, stroke, dash }, i) => `<line x1="8" x2="36" y1="${h + 50 + 16 * i}" y2="${h + 50 + 16 * i}" stroke="${stroke}" stroke-width="2" stroke-dasharray="${dash.join(" ") || "none"}"/><text x="44" y="${h + 54 + 16 * i}">${escapeXML(name)}</text>`);
  const height = h + 46 + 16 * legend.length;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${w} ${height}" width="${w}" height="${height}" font-family="sans-serif" font-size="12"><rect width="${w}" height="${height}" fill="#fff"/><text x="8" y="20" font-weight="bold">${escapeXML(f.title)}</text><g transform="translate(0 32) scale(${scale})">${r.parts.join("")}</g>${legend.join("")}</svg>\n`;
}

/** Offers f as a file, "csv" or "svg". */
export function download(f: Figure, kind: "csv" | "svg"): void {
  const name = f.title.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  const url = URL.createObjectURL(kind === "csv" ? new Blob([toCSV(f)], { type: "text/csv" }) : new Blob([toSVG(f)], { type: "image/svg+xml" }));
  const a = document.createElement("a");
  a.href = url;
  a.download = `${name}.${kind}`;
  a.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
