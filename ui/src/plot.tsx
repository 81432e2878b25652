// A plot by uPlot that grows without being made anew, with its values on hover, as CSV and as SVG.

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { count } from "./format";
import { toCSV, toSVG, type Figure } from "./figure";

const height = 240; // pixels

export function Plot({ figure }: { figure: Figure }) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const data = [figure.x.values, ...figure.series.map((s) => s.values)] as uPlot.AlignedData;
  useEffect(() => {
    const el = box.current!;
    const make = () => {
      plot.current?.destroy();
      plot.current = new uPlot(options(figure, el), plot.current?.data ?? data, el);
    };
    make();
    const sized = new ResizeObserver(() => plot.current?.setSize({ width: el.clientWidth, height }));
    sized.observe(el);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", make);
    return () => {
      sized.disconnect();
      dark.removeEventListener("change", make);
      plot.current?.destroy();
      plot.current = null;
    };
  }, []);
  useEffect(() => plot.current?.setData(data), [figure.x.values]);
  const name = figure.title.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  return (
    <figure class="plot">
      <figcaption>
        <h2>{figure.title}</h2>
        <span class="tools">
          <button type="button" class="small" onClick={() => save(`${name}.csv`, "text/csv", toCSV(figure))}>CSV</button>
          <button type="button" class="small" onClick={() => save(`${name}.svg`, "image/svg+xml", toSVG(figure))}>SVG</button>
        </span>
      </figcaption>
      <div ref={box} role="img" aria-label={summary(figure)} />
    </figure>
  );
}

function summary(f: Figure): string {
  const last = f.series.map((s) => `${s.name} ${count(s.values.at(-1))}`).join(", ");
  return `${f.title}: at ${count(f.x.values.at(-1))} ${f.x.name}, ${last}`;
}

/** Shows the last values in the legend while no pointer asks for others. */
function showLast(u: uPlot): void {
  if (u.cursor.idx == null && u.legend.idx !== u.data[0].length - 1) u.setLegend({ idx: u.data[0].length - 1 });
}

/** A colour of the style sheet, which uPlot needs as a value. */
function colour(el: Element, name: string): string {
  return getComputedStyle(el).getPropertyValue(name).trim() || "gray";
}

function options(f: Figure, el: HTMLElement): uPlot.Options {
  const ink = colour(el, "--soft");
  const axis: uPlot.Axis = {
    stroke: ink, font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif",
    grid: { stroke: colour(el, "--line"), width: 1 }, ticks: { show: false }, labelSize: 18,
  };
  return {
    width: el.clientWidth || 320,
    height,
    hooks: { setLegend: [showLast], setData: [showLast] },
    cursor: { drag: { x: false, y: false }, points: { size: 7 } },
    scales: { x: { time: false }, y: { range: (_, __, most) => [0, Math.max(1, most)] } },
    axes: [
      { ...axis, size: 28, label: f.x.name, values: (_, v) => v.map((x) => count(x)) },
      { ...axis, size: 56, values: (_, v) => v.map((x) => count(x)) },
    ],
    series: [
      { label: f.x.name, value: (_, v) => count(v) },
      ...f.series.map((s) => ({
        label: s.name, stroke: () => colour(el, s.colour), width: 2, points: { show: false },
        dash: s.dashed ? [5, 4] : undefined, value: (_: uPlot, v: number | null) => count(v),
      })),
    ],
  };
}

function save(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const a = document.createElement("a");
  a.href = url;
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
