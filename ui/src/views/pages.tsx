// The collection: search, facets, and a list of any length.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { address, get, save, serverTime, type Facet, type Pages as PagesAnswer, type Row } from "../api";
import type { ViewProps } from "../app";
import { HostName, message, Problem, Score, Verdict, Web } from "../bits";
import { bytes, clean, count, counted, edge, hostName, stateName, time } from "../format";
import type { Live } from "../live";
import { href, type Params } from "../route";
import { reveal, shown, windowSize, windowsOf } from "../rows";

const facetNames: [string, string][] = [["on_topic", "On topic"], ["label", "Judged"], ["state", "State"], ["host", "Host"], ["lang", "Language"], ["type", "Type"]];
const formats = ["csv", "jsonl", "parquet", "markdown", "urls"];
const more = ["text", "sqlite", "links", "gexf", "graphml", "graph", "sites", "warc", "wacz", "cdxj", "opensearch"];
const columnsOf: { sort: string; name: string }[] = [
  { sort: "title", name: "Title" }, { sort: "host", name: "Host" }, { sort: "score", name: "Score" },
  { sort: "", name: "Label" }, { sort: "", name: "Size" }, { sort: "time", name: "Time" },
];
const filters = ["q", "from", "to", "min", "max"];
const mostFound = 10_000; // pages of a search that the server lists, before the other filters
const mostWindows = 60; // kept in memory
const incomplete = 1000; // ms until a list that the server still reads is asked for again
const headHeight = 36; // pixels
const wait = 60; // ms that the list must hold still before it loads

/** The filter of the address as parameters of a request. */
function filterOf(q: URLSearchParams): Params {
  const out: Params = {};
  for (const name of filters) out[name] = q.get(name);
  for (const [name] of facetNames) out[name] = q.getAll(name);
  out.like = q.get("like");
  out.from = edge(q.get("from"), false);
  out.to = edge(q.get("to"), true);
  return out;
}

export function Pages({ n, query, store, live }: ViewProps) {
  const key = query.toString();
  const [turn, setTurn] = useState(0);
  const noun = !query.has("like") && query.getAll("state").every((s) => s === "ok") ? "page" : "URL";
  const filter = useMemo(() => {
    const f = filterOf(query);
    const now = serverTime();
    const growing = live.status.peek()?.running ?? store.running;
    return growing && !(typeof f.to === "string" && f.to && f.to < now) ? { ...f, to: now } : f; // else rows move while one scrolls
  }, [key, turn]);
  const list = useWindows(n, filter, query.get("sort") ?? "", query.get("order") ?? "");
  const change = (params: Params) => {
    const now: Params = {};
    for (const name of [...query.keys()]) now[name] = query.getAll(name);
    location.hash = href(n, "pages", { ...now, ...params });
  };
  const best = list.found > mostFound ? `best ${count(mostFound)} of ${counted(list.found, noun)}` : "";
  const amount = list.total === null ? "Pages" : !best ? counted(list.total, noun) : `${list.total < mostFound ? `${count(list.total)} of the` : "The"} ${best}`;
  return (
    <>
      <div class="inline">
        <h1>{amount}</h1>
        <NewPages key={key + turn} live={live} show={() => setTurn(turn + 1)} />
      </div>
      <Search query={query} change={change} />
      {query.has("like") && <p class="note">A page and its copies. <a href={href(n, "groups")}>All groups of like pages</a></p>}
      <Problem text={list.error} />
      <div class="collection">
        <Facets facets={list.facets} query={query} change={change} />
        <div class="found">
          {list.total ? <Export n={n} what={amount} filter={filter} pages={noun === "page" || query.has("like") || query.getAll("state").includes("ok")} /> : null}
          <Grid n={n} list={list} sort={query.get("sort") ?? (query.get("q") ? "" : "time")} order={query.get("order") ?? "desc"} change={change} />
        </div>
      </div>
    </>
  );
}

/** A button for the pages that came since the list was loaded. */
function NewPages({ live, show }: { live: Live; show: () => void }) {
  const fetched = live.status.value?.fetched;
  const first = useRef(fetched);
  first.current ??= fetched;
  const more = (fetched ?? 0) - (first.current ?? 0);
  return more > 0 ? <button type="button" class="small" onClick={show}>{counted(more, "new page")}: show</button> : null;
}

function Export({ n, what, filter, pages }: { n: number; what: string; filter: Params; pages: boolean }) {
  const [refused, refuse] = useState<string | null>(null);
  const start = (e: MouseEvent, params: Params) => {
    e.preventDefault();
    refuse(null);
    save(n, "export", params).catch((err) => refuse(message(err)));
  };
  const link = (format: string) => <a key={format} href={address(n, "export", { format, ...filter })} download onClick={(e) => start(e, { format, ...filter })}>{format}</a>;
  return (
    <>
      <div class="export">
        Export {what.replace(/^The/, "the")} as {formats.filter((format) => pages || format === "urls").map(link)}
        {pages && (
          <details>
            <summary>other formats</summary>
            {more.map(link)}
          </details>
        )}
      </div>
      <Problem text={refused} />
    </>
  );
}

function Search({ query, change }: { query: URLSearchParams; change: (p: Params) => void }) {
  const submit = (e: SubmitEvent) => {
    e.preventDefault();
    const form = new FormData(e.currentTarget as HTMLFormElement);
    change({ ...Object.fromEntries(filters.map((f) => [f, String(form.get(f) ?? "")])), ...(form.get("q") ? { sort: "", order: "" } : {}) });
  };
  const value = (name: string) => query.get(name) ?? "";
  return (
    <form class="search" role="search" onSubmit={submit} key={filters.map(value).join("\n")}>
      <label class="grow"><span class="hidden">Search the pages</span><input name="q" type="search" defaultValue={value("q")} placeholder="Words, or a &quot;phrase&quot;" /></label>
      <button type="submit" class="main">Search</button>
      <details open={["from", "to", "min", "max"].some((f) => value(f) !== "")}>
        <summary>Date and score</summary>
        <div class="inline">
          <label>From<input name="from" type="date" defaultValue={value("from").slice(0, 10)} /></label>
          <label>To<input name="to" type="date" defaultValue={value("to").slice(0, 10)} /></label>
          <label>Score at least<input name="min" type="number" min="0" max="1" step="0.01" defaultValue={value("min")} /></label>
          <label>at most<input name="max" type="number" min="0" max="1" step="0.01" defaultValue={value("max")} /></label>
        </div>
      </details>
    </form>
  );
}

function Facets({ facets, query, change }: { facets: Record<string, Facet[] | null>; query: URLSearchParams; change: (p: Params) => void }) {
  const any = query.has("like") || facetNames.some(([name]) => query.has(name)) || filters.some((f) => query.get(f));
  return (
    <aside class="facets" aria-label="Filters">
      {any && <button type="button" class="small" onClick={() => (location.hash = location.hash.split("?")[0])}>Clear all filters</button>}
      {facetNames.map(([name, title]) => {
        const chosen = query.getAll(name);
        const found = (facets[name] ?? []).filter((f) => f.value !== "");
        const values = [...chosen.filter((v) => !found.some((f) => f.value === v)).map((value) => ({ value, count: -1 })), ...found];
        if (values.length === 0) return null;
        return (
          <details key={name} open={chosen.length > 0 || matchMedia("(min-width: 900px)").matches}>
            <summary>{title}{chosen.length ? `: ${chosen.length} chosen` : ""}</summary>
            <ul>
              {values.map((f) => (
                <li key={f.value}>
                  <label>
                    <input type="checkbox" checked={chosen.includes(f.value)} onChange={(e) => change({ [name]: e.currentTarget.checked ? [...chosen, f.value] : chosen.filter((v) => v !== f.value) })} />
                    <span>{facetValue(name, f.value)}</span>
                    {f.count >= 0 && <span class="num">{count(f.count)}</span>}
                  </label>
                </li>
              ))}
            </ul>
          </details>
        );
      })}
    </aside>
  );
}

function facetValue(facet: string, value: string) {
  if (facet === "on_topic") return value;
  if (facet === "state") return stateName(value);
  if (facet === "label") return { yes: "on topic", no: "off topic", none: "not judged" }[value] ?? value;
  return <Web text={facet === "host" ? hostName(value) : value} length={40} />;
}

interface Windows {
  key: string;
  version: number; // changes with the rows
  total: number | null;
  found: number; // by the words alone, also beyond mostFound
  facets: Record<string, Facet[] | null>;
  error: string | null;
  row: (i: number) => Row | undefined;
  want: (first: number, last: number) => void;
}

/** Loads windows of the list as they are wanted, and forgets those that were not looked at for long. */
function useWindows(n: number, filter: Params, sort: string, order: string): Windows {
  const key = JSON.stringify([n, filter, sort, order]);
  const [version, draw] = useState(0);
  const state = useRef({ key: "", windows: new Map<number, Row[] | null>(), total: null as number | null, found: 0, listed: null as number | null, facets: {} as Record<string, Facet[] | null>, error: null as string | null, ending: new AbortController(), timer: 0, again: 0 });
  const s = state.current;
  const load = (offset: number) => {
    const { signal } = s.ending;
    s.windows.set(offset, s.windows.get(offset) ?? null);
    get<PagesAnswer>(n, "pages", { ...filter, sort, order, offset, limit: windowSize }, signal).then((got) => {
      s.windows.set(offset, got.rows ?? []);
      const moved = s.listed !== null && s.listed !== got.total; // the server has read pages from before the end meanwhile
      s.total = s.listed = got.total;
      s.found = got.found ?? 0;
      if (got.facets) s.facets = got.facets;
      s.error = null;
      draw((d) => d + 1);
      if (got.complete !== false && moved) for (const o of [...s.windows.keys()]) if (o !== offset) load(o);
      if (got.complete === false && offset === 0) s.again = window.setTimeout(() => {
        for (const o of [...s.windows.keys()]) load(o);
      }, incomplete);
    }, (err) => {
      if (signal.aborted) return;
      s.windows.delete(offset);
      s.error = message(err);
      draw((d) => d + 1);
    });
  };
  useEffect(() => {
    s.ending.abort();
    Object.assign(s, { key, listed: null, windows: new Map(), ending: new AbortController() });
    load(0);
    return () => {
      s.ending.abort();
      window.clearTimeout(s.timer);
      window.clearTimeout(s.again);
    };
  }, [key]);
  const want = (first: number, last: number) => {
    window.clearTimeout(s.timer);
    s.timer = window.setTimeout(() => {
      for (const o of windowsOf(first, last)) {
        const known = s.windows.get(o);
        if (known === undefined) load(o);
        else { // the youngest look stands last
          s.windows.delete(o);
          s.windows.set(o, known);
        }
      }
      for (const o of s.windows.keys()) {
        if (s.windows.size <= mostWindows) break;
        s.windows.delete(o);
      }
    }, wait);
  };
  return { key, version, total: s.total, found: s.found, facets: s.facets, error: s.error, want, row: (i) => s.windows.get(Math.floor(i / windowSize) * windowSize)?.[i % windowSize] };
}

function Grid({ n, list, sort, order, change }: { n: number; list: Windows; sort: string; order: string; change: (p: Params) => void }) {
  const box = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState({ scroll: 0, view: 600, narrow: false });
  const [chosen, choose] = useState(0);
  const total = list.total ?? 0;
  const hits = list.row(0)?.snippet != null;
  const rowHeight = at.narrow || hits ? 64 : 36; // pixels, as in the style sheet
  const see = () => {
    const el = box.current;
    if (el) setAt({ scroll: el.scrollTop, view: el.clientHeight - headHeight, narrow: el.clientWidth < 640 });
  };
  useEffect(() => {
    const sized = new ResizeObserver(see);
    sized.observe(box.current!);
    return () => sized.disconnect();
  }, []);
  useEffect(() => {
    box.current!.scrollTop = 0;
    choose(0);
    see();
  }, [list.key]);
  const s = shown(at.scroll, at.view, total, rowHeight);
  useEffect(() => { if (total > 0) list.want(s.first, s.last); }, [s.first, s.last, list.key, total]);
  const move = (e: KeyboardEvent) => {
    if (e.target !== e.currentTarget) return;
    const page = Math.max(1, Math.floor(at.view / rowHeight) - 1);
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -total, End: total };
    if (e.key === "Enter") {
      const row = list.row(chosen);
      if (row) location.hash = href(n, "page", { url: row.url });
    }
    if (!(e.key in steps)) return;
    e.preventDefault();
    const to = Math.min(total - 1, Math.max(0, chosen + steps[e.key]));
    choose(to);
    box.current!.scrollTop = reveal(to, at.scroll, at.view, total, rowHeight);
  };
  const rows = useMemo(() => { // the same while the list scrolls within them
    const shownRows = Array.from({ length: Math.max(0, s.last - s.first) }, (_, k) => s.first + k);
    return shownRows.map((i) => <GridRow key={i} n={n} i={i} row={list.row(i)} chosen={i === chosen} />);
  }, [n, s.first, s.last, chosen, list.key, list.version]);
  return (
    <div class={hits ? "grid hits" : "grid"} role="grid" aria-label="Pages; arrow keys move, Enter opens" aria-rowcount={total + 1} aria-colcount={columnsOf.length} ref={box} tabIndex={0}
      onScroll={see} onKeyDown={move} aria-activedescendant={chosen >= s.first && chosen < s.last ? `row-${chosen}` : undefined}>
      <div class="heads" role="rowgroup"><Heads sort={sort} order={order} change={change} /></div>
      {total > 0 && (
        <div class="spacer" role="rowgroup" style={{ height: `${s.height}px` }}>
          <div class={rowHeight > 36 ? "tall" : ""} role="presentation" style={{ transform: `translateY(${s.top}px)` }}>
            {rows}
          </div>
        </div>
      )}
      {total === 0 && list.total !== null && <p class="empty">No page fits. Take a filter away, or search for other words.</p>}
    </div>
  );
}

function Heads({ sort, order, change }: { sort: string; order: string; change: (p: Params) => void }) {
  const down = order === "desc";
  return (
    <div class="row" role="row" aria-rowindex={1}>
      {columnsOf.map((c) => (
        <div key={c.name} role="columnheader" aria-sort={c.sort && sort === c.sort ? (down ? "descending" : "ascending") : undefined}>
          {c.sort ? (
            <button type="button" onClick={() => change({ sort: c.sort, order: sort === c.sort ? (down ? "asc" : "desc") : c.sort === "score" || c.sort === "time" ? "desc" : "asc" })}>
              {c.name}<span aria-hidden="true">{sort === c.sort ? (down ? " ↓" : " ↑") : ""}</span>
            </button>
          ) : c.name}
        </div>
      ))}
    </div>
  );
}

function GridRow({ n, i, row, chosen }: { n: number; i: number; row: Row | undefined; chosen: boolean }) {
  const name = clean(row?.title, 160) || clean(row?.url, 160);
  return (
    <div class={chosen ? "row chosen" : "row"} role="row" id={`row-${i}`} aria-rowindex={i + 2} aria-selected={chosen}>
      {row ? (
        <>
          <div role="gridcell">
            <a href={href(n, "page", { url: row.url })} tabIndex={-1} title={clean(row.url)}><bdi dir="auto">{name}</bdi></a>
            {row.reason && <small class="why"> <bdi dir="auto">{clean(row.reason)}</bdi></small>}
            {row.snippet && <small class="snippet"><bdi dir="auto">{row.snippet.map((t, k) => (k % 2 ? <mark key={k}>{clean(t)}</mark> : ` ${clean(t)} `))}</bdi></small>}
          </div>
          <div role="gridcell"><HostName host={row.host} /></div>
          <div role="gridcell"><Score value={row.score} /></div>
          <div role="gridcell" title={clean(row.reason)}><Verdict row={row} /></div>
          <div role="gridcell" class="num">{bytes(row.bytes)}</div>
          <div role="gridcell" class="num">{time(row.time)}</div>
        </>
      ) : <div role="gridcell" class="loading">…</div>}
    </div>
  );
}
