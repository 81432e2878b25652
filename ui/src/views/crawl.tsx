// A crawl while it runs: how good it is, what it does, what it will do, and its controls.

import { useMemo, useState } from "preact/hooks";
import { get, post, run, starting, type Starting, type Task, type Limits, type QueueLink, type Rest, type Row, type Status } from "../api";
import type { ViewProps } from "../app";
import { Counted, Empty, HostName, message, PageLink, Problem, Score, Tile, useLoad, Verdict, Web } from "../bits";
import { fromOrigin, type Point } from "../curve";
import { clean, count, counted, duration, interval, output, percent, stateName, time } from "../format";
import { Plot } from "../live-plot";
import { href } from "../route";
import { Agents, WholeTiles } from "./agents";
import { Preview } from "./start";

const queueEvery = 3000; // ms between two looks at the queue

export function Crawl({ n, store, live, starts }: ViewProps) {
  const s = live.status.value;
  const problem = live.problem.value;
  if (!s) return problem ? <Problem text={problem} /> : <p class="empty">Loading…</p>;
  return (
    <>
      <h1>{s.topic ? "Crawl for " : "Crawl "}<Web text={s.topic || store.name} length={60} /></h1>
      <p class="lead">{verdict(s)}</p>
      <Problem text={problem} />
      {s.running && live.link.value === "lost" && <p class="notice">{s.stopping ? "The crawl has ended." : "The connection is lost, and is tried again."} If the crawl ran with --ui, this page ended with it: fossick ui shows its store.</p>}
      {!s.running && <p class="notice">The crawl has ended. Its pages stay here: <a href={href(n, "pages")}>search them</a> or <a href={href(n, "judge")}>judge them</a>.</p>}
      {s.whole && <><h2 class="over">All agents</h2><WholeTiles whole={s.whole} /><section class="card" aria-labelledby="agents"><Agents n={n} whole={s.whole} /></section><h2 class="over">This agent</h2></>}
      <Tiles s={s} />
      <div class="columns">
        <section class="card wide"><Growth curve={live.curve.value} /></section>
        <section class="card" aria-labelledby="states"><States n={n} s={s} /></section>
        {!s.running && starts && <section class="card whole" aria-labelledby="resume"><Resume n={n} s={s} /></section>}
        <section class="card" aria-labelledby="stream"><Stream n={n} rows={live.rows.value} skipped={live.skipped.value} running={s.running} /></section>
        <section class="card" aria-labelledby="queue"><Queue n={n} running={s.running} /></section>
        {s.running && <section class="card" aria-labelledby="rests"><Rests n={n} rests={live.rests.value} /></section>}
        {s.running && s.changeable !== false && <section class="card" aria-labelledby="controls"><Controls n={n} s={s} /></section>}
      </div>
    </>
  );
}

function Growth({ curve }: { curve: Point[] }) {
  const figure = useMemo(() => ({ title: "Pages on topic", xLabel: "pages fetched", yLabel: "pages on topic", yNumbers: true, lines: [{ name: "on topic", points: fromOrigin(curve) }] }), [curve]);
  return <Plot figure={figure} />;
}

/** The crawl in one or two sentences. */
function verdict(s: Status): string {
  if (!s.fetched && !s.whole?.fetched) return s.running ? "No page has come yet." : "The crawl has no page.";
  const parts = s.whole?.fetched ? [`${count(s.whole.relevant)} of ${counted(s.whole.fetched, "page")} of ${counted(s.whole.agents + s.whole.dead, "agent")} ${s.whole.relevant === 1 ? "is" : "are"} on topic (${percent(s.whole.relevant / s.whole.fetched)}).`] : [`${count(s.relevant)} of ${counted(s.fetched, "page")} ${s.relevant === 1 ? "is" : "are"} on topic (${percent(s.harvest)}).`];
  if (!s.whole && s.last?.pages && s.last.pages < s.fetched) parts.push(`Of the last ${count(s.last.pages)}, ${percent(s.last.harvest)} are.`);
  if (s.network?.down_since) parts.push(`The network seems down since ${time(s.network.down_since)}.`);
  return parts.join(" ");
}

function Tiles({ s }: { s: Status }) {
  const most = s.limits?.max_pages;
  return (
    <dl class="tiles">
      <Tile name="Pages" value={count(s.fetched)} more={most ? `of ${count(most)}` : null} />
      <Tile name="On topic" value={count(s.relevant)} />
      <Tile name="Harvest" value={percent(s.harvest)} more={interval(s.harvest_interval)} />
      <Tile name={s.last?.pages ? `Last ${count(s.last.pages)}` : "Last pages"} value={percent(s.last?.harvest)} more={interval(s.last?.interval)} />
      {s.running && <Tile name="Pages a second" value={s.pages_per_second == null ? "–" : s.pages_per_second.toFixed(1)} />}
      {s.running && s.next?.upper != null && <Tile name={`Next ${count(s.next.pages)}`} value={`≤ ${percent(s.next.upper)}`} more="on topic, 99 % sure" />}
      <Tile name="Waiting links" value={count(s.queue)} more={counted(s.hosts, "host")} />
      {s.whole ? null : s.running
        ? <Tile name="Time left" value={s.paused ? "paused" : duration(s.seconds_left)} />
        : <Tile name="Took" value={duration(s.seconds)} />}
    </dl>
  );
}

function States({ n, s }: { n: number; s: Status }) {
  const states = Object.entries(s.by_state ?? {}).filter(([, c]) => c > 0).sort((a, b) => b[1] - a[1]);
  const most = Math.max(0, ...states.map(([, c]) => c));
  return (
    <>
      <h2 id="states">What became of the requests</h2>
      {states.length === 0 ? <Empty>None has ended yet.</Empty> : (
        <ul class="bars">{states.map(([state, c]) => <Counted key={state} name={stateName(state)} n={c} most={most} to={href(n, "pages", { state })} />)}</ul>
      )}
    </>
  );
}

function Stream({ n, rows, skipped, running }: { n: number; rows: Row[]; skipped: number; running: boolean }) {
  const latest = useLoad(`latest/${n}`, (signal) => get<{ rows: Row[] | null }>(n, "pages", { sort: "time", order: "desc", limit: 30 }, signal));
  const seen = new Set(rows.map((r) => r.url));
  const all = [...rows, ...(latest.value?.rows ?? []).filter((r) => !seen.has(r.url))].slice(0, 40);
  return (
    <>
      <h2 id="stream">{running ? "Pages as they come" : "Last pages"}</h2>
      {all.length === 0 ? <Empty>None yet.</Empty> : (
        <div class="stream" tabIndex={0} role="group" aria-labelledby="stream">
          <ul class="rows">
            {all.map((r) => (
              <li key={r.url}>
                <PageLink store={n} url={r.url} title={r.title} />
                <span class="side"><Score value={r.score} /><Verdict row={r} /></span>
                <small><HostName host={r.host} /></small>
              </li>
            ))}
          </ul>
        </div>
      )}
      {skipped > 0 && <p class="note">{counted(skipped, "page")} came too fast to be listed here.</p>}
    </>
  );
}

function Queue({ n, running }: { n: number; running: boolean }) {
  const q = useLoad(`queue/${n}`, (signal) => get<{ total: number; links: QueueLink[] | null }>(n, "queue", { limit: 20 }, signal), running ? queueEvery : 0);
  const links = q.value?.links ?? [];
  return (
    <>
      <h2 id="queue">Best links waiting</h2>
      <Problem text={q.error} />
      {q.value && links.length === 0 && <Empty>No link waits.</Empty>}
      {links.length > 0 && (
        <div class="stream" tabIndex={0} role="group" aria-labelledby="queue">
          <ol class="rows">
            {links.map((l) => (
              <li key={l.url}>
                <PageLink store={n} url={l.url} title={l.text} />
                <span class="side"><Score value={l.score} /></span>
                <small><Web text={l.url} length={90} /></small>
                <small title={clean(l.reasons?.join("\n"), 2000)}><Web text={reasons(l)} length={200} /></small>
              </li>
            ))}
          </ol>
        </div>
      )}
    </>
  );
}

/** The reasons of a link in short; the whole stands in its title: "link words +1.15: odds × 1.8 …". */
function reasons(l: QueueLink): string {
  return (l.reasons ?? []).map((r) => r.split(": ")[0]).filter((r) => !r.startsWith("start ")).slice(0, 4).join(" · ");
}

function Rests({ n, rests }: { n: number; rests: Rest[] }) {
  return (
    <>
      <h2 id="rests">Hosts at rest</h2>
      {rests.length === 0 ? <Empty>No host rests longer than usual.</Empty> : (
        <ul class="rows">
          {rests.slice(0, 20).map((r) => (
            <li key={r.host}>
              <a href={href(n, "pages", { host: r.host })}><HostName host={r.host} /></a>
              <span class="side num">{duration((new Date(r.until).getTime() - Date.now()) / 1000)}</span>
              <small><Web text={r.why} length={120} /></small>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** Lets a crawl that has ended go on. */
function Resume({ n, s }: { n: number; s: Status }) {
  const now = useLoad<Starting>("start", starting, 2000);
  const [most, setMost] = useState(String(Math.max(s.limits?.max_pages ?? 0, s.fetched + 200)));
  const [minutes, setMinutes] = useState("30");
  const [demo, setDemo] = useState<boolean | null>(null);
  const [ready, setReady] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const [begun, setBegun] = useState<number | null>(null);
  const job = now.value?.jobs.find((j) => j.id === begun);
  const before = now.value?.jobs.find((j) => j.store === n && j.id !== begun); // its manner is kept
  const onDemo = demo ?? before?.line.includes("--proxy=") ?? false;
  const task: Task = { kind: "resume", store: n, max_pages: Number(most) || 0, minutes: Number(minutes) || 0, demo: onDemo };
  const start = async (t: Task) => {
    try {
      setProblem(null);
      const j = await run(t);
      if (t.kind === "resume") setBegun(j.id);
      now.again();
    } catch (err) {
      setProblem(message(err));
    }
  };
  const choose = (is: boolean) => {
    setDemo(is);
    if (is && !now.value?.web) void start({ kind: "web" });
  };
  return (
    <form onSubmit={(e) => { e.preventDefault(); void start(task); }}>
      <h2 id="resume">Go on with this crawl</h2>
      <div class="inline">
        <label>Pages at most, in all<input type="number" min="1" value={most} onInput={(e) => setMost(e.currentTarget.value)} /></label>
        <label>Minutes at most<input type="number" min="0" step="any" value={minutes} onInput={(e) => setMinutes(e.currentTarget.value)} /></label>
        <button type="submit" class="main" disabled={!ready || job?.state === "running"}>Go on</button>
      </div>
      <label class="check"><input type="checkbox" checked={onDemo} onChange={(e) => choose(e.currentTarget.checked)} />On the demo's web</label>
      <Preview task={task} ready={setReady} key={String(now.value?.web)} />
      <Problem text={problem} />
      {job?.state === "failed" && <pre class="problem" tabIndex={0}>{output(job.text)}</pre>}
    </form>
  );
}

function Controls({ n, s }: { n: number; s: Status }) {
  const [said, say] = useState<{ error?: string; done?: string }>({});
  const send = async (body: unknown, done: string) => {
    try {
      await post(n, "crawl", body);
      say({ done });
    } catch (err) {
      say({ error: message(err) });
    }
  };
  const limits = (e: SubmitEvent) => {
    e.preventDefault();
    const form = e.currentTarget as HTMLFormElement;
    const to: Partial<Limits> = {};
    for (const [name, unit] of [["max_pages", 1], ["max_seconds", 60]] as const) {
      const field = form.elements.namedItem(name) as HTMLInputElement;
      if (field.value !== "" && field.value !== field.defaultValue) to[name] = Math.round(Number(field.value) * unit);
    }
    if (Object.keys(to).length === 0) say({ done: "No limit was changed." });
    else void send({ limits: to }, "The limits are changed.");
  };
  const exclude = (e: SubmitEvent) => {
    e.preventDefault();
    const form = e.currentTarget as HTMLFormElement;
    const what = String(new FormData(form).get("what")).trim();
    if (!what) return;
    void send({ exclude: /^[\w.-]+(:\d+)?$/.test(what) ? { host: what } : { pattern: what } }, `${what} is excluded.`);
    form.reset();
  };
  return (
    <>
      <h2 id="controls">Controls</h2>
      <div class="buttons">
        {s.paused
          ? <button type="button" class="main" onClick={() => send({ action: "go" }, "The crawl goes on.")}>Go on</button>
          : <button type="button" onClick={() => send({ action: "pause" }, "The crawl is paused.")}>Pause</button>}
        <button type="button" onClick={() => confirm("Stop the crawl? It can go on later.") && send({ action: "stop" }, "The crawl is stopping.")} disabled={s.stopping}>Stop</button>
      </div>
      <form class="inline" onSubmit={limits}>
        <label>Pages at most<input name="max_pages" type="number" min="0" defaultValue={String(s.limits?.max_pages ?? 0)} /></label>
        <label>Minutes at most<input name="max_seconds" type="number" min="0" step="0.1" defaultValue={String(Math.round((s.limits?.max_seconds ?? 0) / 6) / 10)} /></label>
        <button type="submit">Set</button>
      </form>
      <p class="note">0 means no limit; an empty field changes nothing.</p>
      <form class="inline" onSubmit={exclude}>
        <label class="grow">Exclude a host or a pattern of URLs<input name="what" placeholder="shop.example.org" autocomplete="off" spellcheck={false} /></label>
        <button type="submit">Exclude</button>
      </form>
      <p class="note" role="status">{said.done}</p>
      <Problem text={said.error ?? null} />
    </>
  );
}
