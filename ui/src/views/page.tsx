// One page: how the crawl came to it, what weighed in its text, its links, events and snapshot.

import { useState } from "preact/hooks";
import { address, get, post, type Label, type Page as PageAnswer, type Story } from "../api";
import type { ViewProps } from "../app";
import { Empty, message, PageLink, Problem, Score, Tile, useLoad, Verdict, Web } from "../bits";
import { bytes, clean, count, isWeb, score, stateName, time } from "../format";
import { marked } from "../marked";
import { href } from "../route";

const shownTerms = 6;

export function Page({ n, store, query }: ViewProps) {
  const url = query.get("url") ?? "";
  const page = useLoad(`page/${n}/${url}`, (signal) => get<PageAnswer>(n, "page", { url }, signal));
  const story = useLoad(`story/${n}/${url}`, (signal) => get<Story>(n, "story", { url }, signal));
  const p = page.value;
  return (
    <>
      <p class="note"><a href={href(n, "pages")}>All pages</a></p>
      <h1><Web text={p?.row.title || url} /></h1>
      <p class="url"><Web text={url} />{" "}{isWeb(url) && <a href={url} target="_blank" rel="noopener noreferrer">on the web</a>}</p>
      {story.value && <p class="lead"><Web text={story.value.verdict} length={600} /></p>}
      {!p && <Problem text={story.error ?? null} />}
      {p && <Facts key={url} p={p} n={n} topics={store.topics ?? []} again={page.again} />}
      {story.value && <Path n={n} story={story.value} />}
      <div class="columns">
        {p && <section class="card wide" aria-labelledby="text"><Text p={p} /></section>}
        {story.value && <section class="card" aria-labelledby="events"><Events story={story.value} /></section>}
        {p && <section class="card" aria-labelledby="in"><LinksIn n={n} p={p} /></section>}
        {p && <section class="card" aria-labelledby="out"><LinksOut n={n} p={p} /></section>}
        {p && <section class="card whole" aria-labelledby="snapshot"><Snapshot n={n} url={url} /></section>}
      </div>
      {!p && page.error && <p class="note">{page.error}</p>}
    </>
  );
}

function Facts({ p, n, topics, again }: { p: PageAnswer; n: number; topics: string[]; again: () => void }) {
  const [error, setError] = useState<string | null>(null);
  const [topic, setTopic] = useState(p.row.topic || topics[0]);
  const label = async (l: Label) => {
    try {
      await post(n, "label", { labels: [{ url: p.row.url, label: l }], ...(topics.length > 1 ? { topic } : {}) });
      setError(null);
      again();
    } catch (err) {
      setError(message(err));
    }
  };
  return (
    <>
      <dl class="tiles">
        <Tile name="Score" value={score(p.row.score)} />
        <Tile name="Verdict" value={<Verdict row={p.row} />} />
        <Tile name="Type" value={p.row.type || "–"} more={p.row.lang || null} />
        <Tile name="Size" value={bytes(p.row.bytes)} />
        <Tile name="Fetched" value={<span class="date">{time(p.row.time)}</span>} />
      </dl>
      <div class="buttons">
        {topics.length > 1 && <select aria-label="Topic" value={topic} onChange={(e) => setTopic(e.currentTarget.value)}>{topics.map((t) => <option key={t}>{t}</option>)}</select>}
        <button type="button" class="yes" onClick={() => label("yes")}>On topic</button>
        <button type="button" class="no" onClick={() => label("no")}>Off topic</button>
      </div>
      <Problem text={error} />
    </>
  );
}

function Path({ n, story }: { n: number; story: Story }) {
  const steps = story.path ?? [];
  if (steps.length < 2) return null;
  return (
    <section aria-labelledby="path">
      <h2 id="path">The way here from a start page</h2>
      <ol class="path">
        {steps.map((s, i) => (
          <li key={s.url}>
            {i === steps.length - 1 ? <span class="title"><Web text={s.title || s.url} length={90} /></span> : <PageLink store={n} url={s.url} title={s.title} />}
            <Score value={s.score} />
          </li>
        ))}
      </ol>
    </section>
  );
}

function Text({ p }: { p: PageAnswer }) {
  const words = p.words ?? [];
  const blocks = p.blocks ?? [];
  const most = Math.max(1e-9, ...words.map((w) => Math.abs(w.weight)));
  const tone = (weight: number) => `${weight > 0 ? "for" : "against"}${Math.abs(weight) > most / 2 ? " strong" : ""}`;
  return (
    <>
      <h2 id="text">Its text</h2>
      {words.length > 0 && (
        <p class="words">
          Words that weighed: {words.slice(0, 12).map((w) => <mark key={w.word} class={tone(w.weight)}>{clean(w.word, 40)} {w.weight > 0 ? "+" : "−"}{Math.abs(w.weight).toFixed(2)}</mark>)}
        </p>
      )}
      {blocks.length === 0 && <Empty>It has no text.</Empty>}
      <div class="prose" tabIndex={0} role="group" aria-labelledby="text" dir="auto">
        {blocks.map((b, i) => {
          const pieces = marked(b.text.split("\n", 500).map((line) => clean(line, 20_000)).join("\n"), words).map((t, k) => (t.weight ? <mark key={k} class={tone(t.weight)} title={t.weight.toFixed(2)}>{t.text}</mark> : t.text));
          return <p key={i} class={b.heading ? "heading" : ""}>{pieces}</p>;
        })}
      </div>
    </>
  );
}

function Events({ story }: { story: Story }) {
  const [all, setAll] = useState(false);
  const terms = (story.score?.terms ?? []).slice();
  const first = terms.filter((t) => t.value !== 0).sort((a, b) => Math.abs(b.value) - Math.abs(a.value)).slice(0, shownTerms);
  const times = Object.entries(story.times ?? {}).filter((e): e is [string, string] => e[1] !== null && Number.isFinite(Date.parse(e[1])));
  return (
    <>
      <h2 id="events">What happened</h2>
      <ul class="plain">{(story.reasons ?? []).map((r, i) => <li key={i}><Web text={r} length={400} /></li>)}</ul>
      <dl class="pairs">
        {times.map(([name, at]) => <div key={name}><dt>{name}</dt><dd class="num">{time(at)}</dd></div>)}
        {(story.visits ?? []).map((v, i) => <div key={i}><dt>visit {i + 1}</dt><dd class="num">{time(v.start)}, {stateName(v.state)}{v.code ? ` (${v.code})` : ""}</dd></div>)}
      </dl>
      {terms.length > 0 && (
        <>
          <h3>Parts of its score</h3>
          <table class="table terms">
            <thead><tr><th scope="col">Part</th><th scope="col" class="num">Value</th></tr></thead>
            <tbody>
              {(all ? terms : first).map((t) => (
                <tr key={t.name}><th scope="row">{clean(t.name, 60)}<small class="block">{clean(t.note, 200)}</small></th><td class="num">{t.value.toPrecision(3)}</td></tr>
              ))}
            </tbody>
          </table>
          {terms.length > first.length && <button type="button" class="small" onClick={() => setAll(!all)}>{all ? "The largest only" : `All ${terms.length} parts`}</button>}
        </>
      )}
    </>
  );
}

function LinksIn({ n, p }: { n: number; p: PageAnswer }) {
  const links = p.links_in ?? [];
  return (
    <>
      <h2 id="in">{p.totals.in === null ? `Some links to it` : `${count(p.totals.in)} links to it${links.length < p.totals.in ? `, ${links.length} shown` : ""}`}</h2>
      <ul class="rows long">
        {links.map((l, i) => <li key={i}><PageLink store={n} url={l.url} title={l.title} /><span class="side"><Score value={l.score} /></span><small><Web text={l.text} length={120} /></small></li>)}
      </ul>
    </>
  );
}

function LinksOut({ n, p }: { n: number; p: PageAnswer }) {
  const links = p.links_out ?? [];
  return (
    <>
      <h2 id="out">{count(p.totals.out)} links from it{links.length < p.totals.out ? `, ${links.length} shown` : ""}</h2>
      <ul class="rows long">
        {links.map((l, i) => <li key={i}><PageLink store={n} url={l.url} title={l.text} /><span class="side"><Score value={l.score} /><span class="tag">{stateName(l.state || "unknown")}</span></span><small><Web text={l.url} length={120} /></small></li>)}
      </ul>
    </>
  );
}

function Snapshot({ n, url }: { n: number; url: string }) {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary><h2 id="snapshot">As it was when it was fetched</h2></summary>
      <p class="note">The stored page without scripts, forms and anything from elsewhere.</p>
      {open && <iframe sandbox="" title="Snapshot of the page" src={address(n, "snapshot", { url })} />}
    </details>
  );
}
