// A crawl's events. One tab of a browser holds the connection, since HTTP/1.1 gives a host only six;
// it passes the events to the others. When it closes, another takes over.

import { signal, type Signal } from "@preact/signals";
import { address, get, type Rest, type Row, type Status } from "./api";
import { message } from "./bits";
import { grow, type Point } from "./curve";

const drawEvery = 250; // ms between two updates of the page
const mostRows = 60; // of the stream of pages
const loadEvery = 3000; // ms between two tries to load a status that the server refuses

export type Link = "connecting" | "live" | "lost";

/** What a tab knows of one crawl. */
export interface Live {
  status: Signal<Status | null>;
  curve: Signal<Point[]>;
  rows: Signal<Row[]>; // the newest first
  skipped: Signal<number>; // pages that came too fast to be listed
  rests: Signal<Rest[]>;
  link: Signal<Link>;
  problem: Signal<string | null>; // why the server does not tell the status
  close(): void;
}

type Kind = "status" | "pages" | "rest" | "link" | "hello";

/** Milliseconds before the nth new try to connect: 1 s, 2 s, 4 s … 30 s, and up to a quarter more. */
export function backoff(n: number, random = Math.random()): number {
  return Math.min(30_000, 1000 * 2 ** n) * (1 + random / 4);
}

/** Rows that came before those that were, each list with the newest first; one of each URL, at most 60. */
export function newest(came: Row[], were: Row[]): Row[] {
  const rows = new Map<string, Row>();
  for (const r of [...came, ...were]) if (!rows.has(r.url)) rows.set(r.url, r);
  return [...rows.values()].slice(0, mostRows);
}

/** Follows the crawl of a store until close. */
export function follow(store: number): Live {
  const live: Live = {
    status: signal(null), curve: signal([]), rows: signal([]), skipped: signal(0), rests: signal([]), link: signal("connecting"), problem: signal(null),
    close: () => ending.abort(),
  };
  const ending = new AbortController();
  const painter = paintLater(live);
  const channel = new BroadcastChannel(`fossick-${store}`);
  let leading: ((kind: Kind, data: unknown) => void) | null = null;
  const take = (kind: Kind, data: unknown) => {
    if (kind === "hello") leading?.("link", live.link.peek());
    else {
      if (kind !== "link") painter.add("link", "live"); // also in a tab that asked while it was lost
      painter.add(kind, data);
    }
  };
  channel.onmessage = (m: MessageEvent<{ kind: Kind; data: unknown }>) => take(m.data.kind, m.data.data);
  channel.postMessage({ kind: "hello" });
  ending.signal.addEventListener("abort", () => {
    channel.close();
    painter.stop();
    window.clearTimeout(timer);
  });
  let timer = 0;
  const load = async () => {
    window.clearTimeout(timer);
    try {
      const s = await get<Status>(store, "status", {}, ending.signal);
      live.problem.value = null;
      live.curve.value = s.curve ?? [];
      painter.add("status", s);
    } catch (err) {
      if (ending.signal.aborted) return;
      live.problem.value = message(err);
      window.clearTimeout(timer);
      timer = window.setTimeout(load, loadEvery);
    }
  };
  void load();
  const tell = (kind: Kind, data: unknown) => {
    if (ending.signal.aborted) return;
    take(kind, data);
    channel.postMessage({ kind, data });
  };
  lead(`fossick-events-${store}`, ending.signal, () => {
    leading = (kind, data) => channel.postMessage({ kind, data });
    return listen(address(store, "events"), tell, load, ending.signal);
  });
  return live;
}

/** Runs work while this tab alone holds a lock; without locks, each tab runs it. */
function lead(name: string, signal: AbortSignal, work: () => Promise<void>): void {
  const run = navigator.locks ? navigator.locks.request(name, { signal }, work) : work();
  run.catch((err: unknown) => {
    if (!signal.aborted) throw err;
  });
}

/** Reads events until the signal, and connects again after each loss. */
function listen(url: string, tell: (kind: Kind, data: unknown) => void, load: () => Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    let tries = 0;
    let timer = 0;
    let source: EventSource | null = null;
    const connect = () => {
      source = new EventSource(url);
      source.onopen = () => {
        if (tries > 0) void load();
      };
      for (const kind of ["status", "pages", "rest"] as const) {
        source.addEventListener(kind, (e) => {
          tries = 0; // only now: a server that accepts and ends at once is not asked without a pause
          tell(kind, JSON.parse(e.data));
        });
      }
      source.onerror = () => {
        source?.close();
        tell("link", "lost");
        timer = window.setTimeout(connect, backoff(tries++));
      };
    };
    signal.addEventListener("abort", () => {
      window.clearTimeout(timer);
      source?.close();
      done();
    });
    if (signal.aborted) done();
    else connect();
  });
}

/** Collects events and shows them by animation frames, a few times a second; a hidden tab waits. */
function paintLater(live: Live) {
  let status: Status | null = null;
  let rests: Rest[] | null = null;
  let rows: Row[] = [];
  let skipped = 0;
  let link: Link | null = null;
  let frame = 0;
  let last = -drawEvery;
  const paint = (now: number) => {
    frame = 0;
    if (now - last < drawEvery) return plan();
    last = now;
    if (status) {
      live.status.value = status;
      live.curve.value = grow(live.curve.peek(), status);
    }
    if (rests) live.rests.value = rests;
    if (rows.length) live.rows.value = newest(rows, live.rows.peek());
    if (skipped) live.skipped.value += skipped;
    if (link) live.link.value = link;
    [status, rests, rows, skipped, link] = [null, null, [], 0, null];
  };
  const plan = () => {
    frame ||= requestAnimationFrame(paint);
  };
  return {
    add(kind: Kind, data: unknown) {
      if (kind === "status") status = data as Status;
      else if (kind === "rest") rests = (data as { hosts: Rest[] | null }).hosts ?? [];
      else if (kind === "link") link = data as Link;
      else if (kind === "pages") {
        const came = data as { pages: Row[] | null; skipped: number };
        rows = newest((came.pages ?? []).slice().reverse(), rows);
        skipped += came.skipped;
      }
      plan();
    },
    stop: () => cancelAnimationFrame(frame),
  };
}
