// What changed in a collection since a time: new, changed and gone pages.

import { useState } from "preact/hooks";
import { get, type ChangeLine, type Changes as ChangesAnswer } from "../api";
import type { ViewProps } from "../app";
import { Empty, PageLink, Problem, useLoad } from "../bits";
import { clean, count, counted, stateName, time } from "../format";
import { href } from "../route";

const spans: [string, string][] = [["1d", "day"], ["7d", "week"], ["30d", "30 days"], ["365d", "year"]];
const step = 50; // lines of a list that show at first

export function Changes({ n, query }: ViewProps) {
  const since = query.get("since") ?? "7d";
  const list = useLoad(`changes/${n}/${since}`, (signal) => get<ChangesAnswer>(n, "changes", { since }, signal));
  const got = list.value;
  const t = got?.totals;
  return (
    <>
      <h1>{t ? `${count(t.new)} new, ${count(t.changed)} changed, ${count(t.gone)} gone` : "Changes"}</h1>
      <div class="buttons" role="group" aria-label="Since">
        {spans.map(([value, name]) => <button key={value} type="button" class="small" aria-pressed={since === value} onClick={() => (location.hash = href(n, "changes", { since: value }))}>last {name}</button>)}
      </div>
      <Problem text={list.error} />
      {!got && !list.error && <Empty>The visits are being read …</Empty>}
      {got && t && (
        <>
          <p class="note">Since {time(got.since)}. Pages are visited again by <code>fossick watch</code> and <code>focus --resume --refresh</code>.</p>
          <List n={n} since={since} title="Changed" lines={got.changed} total={t.changed} differs />
          <List n={n} since={since} title="New" lines={got.new} total={t.new} />
          <List n={n} since={since} title="Gone" lines={got.gone} total={t.gone} />
        </>
      )}
    </>
  );
}

function List({ n, since, title, lines, total, differs }: { n: number; since: string; title: string; lines: ChangeLine[]; total: number; differs?: boolean }) {
  const [most, setMost] = useState(step);
  if (total === 0) return null;
  return (
    <section class="card changes">
      <h2>{title}: {counted(total, "page")}</h2>
      <ul class="rows">
        {lines.slice(0, most).map((l) => (
          <li key={l.url}>
            <PageLink store={n} url={l.url} title={l.title} />
            <span class="side">{l.what && <span class="tag">{!differs ? stateName(l.what) : l.what === "unsure" ? "perhaps changed" : `${l.what} changed`}</span>}<span class="num">{time(l.at)}</span></span>
            {differs && l.what !== "content" && <Difference n={n} since={since} url={l.url} />}
          </li>
        ))}
      </ul>
      {most < lines.length && <button type="button" class="small" onClick={() => setMost(most + 4 * step)}>Show more of {count(total)}</button>}
    </section>
  );
}

/** The difference of a page's main text, loaded when it is opened. */
function Difference({ n, since, url }: { n: number; since: string; url: string }) {
  const [open, setOpen] = useState(false);
  return (
    <details class="difference" onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>Difference<span class="hidden"> of {clean(url)}</span></summary>
      {open && <Lines n={n} since={since} url={url} />}
    </details>
  );
}

function Lines({ n, since, url }: { n: number; since: string; url: string }) {
  const got = useLoad(`difference/${n}/${since}/${url}`, (signal) => get<{ diff: string }>(n, "changes", { since, url }, signal));
  if (got.error) return <Problem text={got.error} />;
  if (!got.value) return <Empty>…</Empty>;
  if (!got.value.diff) return <Empty>The former text was not kept: watch with --keep-versions.</Empty>;
  return (
    <pre class="diff" tabIndex={0} role="region" aria-label={`Difference of ${clean(url)}`}>
      {got.value.diff.split("\n").map((line, i) => {
        const kind = { "+": "plus", "-": "minus", "@": "at" }[line[0]] ?? "";
        return <span key={i} class={kind}>{clean(line, 2000)}{"\n"}</span>;
      })}
    </pre>
  );
}
