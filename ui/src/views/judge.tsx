// One question at a time, answered by keys; and what each answer changes in the queue.

import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { get, post, type Label, type Labelled, type Question, type Said } from "../api";
import type { ViewProps } from "../app";
import { Empty, message, PageLink, Problem, Score, useLoad, Web } from "../bits";
import { isWeb } from "../format";
import { moves, moveText, type Moved } from "../moves";
import { href } from "../route";

type Answer = Label | "unsure" | "skipped";

interface Given {
  question: Question;
  answer: Answer;
}

const ahead = 10; // questions loaded at once
const mostAsked = 200; // of the server at once
const askEvery = 5000; // ms between two looks for questions while there is none
const lastShown = 10;

const keys: Record<string, Answer | "undo"> = { y: "yes", n: "no", u: "unsure", s: "skipped", z: "undo", Backspace: "undo" };

export function Judge({ n, store }: ViewProps) {
  const topics = store.topics ?? [];
  const [topic, setTopic] = useState(topics.length > 1 ? topics[0] : "");
  return (
    <>
      <h1>Is this page on topic{topic || store.topic ? <>: <Web text={topic || store.topic} length={40} /></> : ""}?</h1>
      {topics.length > 1 && <label class="pick">Topic<select value={topic} onChange={(e) => setTopic(e.currentTarget.value)}>{topics.map((t) => <option key={t}>{t}</option>)}</select></label>}
      <JudgeTopic key={topic} n={n} topic={topic} />
    </>
  );
}

/** The questions of one topic; another topic begins anew, so that no label comes under the wrong one. */
function JudgeTopic({ n, topic }: { n: number; topic: string }) {
  const [queue, setQueue] = useState<Question[] | null>(null);
  const [given, setGiven] = useState<Given[]>([]);
  const [turn, setTurn] = useState<Labelled | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const past = useRef(new Set<string>()); // URLs answered here, which the server may ask again
  const busy = useRef(false);
  const question = queue?.[0] ?? null;

  const load = (signal: AbortSignal) => {
    const unjudged = given.filter((g) => !labels(g.answer)).length; // the server asks these again
    return get<{ asked: Question[] | null }>(n, "ask", { n: Math.min(mostAsked, ahead + unjudged), topic }, signal);
  };
  const { value, error, again } = useLoad(`ask/${n}/${topic}`, load, queue?.length === 0 ? askEvery : 0);
  useEffect(() => {
    if (value || error) setQueue((was) => merge(was ?? [], value?.asked ?? [], past.current));
  }, [value, error]);

  const say = (url: string, label: Said) => post<Labelled>(n, "label", { labels: [{ url, label }], ...(topic ? { topic } : {}) });

  const answer = useCallback(async (a: Answer) => {
    if (!question || busy.current) return;
    busy.current = true;
    const { url } = question;
    try {
      if (labels(a)) setTurn(await say(url, a));
      setProblem(null);
      past.current.add(url);
      setGiven((g) => [{ question, answer: a }, ...g]);
      setQueue((q) => (q ?? []).filter((x) => x.url !== url));
      if ((queue?.length ?? 0) < 4) again();
    } catch (err) {
      setProblem(message(err));
    } finally {
      busy.current = false;
    }
  }, [question, queue, n, topic]);

  const undo = useCallback(async () => {
    const [last, ...rest] = given;
    if (!last || busy.current) return;
    busy.current = true;
    const { url } = last.question;
    try {
      if (labels(last.answer)) setTurn(await say(url, "none"));
      setProblem(null);
      setGiven(rest);
      past.current.delete(url);
      setQueue((q) => [last.question, ...(q ?? []).filter((x) => x.url !== url)]);
    } catch (err) {
      setProblem(message(err));
    } finally {
      busy.current = false;
    }
  }, [given, n, topic]);

  useLayoutEffect(() => { // before the question can be seen, so that no key is lost
    const press = (e: KeyboardEvent) => {
      if (e.repeat || e.ctrlKey || e.metaKey || e.altKey || typing(e.target)) return;
      const what = keys[e.key.length === 1 ? e.key.toLowerCase() : e.key];
      if (!what) return;
      e.preventDefault();
      if (what === "undo") void undo();
      else void answer(what);
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [answer, undo]);

  const judged = given.filter((g) => labels(g.answer)).length;
  return (
    <>
      <Problem text={problem ?? error} />
      <div class="columns judge">
        <section class="card wide question" aria-label="Question" aria-live="polite">
          {queue === null ? <Empty>Loading…</Empty> : question ? <Asked n={n} q={question} /> : <Empty>No question is left. More come with more pages.</Empty>}
          <div class="buttons answers">
            <AnswerButton name="Yes" letter="y" kind="yes" off={!question} act={() => answer("yes")} />
            <AnswerButton name="No" letter="n" kind="no" off={!question} act={() => answer("no")} />
            <AnswerButton name="Unsure" letter="u" off={!question} act={() => answer("unsure")} />
            <AnswerButton name="Skip" letter="s" off={!question} act={() => answer("skipped")} />
            <AnswerButton name="Undo" letter="z" off={given.length === 0} act={undo} />
          </div>
        </section>
        <section class="card" aria-labelledby="last">
          <h2 id="last">Last answers{judged > 0 ? ` (${judged} judged)` : ""}</h2>
          {given.length === 0 ? <Empty>None yet. Undo (z or Backspace) takes the last answer back and asks again.</Empty> : (
            <ol class="rows" id="given">
              {given.slice(0, lastShown).map((g) => (
                <li key={g.question.url}>
                  <PageLink store={n} url={g.question.url} title={g.question.title} />
                  <span class="side"><span class={g.answer === "yes" ? "tag good" : g.answer === "no" ? "tag bad" : "tag"}>{g.answer}</span></span>
                </li>
              ))}
            </ol>
          )}
        </section>
        <section class="card whole" aria-labelledby="turned" aria-live="polite"><Turn n={n} turn={turn} /></section>
      </div>
    </>
  );
}

/** Whether an answer is stored as a label. */
function labels(a: Answer): a is Label {
  return a === "yes" || a === "no";
}

/** Appends questions that are neither waiting nor answered. */
function merge(was: Question[], come: Question[], past: Set<string>): Question[] {
  const known = new Set(was.map((q) => q.url));
  return [...was, ...come.filter((q) => !known.has(q.url) && !past.has(q.url))];
}

/** Whether a key press belongs to a field. */
function typing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

function AnswerButton({ name, letter, kind, off, act }: { name: string; letter: string; kind?: string; off: boolean; act: () => void }) {
  return (
    <button type="button" class={kind} disabled={off} aria-keyshortcuts={letter} onClick={(e) => { act(); e.currentTarget.blur(); }}>
      {name} <kbd>{letter}</kbd>
    </button>
  );
}

function Asked({ n, q }: { n: number; q: Question }) {
  return (
    <>
      <p class="note">{q.kind === "link" ? "A link that waits" : "A stored page"}: <Web text={q.why} /></p>
      <h2 class="asked"><Web text={q.title || q.url} length={200} /></h2>
      <p class="url">
        <Web text={q.url} length={200} />{" "}
        {q.kind === "page" ? <a href={href(n, "page", { url: q.url })}>story</a> : null}{" "}
        {isWeb(q.url) && <a href={q.url} target="_blank" rel="noopener noreferrer">on the web</a>}
      </p>
      <p class="excerpt"><Web text={q.text} length={600} /></p>
      <p class="note">The crawl's own guess: <Score value={q.score} /></p>
    </>
  );
}

function Turn({ n, turn }: { n: number; turn: Labelled | null }) {
  if (!turn) return <><h2 id="turned">What the queue will do otherwise</h2><Empty>After each yes or no, the ten best links before and after it stand here.</Empty></>;
  const m = moves(turn.before ?? [], turn.after ?? []);
  const said = turn.changed > 0 ? `${turn.changed} of the ten best links changed.${turn.running ? "" : " The crawl does not run; resumed, it begins with these."}`
    : turn.learned ? "The ten best links stay as they were."
    : turn.running ? "The label is stored. This crawl's order does not learn from labels."
    : "The label is stored. The crawl does not run; it learns from it when it is resumed.";
  return (
    <>
      <h2 id="turned">What the queue will do otherwise</h2>
      <p class="note">{said}</p>
      {m.after.length > 0 && (
        <div class="sides">
          <Side n={n} name="Before" links={m.before} />
          <Side n={n} name="After" links={m.after} marked />
        </div>
      )}
    </>
  );
}

function Side({ n, name, links, marked = false }: { n: number; name: string; links: Moved[]; marked?: boolean }) {
  return (
    <div>
      <h3>{name}</h3>
      <ol class="rows ranked">
        {links.map((l) => {
          const show = marked ? l.move !== 0 : l.move === "gone";
          return (
            <li key={l.url} class={show ? (l.move === "new" || Number(l.move) > 0 ? "rose" : "fell") : ""}>
              <PageLink store={n} url={l.url} />
              <span class="side">{show && <span class="tag">{moveText(l.move)}</span>}<Score value={l.score} /></span>
            </li>
          );
        })}
      </ol>
    </div>
  );
}
