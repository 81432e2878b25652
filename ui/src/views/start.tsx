// Where a newcomer begins: the demo, a topic of one's own, a crawl; and the commands that run.

import { useEffect, useRef, useState } from "preact/hooks";
import { lineOf, run, sendExamples, starting, stopJob, type Job, type Starting, type Task } from "../api";
import { Command, Empty, message, Problem, useLoad, Web } from "../bits";
import { count, counted, output } from "../format";
import { href } from "../route";
import { sortFile, urlsOf, type Example } from "../examples";

const jobsEvery = 1000; // ms between two looks at the commands
const previewAfter = 250; // ms without a change to the next look at a command
const fewestPages = 5; // to learn a topic from

/** A page of the demo's web that leads to many others. */
const demoStart = "http://nightsky-almanac.test/links/science.html";

export function Start({ opened }: { opened: (store: number) => Promise<void> }) {
  const now = useLoad<Starting>("start", starting, jobsEvery);
  const [waiting, setWaiting] = useState<number | null>(null); // the command whose store is to be opened
  const [made, setMade] = useState(""); // the topic that was made last
  const [problem, setProblem] = useState<string | null>(null);
  const jobs = now.value?.jobs ?? [];
  const job = jobs.find((j) => j.id === waiting);
  useEffect(() => {
    if (job?.store != null) {
      setWaiting(null);
      opened(job.store).catch((err: unknown) => setProblem(message(err)));
    }
  }, [job?.store]);
  const start = async (task: Task) => {
    setProblem(null);
    try {
      const j = await run(task);
      if (task.kind === "demo" || task.kind === "crawl") setWaiting(j.id);
      if (task.kind === "topic") setMade(task.topic ?? "");
      now.again();
    } catch (err) {
      setProblem(message(err));
    }
  };
  const latest = jobs.find((j) => j.kind === "topic");
  return (
    <>
      <h1>Start</h1>
      <p class="lead">Make a topic, crawl for it, and judge its pages. Each button runs the command below it.</p>
      <Problem text={problem ?? now.error} />
      <div class="columns">
        <section class="card" aria-labelledby="demo">
          <h2 id="demo">See it work</h2>
          <p>The demo trains a classifier and crawls a small web on this machine for half a minute. It needs no network.</p>
          <div class="buttons"><button type="button" class="main" disabled={jobs.some((j) => j.kind === "demo" && active(j))} onClick={() => start({ kind: "demo" })}>Start the demo</button></div>
          <Preview task={{ kind: "demo" }} />
        </section>
        <section class="card" aria-labelledby="jobs"><Jobs jobs={jobs} most={now.value?.most ?? 0} failed={setProblem} again={now.again} /></section>
        <section class="card" aria-labelledby="topic"><TopicForm now={now.value} job={latest} start={start} failed={setProblem} /></section>
        <section class="card" aria-labelledby="crawl"><CrawlForm now={now.value} made={made} start={start} /></section>
      </div>
    </>
  );
}

const active = (j: Job) => j.state === "running" || j.state === "stopping";

/** The command of a task, or what is missing; ready tells which. */
export function Preview({ task, ready, missing }: { task: Task; ready?: (is: boolean) => void; missing?: string }) {
  const key = JSON.stringify(task);
  const [got, set] = useState<{ line: string | null; error: string | null }>({ line: null, error: null });
  useEffect(() => {
    set({ line: null, error: null });
    ready?.(false);
    if (missing) return;
    const ending = new AbortController();
    const timer = setTimeout(() => {
      lineOf(task, ending.signal).then((line) => { set({ line, error: null }); ready?.(true); }, (err) => {
        if (ending.signal.aborted) return;
        set({ line: null, error: message(err) });
        ready?.(false);
      });
    }, previewAfter);
    return () => { clearTimeout(timer); ending.abort(); };
  }, [key, missing]);
  if (missing) return <p class="note">{missing}</p>;
  if (got.line) return <Command line={got.line} />;
  return <p class="note">{got.error ?? "…"}</p>;
}

function Jobs({ jobs, most, failed, again }: { jobs: Job[]; most: number; failed: (text: string) => void; again: () => void }) {
  const stop = (j: Job) => stopJob(j.id).then(again, (err) => failed(message(err)));
  return (
    <>
      <h2 id="jobs">Commands</h2>
      {jobs.length === 0 ? <Empty>None was started here yet. Up to {count(most)} run at the same time; they stop when fossick ui ends.</Empty> : (
        <ul class="plain jobs">
          {jobs.map((j) => (
            <li key={j.id}>
              <p class="jobhead">
                <span class={j.state === "failed" ? "tag bad" : active(j) ? "tag good" : "tag"}>{j.state}</span>
                <strong>{jobName(j)}</strong>
                {j.store != null && <a href={href(j.store, "crawl")}>open</a>}
                {j.state === "running" && <button type="button" class="small" onClick={() => stop(j)}>Stop</button>}
              </p>
              <Command line={j.line} />
              {j.text && <details open={j.state === "failed"}><summary>What it says</summary><pre tabIndex={0}>{output(j.text)}</pre></details>}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function jobName(j: Job): string {
  return { demo: "Demo", web: "The demo's web", topic: "New topic", crawl: "Crawl", resume: "Crawl, resumed" }[j.kind];
}

const lines = (text: string) => text.split(/[\n\s]+/).filter(Boolean);
const words = (text: string) => text.split(/[,\n]/).map((w) => w.trim()).filter(Boolean);

function TopicForm({ now, job, start, failed }: { now: Starting | null; job?: Job; start: (t: Task) => Promise<void>; failed: (text: string | null) => void }) {
  const [name, setName] = useState("");
  const [keywords, setKeywords] = useState("");
  const [seeds, setSeeds] = useState("");
  const [contact, setContact] = useState("");
  const [demo, setDemo] = useState(false);
  const [files, setFiles] = useState<Example[]>([]);
  const [over, setOver] = useState(false);
  const [ready, setReady] = useState(false);
  const picker = useRef<HTMLInputElement>(null);
  const pages = files.filter((f) => f.kind === "page");
  const listed = files.filter((f) => f.kind === "list");
  const starts = lines(seeds).length + listed.reduce((n, f) => n + f.urls, 0);
  const fromSeeds = words(keywords).length === 0 && pages.length === 0;
  const task: Task = { kind: "topic", topic: name.trim(), keywords: words(keywords), seeds: lines(seeds), pages: pages.length > 0, list: listed.length > 0, ...(fromSeeds ? { contact, demo } : {}) };
  const missing = name.trim() === "" ? "Give the topic a name."
    : fromSeeds && starts === 0 ? "Type words, or drop pages or a list of start pages."
    : fromSeeds && demo && !now?.web ? "The demo's web is being started…" : undefined;
  const take = async (come: Iterable<File>) => {
    const more = await Promise.all([...come].map(sortFile));
    setFiles((was) => [...was, ...more.filter((m) => !was.some((w) => w.file.name === m.file.name && w.file.size === m.file.size))]);
  };
  const drop = (e: DragEvent) => {
    const links = e.dataTransfer?.getData("text/uri-list") || ""; // a link dragged from another page
    if (e.dataTransfer?.files.length) void take(e.dataTransfer.files);
    else if (urlsOf(links)) setSeeds((was) => [...lines(was), ...urlsOf(links)!].join("\n"));
  };
  const make = async (e: SubmitEvent) => {
    e.preventDefault();
    failed(null);
    try {
      if (pages.length + listed.length > 0) await sendExamples(task.topic!, [...pages, ...listed] as { kind: "page" | "list"; file: File }[]);
    } catch (err) {
      failed(message(err));
      return;
    }
    await start(task);
  };
  return (
    <form onSubmit={make}>
      <h2 id="topic">Make a topic</h2>
      <label class="field">Name<input value={name} placeholder="bees" required autocomplete="off" onInput={(e) => setName(e.currentTarget.value)} /></label>
      <label class="field">Words that its pages use<input value={keywords} placeholder="bee, hive, honey" autocomplete="off" onInput={(e) => setKeywords(e.currentTarget.value)} /></label>
      <label class="field">Start pages, one a line<textarea rows={2} value={seeds} placeholder="https://example.org/bees" spellcheck={false} onInput={(e) => setSeeds(e.currentTarget.value)} /></label>
      <div
        class={over ? "drop over" : "drop"}
        onDragOver={(e) => { e.preventDefault(); setOver(true); }}
        onDragLeave={() => setOver(false)}
        onDrop={(e) => { e.preventDefault(); setOver(false); drop(e); }}
      >
        <p>Drop saved pages on the topic (.html, .txt), lists of start pages, or links.</p>
        <button type="button" onClick={() => picker.current?.click()}>Choose files</button>
        <input ref={picker} class="hidden" id="files" type="file" multiple accept=".html,.htm,.txt,.tsv,.csv,.md" aria-label="Examples" tabIndex={-1} onChange={(e) => { void take(e.currentTarget.files ?? []); e.currentTarget.value = ""; }} />
      </div>
      {fromSeeds && starts > 0 && (
        <>
          <p class="note">Without words and pages, the words come from the start pages, which are fetched.</p>
          <Reach contact={contact} setContact={setContact} demo={demo} setDemo={setDemo} now={now} start={start} />
        </>
      )}
      <h3>What the topic is made of</h3>
      <ul class="plain made">
        <li>{words(keywords).length > 0 || files.length + starts === 0 ? counted(words(keywords).length, "word") : `Words chosen from the ${pages.length > 0 ? "pages" : "start pages"}`}</li>
        <li>{counted(starts, "start page")}</li>
        <li>
          {counted(pages.length, "page")} to learn from{pages.length > 0 && pages.length < fewestPages ? `; at least ${fewestPages} are needed, 30 make a good model` : pages.length === 0 ? ": no model, the words alone decide" : ""}
        </li>
        {files.map((f) => (
          <li key={f.file.name + f.file.size} class="file">
            <span><Web text={f.title} length={80} /> <small>{f.kind === "page" ? counted(f.words, "word") : f.kind === "list" ? counted(f.urls, "start page") : "left out: no text"}</small></span>
            <button type="button" class="small" aria-label={`Remove ${f.file.name}`} onClick={() => setFiles((was) => was.filter((w) => w !== f))}>Remove</button>
          </li>
        ))}
      </ul>
      <div class="buttons"><button type="submit" class="main" disabled={!ready || (job != null && active(job))}>Make the topic</button></div>
      <Preview task={task} ready={setReady} key={now?.web ?? ""} missing={missing} />
      {job && !active(job) && <div role="status"><p class={job.state === "done" ? "notice" : "problem"}>{job.state === "done" ? "The topic is made. Crawl for it next." : "The topic was not made."}</p><pre tabIndex={0}>{output(job.text)}</pre></div>}
      {job && active(job) && <p class="notice" role="status">The topic is being made…</p>}
    </form>
  );
}

interface ReachProps {
  contact: string;
  setContact: (text: string) => void;
  demo: boolean;
  setDemo: (is: boolean) => void;
  now: Starting | null;
  start: (t: Task) => Promise<void>;
}

/** The public web, with a contact; or the demo's web, which is started for it. */
export function Reach({ contact, setContact, demo, setDemo, now, start }: ReachProps) {
  const choose = (is: boolean) => {
    setDemo(is);
    if (is && !now?.web) void start({ kind: "web" });
  };
  return (
    <>
      <label class="check"><input type="checkbox" name="demo" checked={demo} onChange={(e) => choose(e.currentTarget.checked)} />Crawl the demo's web on this machine, not the public web</label>
      {demo ? <p class="note">{now?.web ? <>It answers at {now.web}.</> : "It is being started…"}</p> : (
        <label class="field">Your mail address or web page, which sites see<input value={contact} placeholder="you@example.org" autocomplete="email" onInput={(e) => setContact(e.currentTarget.value)} /></label>
      )}
    </>
  );
}

function CrawlForm({ now, made, start }: { now: Starting | null; made: string; start: (t: Task) => Promise<void> }) {
  const [chosen, setChosen] = useState("");
  const [seeds, setSeeds] = useState("");
  const [contact, setContact] = useState("");
  const [demo, setDemo] = useState(false);
  const [limits, setLimits] = useState({ max_pages: "500", minutes: "30", per_host: "", depth: "", links: "", lang: "" });
  const [ready, setReady] = useState(false);
  useEffect(() => { if (made) setChosen(made); }, [made]);
  const topics = now?.topics ?? [];
  const own = topics.filter((t) => !t.built_in);
  const topic = topics.find((t) => t.name === chosen)?.name ?? own[0]?.name ?? topics[0]?.name ?? "";
  const limit = (name: keyof typeof limits) => ({ value: limits[name], onInput: (e: { currentTarget: { value: string } }) => setLimits({ ...limits, [name]: e.currentTarget.value }) });
  const task: Task = {
    kind: "crawl", topic, seeds: lines(seeds), contact: demo ? "" : contact, demo, links: limits.links, lang: limits.lang.trim(),
    max_pages: Number(limits.max_pages) || 0, minutes: Number(limits.minutes) || 0, per_host: Number(limits.per_host) || 0, depth: Number(limits.depth) || 0,
  };
  const reachDemo = (is: boolean) => {
    setDemo(is);
    const given = topics.find((t) => t.name === topic);
    if (is && seeds.trim() === "" && !given?.seeds?.some((s) => /^https?:\/\/[^/]*\.test\b/.test(s))) setSeeds(demoStart);
    if (!is && seeds.trim() === demoStart) setSeeds("");
  };
  const missing = demo && !now?.web ? "The demo's web is being started…" : !demo && contact.trim() === "" ? "Give your mail address or web page: sites can then reach you." : undefined;
  return (
    <form onSubmit={(e) => { e.preventDefault(); void start(task); }}>
      <h2 id="crawl">Crawl</h2>
      <label class="field">Topic
        <select value={topic} onChange={(e) => setChosen(e.currentTarget.value)}>
          {own.length > 0 && <optgroup label="Your own">{own.map((t) => <option key={t.name}>{t.name}</option>)}</optgroup>}
          <optgroup label="Built in">{topics.filter((t) => t.built_in).map((t) => <option key={t.name}>{t.name}</option>)}</optgroup>
        </select>
      </label>
      <Reach contact={contact} setContact={setContact} demo={demo} setDemo={reachDemo} now={now} start={start} />
      <label class="field">Start pages, one a line, besides the topic's<textarea rows={2} value={seeds} spellcheck={false} onInput={(e) => setSeeds(e.currentTarget.value)} /></label>
      <div class="inline">
        <label>Pages at most<input type="number" min="1" {...limit("max_pages")} /></label>
        <label>Minutes at most<input type="number" min="0" step="any" {...limit("minutes")} /></label>
      </div>
      <details>
        <summary>Advanced</summary>
        <div class="inline">
          <label>Links to follow<select value={limits.links} onChange={limit("links").onInput}><option value="">all</option><option value="site">same site</option><option value="external">other hosts</option></select></label>
          <label>Language<input {...limit("lang")} placeholder="any" /></label>
          <label>Pages of a host<input type="number" min="0" {...limit("per_host")} placeholder="any" /></label>
          <label>Links from a start page<input type="number" min="0" {...limit("depth")} placeholder="any" /></label>
        </div>
      </details>
      <div class="buttons"><button type="submit" class="main" disabled={!ready}>Start the crawl</button></div>
      <Preview task={task} ready={setReady} key={now?.web ?? ""} missing={missing} />
    </form>
  );
}
