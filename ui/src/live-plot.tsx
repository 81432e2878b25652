// A plot that grows without being made anew.

import { useEffect, useRef } from "preact/hooks";
import { count } from "./format";
import type { Figure } from "./figure";
import { download, keepDrawn } from "./plot";

export function Plot({ figure }: { figure: Figure }) {
  const box = useRef<HTMLDivElement>(null);
  const kept = useRef<ReturnType<typeof keepDrawn> | null>(null);
  useEffect(() => {
    kept.current = keepDrawn(box.current!, figure);
    return () => kept.current?.end();
  }, []);
  useEffect(() => kept.current?.update(figure), [figure]);
  return (
    <figure class="plot">
      <figcaption>
        <h2>{figure.title}</h2>
        <span class="tools">
          <button type="button" class="small" onClick={() => download(figure, "csv")}>CSV</button>
          <button type="button" class="small" onClick={() => download(figure, "svg")}>SVG</button>
        </span>
      </figcaption>
      <div ref={box} role="img" aria-label={summary(figure)} />
    </figure>
  );
}

function summary(f: Figure): string {
  const at = (f.lines ?? []).map((l) => `${l.name} ${count(l.points?.at(-1)?.y)}`).join(", ");
  return `${f.title}: at ${count(f.lines?.[0]?.points?.at(-1)?.x)} ${f.xLabel}, ${at}`;
}
