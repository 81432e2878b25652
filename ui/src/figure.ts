// A plot's series as CSV and as an SVG picture, made from the same values and scales as the plot.

export interface Series {
  name: string;
  values: (number | null)[];
  colour: string; // a custom property of the style sheet, such as --good
  dashed?: boolean;
}

export interface Figure {
  title: string;
  x: { name: string; values: number[] };
  y: string;
  series: Series[];
}

/** One row per x, comma-separated, with a line of names. */
export function toCSV(f: Figure): string {
  const cell = (s: string) => (/[",\n\r]/.test(s) ? `"${s.replaceAll('"', '""')}"` : s);
  const head = [f.x.name, ...f.series.map((s) => s.name)].map(cell).join(",");
  const rows = f.x.values.map((x, i) => [x, ...f.series.map((s) => s.values[i] ?? "")].join(","));
  return [head, ...rows].join("\n") + "\n";
}

/** Steps of 1, 2 or 5 times a power of ten that divide [0, most] into about n parts. */
export function ticks(most: number, n = 5): number[] {
  if (!(most > 0)) return [0];
  const rough = most / n;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= rough)!;
  return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, i) => i * step);
}

const inks = ["#0b6e4f", "#555566", "#8a4b08"]; // of the series of a picture, on white

const escape = (s: string) => s.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

/** A picture of w × h pixels on white with axes, names and a legend. */
export function toSVG(f: Figure, w = 640, h = 320): string {
  const left = 64, right = 16, top = 40, bottom = 44;
  const mostX = Math.max(1, ...f.x.values);
  const mostY = Math.max(1, ...f.series.flatMap((s) => s.values.map((v) => v ?? 0)));
  const px = (x: number) => left + (x / mostX) * (w - left - right);
  const py = (y: number) => h - bottom - (y / mostY) * (h - top - bottom);
  const text = (x: number, y: number, s: string, more = "") => `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${more}>${escape(s)}</text>`;
  const parts = [
    `<rect width="${w}" height="${h}" fill="#fff"/>`,
    text(left, 18, f.title, 'font-weight="bold"'),
    ...ticks(mostY).map((v) => `<path d="M${left} ${py(v).toFixed(1)}H${w - right}" stroke="#ddd"/>` + text(left - 6, py(v) + 4, String(v), 'text-anchor="end"')),
    ...ticks(mostX).map((v) => text(px(v), h - bottom + 16, String(v), 'text-anchor="middle"')),
    text((left + w - right) / 2, h - 8, f.x.name, 'text-anchor="middle"'),
    text(left, top - 8, f.y),
  ];
  f.series.forEach((s, i) => {
    const ink = inks[i % inks.length];
    const points = f.x.values.flatMap((x, k) => (s.values[k] == null ? [] : [`${px(x).toFixed(1)},${py(s.values[k]!).toFixed(1)}`]));
    parts.push(`<polyline points="${points.join(" ")}" fill="none" stroke="${ink}" stroke-width="2"${s.dashed ? ' stroke-dasharray="5 4"' : ""}/>`);
    parts.push(text(w - right, top - 8 + i * 16, s.name, `text-anchor="end" fill="${ink}"`));
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${w} ${h}" width="${w}" height="${h}" font-family="sans-serif" font-size="12">${parts.join("")}</svg>\n`;
}
