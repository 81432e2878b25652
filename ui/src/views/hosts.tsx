// The hosts of a crawl, as a treemap and as a table.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { get, type Host, type HostLinks } from "../api";
import type { ViewProps } from "../app";
import { Empty, HostName, Problem, Score, share, useLoad, Web } from "../bits";
import { clean, count, counted, duration, hostName, percent } from "../format";
import { layout, readable } from "../graph";
import { href } from "../route";
import { treemap } from "../treemap";

const every = 5000; // ms between two looks while the crawl runs
const step = 50; // rows of the table
const mapped = 60; // hosts in the treemap

const heads: { sort: string; name: string }[] = [
  { sort: "host", name: "Host" }, { sort: "pages", name: "Pages" }, { sort: "relevant", name: "On topic" }, { sort: "", name: "Harvest" },
  { sort: "requests", name: "Requests" }, { sort: "", name: "Waiting" }, { sort: "", name: "Refused" }, { sort: "", name: "Errors" }, { sort: "", name: "robots.txt" }, { sort: "rest", name: "Rests" },
];

export function Hosts({ n, live }: ViewProps) {
  const running = live.status.value?.running ?? false;
  const [sort, setSort] = useState("pages");
  const [order, setOrder] = useState("desc");
  const [limit, setLimit] = useState(step);
  const load = (params: Record<string, string | number>) => (signal: AbortSignal) => get<{ total: number; hosts: Host[] | null }>(n, "hosts", params, signal);
  const map = useLoad(`map/${n}`, load({ sort: "pages", order: "desc", limit: mapped }), running ? every : 0);
  const list = useLoad(`hosts/${n}/${sort}/${order}/${limit}`, load({ sort, order, limit }), running ? every : 0);
  const last = useRef(list.value);
  last.current = list.value ?? last.current;
  const hosts = last.current?.hosts ?? [];
  const total = last.current?.total ?? 0;
  const by = (s: string) => {
    setOrder(s === sort && order === "desc" ? "asc" : s === sort ? "desc" : s === "host" ? "asc" : "desc");
    setSort(s);
  };
  return (
    <>
      <h1>{last.current ? counted(total, "host") : "Hosts"}</h1>
      <Problem text={list.error} />
      <Treemap n={n} hosts={map.value?.hosts ?? []} />
      <Graph n={n} />
      {last.current && hosts.length === 0 && <Empty>No host was asked yet.</Empty>}
      {hosts.length > 0 && (
        <div class="scroll" tabIndex={0} role="region" aria-label="Hosts">
          <table class="table">
            <thead>
              <tr>
                {heads.map((h, i) => (
                  <th key={h.name} scope="col" class={i > 0 && h.name !== "robots.txt" && h.name !== "Harvest" ? "num" : ""} aria-sort={h.sort && sort === h.sort ? (order === "desc" ? "descending" : "ascending") : undefined}>
                    {h.sort ? <button type="button" onClick={() => by(h.sort)}>{h.name}<span aria-hidden="true">{sort === h.sort ? (order === "desc" ? " ↓" : " ↑") : ""}</span></button> : h.name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>{hosts.map((h) => <HostRow key={h.host} n={n} h={h} />)}</tbody>
          </table>
        </div>
      )}
      {hosts.length < total && <button type="button" onClick={() => setLimit(limit + 4 * step)}>Show more of {count(total)}</button>}
    </>
  );
}

function HostRow({ n, h }: { n: number; h: Host }) {
  const rest = h.rest_until ? (new Date(h.rest_until).getTime() - Date.now()) / 1000 : 0;
  return (
    <tr>
      <th scope="row"><a href={href(n, "pages", { host: h.host })}><HostName host={h.host} /></a></th>
      <td class="num">{count(h.pages)}</td>
      <td class="num">{count(h.relevant)}</td>
      <td><Score value={h.pages ? h.relevant / h.pages : null} /></td>
      <td class="num">{count(h.requests)}</td>
      <td class="num">{count(h.waiting)}</td>
      <td class="num">{count(h.refused)}</td>
      <td class="num">{count(h.errors)}</td>
      <td>{h.robots}</td>
      <td class="num">{rest > 1 ? <>{duration(rest)}<small class="block"><Web text={h.rest_why} length={60} /></small></> : ""}</td>
    </tr>
  );
}

/** A box and its width in pixels. */
function useWidth() {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const sized = new ResizeObserver(() => setWidth(box.current?.clientWidth ?? 0));
    sized.observe(box.current!);
    return () => sized.disconnect();
  }, []);
  return [box, width] as const;
}

const mapHeight = 260; // pixels

function Treemap({ n, hosts }: { n: number; hosts: Host[] }) {
  const [box, width] = useWidth();
  const some = hosts.filter((h) => h.pages > 0);
  const tiles = treemap(some.map((h) => h.pages), width, mapHeight);
  return (
    <figure class="treemap">
      <figcaption class="note">Each area stands for a host's pages. The greener, the more of them are on topic: <span class="legend" aria-hidden="true">{[0, 1, 2, 3, 4].map((k) => <i key={k} class={`g${k}`} />)}</span> 0 to 100 %. The table below has the same figures.</figcaption>
      <div ref={box} aria-hidden="true">
        <svg width={width} height={mapHeight} viewBox={`0 0 ${width || 1} ${mapHeight}`}>
          {some.map((h, i) => {
            const t = tiles[i];
            const letters = Math.floor((t.w - 10) / 7);
            return (
              <g key={h.host} class={`g${Math.min(4, Math.round((h.relevant / h.pages) * 4))}`} onClick={() => (location.hash = href(n, "pages", { host: h.host }))}>
                <title>{`${hostName(h.host)}: ${share(h.relevant, h.pages)} on topic`}</title>
                <rect x={t.x + 0.5} y={t.y + 0.5} width={Math.max(0, t.w - 1)} height={Math.max(0, t.h - 1)} rx="2" />
                {t.h > 20 && letters > 4 && <text x={t.x + 6} y={t.y + 16}>{clean(hostName(h.host), letters)}</text>}
                {t.h > 38 && t.w > 44 && <text x={t.x + 6} y={t.y + 32}>{percent(h.relevant / h.pages)}</text>}
              </g>
            );
          })}
        </svg>
      </div>
    </figure>
  );
}

const graphHeight = 420; // pixels
const drawn = 3; // links of a host that are drawn, in the mean
const letter = 7; // pixels
const narrow = 640; // pixels

/** Which hosts link to which: a picture of the most links among the hosts with most pages on topic. */
function Graph({ n }: { n: number }) {
  const [open, setOpen] = useState(false);
  return (
    <details class="card graph" onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>Which hosts link to which</summary>
      {open && <Links n={n} />}
    </details>
  );
}

function Links({ n }: { n: number }) {
  const [box, width] = useWidth();
  const small = width < narrow;
  const got = useLoad(`links/${n}/${small}`, (signal) => get<HostLinks>(n, "links", { hosts: small ? 15 : 40 }, signal));
  const hosts = got.value?.hosts ?? [];
  const links = (got.value?.links ?? []).slice(0, drawn * hosts.length);
  const most = Math.max(1, ...hosts.map((h) => h.relevant || h.pages));
  const heaviest = Math.max(1, links[0]?.links ?? 0);
  const [chosen, choose] = useState(-1);
  const at = useMemo(() => layout(hosts.length, links.map((l) => ({ ...l, weight: l.links })), width || 1, graphHeight, 40, small ? 44 : 52), [got.value, width]);
  const radius = (i: number) => 4 + 16 * Math.sqrt((hosts[i].relevant || 0) / most);
  const names = hosts.map((h) => clean(hostName(h.host), small ? 16 : 28));
  const above = hosts.map((_, i) => { // the middle of each name, which stays within the picture
    const half = (names[i].length * letter) / 2;
    return { x: Math.max(half, Math.min(width - half, at[i].x)), y: at[i].y - radius(i) - 3 };
  });
  const reads = readable(above, names.map((name) => name.length * letter), 14);
  const lit = (l: { from: number; to: number }) => chosen < 0 || l.from === chosen || l.to === chosen;
  return (
    <>
      <Problem text={got.error} />
      <p class="note">The {count(hosts.length)} hosts with most pages on topic, of {count(got.value?.total)}. Larger: more pages on topic. A link is thin at the side that it leads to. The table has the same figures.</p>
      <div ref={box} aria-hidden="true">
        <svg width={width} height={graphHeight} viewBox={`0 0 ${width || 1} ${graphHeight}`}>
          {links.map((l) => {
            const a = at[l.from], b = at[l.to];
            if (!a || !b) return null;
            const d = Math.max(1, Math.hypot(b.x - a.x, b.y - a.y));
            const thick = 0.8 + 3.2 * Math.sqrt(l.links / heaviest);
            const [x, y] = [((b.y - a.y) / d) * thick, ((a.x - b.x) / d) * thick];
            return <path key={`${l.from}-${l.to}`} class={lit(l) ? "link" : "link dim"} d={`M${a.x + x} ${a.y + y}L${b.x} ${b.y}L${a.x - x} ${a.y - y}Z`}><title>{`${hostName(hosts[l.from].host)} → ${hostName(hosts[l.to].host)}: ${counted(l.links, "link")}`}</title></path>;
          })}
          {hosts.map((h, i) => at[i] && (
            <g key={h.host} class={`g${Math.min(4, Math.round((h.relevant / (h.pages || 1)) * 4))}`} onMouseEnter={() => choose(i)} onMouseLeave={() => choose(-1)} onClick={() => (location.hash = href(n, "pages", { host: h.host }))}>
              <title>{`${hostName(h.host)}: ${share(h.relevant, h.pages)} on topic`}</title>
              <circle cx={at[i].x} cy={at[i].y} r={radius(i)} />
            </g>
          ))}
          {names.map((name, i) => (reads[i] || i === chosen) && <text key={hosts[i].host} x={above[i].x} y={above[i].y} text-anchor="middle">{name}</text>)}
        </svg>
      </div>
      {links.length > 0 && (
        <div class="scroll long" tabIndex={0} role="region" aria-label="Links between hosts">
          <table class="table">
            <thead><tr><th scope="col">From</th><th scope="col">To</th><th scope="col" class="num">Links</th></tr></thead>
            <tbody>
              {links.map((l) => (
                <tr key={`${l.from}-${l.to}`}>
                  <td><a href={href(n, "pages", { host: hosts[l.from].host })}><HostName host={hosts[l.from].host} /></a></td>
                  <td><a href={href(n, "pages", { host: hosts[l.to].host })}><HostName host={hosts[l.to].host} /></a></td>
                  <td class="num">{count(l.links)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {got.value && links.length === 0 && <Empty>No host links to a stored page of another host.</Empty>}
    </>
  );
}
