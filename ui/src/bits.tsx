// Small parts that several views share.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Failure, type Row } from "./api";
import { clean, count, hostName, output, percent, score, stateName } from "./format";
import { href } from "./route";

/** Text from the web, kept apart from the direction of the text around it. */
export function Web({ text, length }: { text: string | null | undefined; length?: number }) {
  return <bdi dir="auto">{clean(text, length)}</bdi>;
}

export function HostName({ host }: { host: string }) {
  return <Web text={hostName(host)} length={60} />;
}

/** A page by its title, or its URL if it has none; a link to its story. */
export function PageLink({ store, url, title }: { store: number; url: string; title?: string | null }) {
  const named = clean(title) !== "";
  return (
    <a href={href(store, "page", { url })} class={named ? "title" : "title url"}>
      <Web text={named ? title : url} length={160} />
    </a>
  );
}

/** Whether a page is on topic, by its person's label first; never told by colour alone. */
export function Verdict({ row }: { row: Pick<Row, "label" | "on_topic" | "state"> }) {
  if (row.state !== "ok") return <span class="tag">{stateName(row.state)}</span>;
  const yes = row.label ? row.label === "yes" : row.on_topic;
  return <span class={yes ? "tag good" : "tag"}>{yes ? "on topic" : "off topic"}{row.label ? ", judged" : ""}</span>;
}

/** A score with a bar of its length. */
export function Score({ value }: { value: number | null | undefined }) {
  return (
    <span class="score">
      <span class="num">{score(value)}</span>
      <Bar part={value ?? 0} />
    </span>
  );
}

/** A bar filled to a part in [0,1]; the figure stands beside it. */
function Bar({ part }: { part: number }) {
  return <i class="bar" aria-hidden="true"><i style={{ width: `${100 * Math.min(1, Math.max(0, part))}%` }} /></i>;
}

export function Tile({ name, value, more }: { name: string; value: ComponentChildren; more?: ComponentChildren }) {
  return (
    <div class="tile">
      <dt>{name}</dt>
      <dd>{value}{more ? <small>{more}</small> : null}</dd>
    </div>
  );
}

/** A name with a count and a bar; a link to what it counts. */
export function Counted({ name, n, most, to }: { name: string; n: number; most: number; to: string }) {
  return (
    <li>
      <a href={to} class="counted">
        <span>{name}</span>
        <span class="num">{count(n)}</span>
        <Bar part={n / (most || 1)} />
      </a>
    </li>
  );
}

/** The command that something stands for, to copy. */
export function Command({ line }: { line: string }) {
  const [copied, setCopied] = useState(false);
  const copy = () => navigator.clipboard?.writeText(line).then(() => setCopied(true), () => undefined); // refused: it can be selected
  return (
    <div class="command">
      <code tabIndex={0} role="group" aria-label="Command">{output(line).split(" ").map((word, i) => <>{i > 0 && " "}<span>{word}</span></>)}</code>
      <button type="button" class="small" onClick={copy}>{copied ? "Copied" : "Copy"}</button>
    </div>
  );
}

export function Problem({ text }: { text: string | null }) {
  return text ? <p class="problem" role="alert">{text}</p> : null;
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

export function message(err: unknown): string {
  if (err instanceof Failure) return err.message;
  return `The page stumbled: ${err instanceof Error ? err.message : String(err)}. Load it again.`;
}

export interface Loaded<T> {
  value: T | null;
  error: string | null;
  again: () => void;
}

/** Loads a value when its key changes, and again every few ms if every > 0. The last value stays until a new one is here. */
export function useLoad<T>(key: string, load: (signal: AbortSignal) => Promise<T>, every = 0): Loaded<T> {
  const [got, set] = useState<{ key: string; value: T | null; error: string | null }>({ key, value: null, error: null });
  const [turn, setTurn] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    const ending = new AbortController();
    let timer = 0;
    let started = false;
    const run = (): void => {
      if (document.hidden && started) { // a tab that nobody sees asks nothing again
        timer = window.setTimeout(run, every);
        return;
      }
      started = true;
      void latest.current(ending.signal).then(
        (value) => set({ key, value, error: null }),
        (err) => ending.signal.aborted || set((was) => ({ key, value: was.key === key ? was.value : null, error: message(err) })),
      ).finally(() => {
        if (every > 0 && !ending.signal.aborted) timer = window.setTimeout(run, every);
      });
    };
    run();
    return () => {
      ending.abort();
      window.clearTimeout(timer);
    };
  }, [key, turn, every]);
  return { value: got.key === key ? got.value : null, error: got.key === key ? got.error : null, again: () => setTurn((t) => t + 1) };
}

/** "55 of 400 (14 %)". */
export function share(part: number, whole: number): string {
  return whole ? `${count(part)} of ${count(whole)} (${percent(part / whole)})` : "–";
}
