// The JSON interface of the server (openapi.yaml): its shapes, and requests.

import { query, type Params } from "./route";

export type Label = "yes" | "no";

/** What a person says; "none" takes a label back. */
export type Said = Label | "none";

export interface Store {
  name: string;
  dir: string;
  topic: string;
  topics: string[] | null;
  running: boolean;
  pages: number;
  relevant: number;
  harvest: number | null;
  updated: string | null;
  error?: string | null; // why it cannot be read
}

export interface Limits {
  max_pages: number | null;
  max_seconds: number | null; // of this session
}

export interface Status {
  topic: string;
  fetched: number;
  relevant: number;
  harvest: number | null;
  harvest_interval: [number, number] | null;
  last: { pages: number; relevant: number; harvest: number | null; interval: [number, number] | null } | null;
  requests: number;
  by_state: Record<string, number> | null;
  near_duplicates: number;
  queue: number;
  hosts: number;
  running: boolean;
  changeable?: boolean; // false if this page cannot control the crawl
  paused: boolean;
  stopping: boolean;
  started: string | null;
  limits: Limits | null;
  pages_per_second: number | null;
  seconds_left: number | null;
  seconds: number;
  next: { pages: number; harvest: number | null; upper: number | null } | null;
  network: { down_since: string | null } | null;
  whole?: Whole | null; // of a crawl by several agents
  curve?: { fetched: number; relevant: number }[] | null;
}

/** A crawl by several agents. */
export interface Whole {
  agents: number;
  dead: number;
  partitions: number; // with an owner
  fetched: number;
  relevant: number;
  waiting: number;
  pages_per_second: number;
  max_pages?: number; // of all agents together
}

export interface Agents {
  agents: { name: string; place: string; partitions: number; fetched: number; relevant: number; waiting: number; pages_per_second: number; state: "" | "dead" | "leaving"; heard?: string }[];
  coordinator: string;
  self: string;
  owner: { site: string; partition: number; agent: string } | null;
}

export interface Row {
  url: string;
  title: string;
  host: string;
  state: string;
  code: number;
  score: number | null;
  topic: string;
  on_topic: boolean;
  label: Label | null;
  lang: string;
  type: string;
  time: string | null;
  bytes: number;
  reason?: string; // why it ended so, where the state does not tell
  snippet?: string[] | null; // text, hit, text, hit, …
}

export interface Facet {
  value: string;
  count: number;
}

export interface Pages {
  total: number;
  found?: number; // by the words, without the other filters; the list has the best 10,000 of them
  complete?: boolean; // false while the server still reads the list
  rows: Row[] | null;
  facets?: Record<string, Facet[] | null> | null;
}

export interface QueueLink {
  url: string;
  host: string;
  score: number | null;
  text: string;
  from: string;
  reasons: string[] | null;
}

export interface Host {
  host: string;
  pages: number;
  relevant: number;
  requests: number;
  waiting: number;
  rest_until: string | null;
  rest_why: string | null;
  refused: number;
  errors: number;
  robots: string;
}

export interface Groups {
  total: number;
  copies: number;
  groups: { page: Row; number: number; copies: number }[] | null;
}

export interface HostLinks {
  total: number;
  hosts: { host: string; pages: number; relevant: number; out: number; in: number }[] | null; // those with most pages on topic
  links: { from: number; to: number; links: number }[] | null; // by the places of hosts, the most first
}

export interface ChangeLine {
  url: string;
  title: string;
  at: string;
  what?: string; // changed: content, text or unsure; gone: the state
}

export interface Changes {
  since: string;
  new: ChangeLine[];
  changed: ChangeLine[];
  gone: ChangeLine[];
  totals: { new: number; changed: number; gone: number };
}

export interface Rest {
  host: string;
  until: string;
  why: string;
}

export interface Question {
  url: string;
  title: string;
  text: string;
  score: number | null;
  kind: "page" | "link";
  why: string;
}

export interface Labelled {
  running: boolean;
  learned: boolean;
  before: { url: string; score: number | null }[] | null;
  after: { url: string; score: number | null }[] | null;
  changed: number;
}

export interface Story {
  verdict: string;
  state: string;
  via: string;
  depth: number;
  score: { value: number; terms: { name: string; value: number; note: string }[] | null } | null;
  times: Record<string, string | null> | null;
  reasons: string[] | null;
  visits: { start: string; seconds: number; state: string; code: number }[] | null;
  path: { url: string; title: string; score: number | null }[] | null;
}

export interface Page {
  row: Row;
  blocks: { heading: boolean; text: string }[] | null;
  words: { word: string; weight: number }[] | null;
  links_in: { url: string; title: string; text: string; score: number | null }[] | null;
  links_out: { url: string; text: string; score: number | null; state: string }[] | null;
  totals: { in: number | null; out: number }; // in is null if not all pages were searched
}

let ahead = 0; // ms of the server's clock before ours, as its last answer told

/** The present time by the server's clock, to which the times of pages belong. */
export function serverTime(): string {
  return new Date(Date.now() + ahead).toISOString();
}

/** An error whose message is for the person who uses the page. */
export class Failure extends Error {}

async function reach(path: string, init: RequestInit = {}): Promise<Response> {
  let answer: Response;
  try {
    answer = await fetch(`/api${path}`, { credentials: "same-origin", ...init });
  } catch (err) {
    if (err instanceof DOMException && err.name === "AbortError") throw err;
    throw new Failure("fossick does not answer. Is it still running in its terminal?");
  }
  const date = Date.parse(answer.headers.get("Date") ?? "");
  if (!Number.isNaN(date)) ahead = date - Date.now();
  if (answer.ok) return answer;
  if (answer.status === 401) throw new Failure("This tab is not signed in. Open the address that fossick printed, with its token.");
  const body = await answer.json().catch(() => null);
  throw new Failure(typeof body?.error === "string" ? body.error : `fossick answered ${answer.status}.`);
}

async function ask<T>(path: string, init: RequestInit = {}): Promise<T> {
  const answer = await reach(path, init);
  const body = await answer.json().catch((err: unknown) => {
    if (init.signal?.aborted) throw err;
    return null;
  });
  if (body === null) throw new Failure(`fossick answered ${answer.status} without its answer.`);
  return body as T;
}

const path = (store: number, name: string, params: Params = {}) => {
  const q = query(params);
  return `/stores/${store}/${name}${q ? `?${q}` : ""}`;
};

/** The address of something that the browser itself loads: a snapshot, an export, the events. */
export function address(store: number, name: string, params: Params = {}): string {
  return `/api${path(store, name, params)}`;
}

/** Has the browser save what a request answers with; throws the Failure of a request that is refused. */
export async function save(store: number, name: string, params: Params): Promise<void> {
  const ending = new AbortController();
  await reach(path(store, name, params), { signal: ending.signal });
  ending.abort();
  const link = document.createElement("a");
  link.href = address(store, name, params);
  link.download = "";
  link.click();
}

export function get<T>(store: number, name: string, params: Params = {}, signal?: AbortSignal): Promise<T> {
  return ask<T>(path(store, name, params), { signal });
}

export function post<T>(store: number, name: string, body: unknown): Promise<T> {
  return ask<T>(path(store, name), json(body));
}

export async function listStores(): Promise<{ stores: Store[]; starts: boolean }> {
  const all = await ask<{ stores: Store[] | null; starts?: boolean }>("/stores");
  return { stores: all.stores ?? [], starts: all.starts ?? false };
}

/** What the server is asked to run; which fields count depends on the kind. */
export interface Task {
  kind: "demo" | "web" | "topic" | "crawl" | "resume";
  topic?: string;
  keywords?: string[];
  seeds?: string[];
  pages?: boolean;
  list?: boolean;
  store?: number;
  contact?: string;
  demo?: boolean;
  max_pages?: number;
  minutes?: number;
  per_host?: number;
  depth?: number;
  links?: string;
  lang?: string;
}

export interface Job {
  id: number;
  kind: Task["kind"];
  line: string;
  dir: string;
  state: "running" | "stopping" | "done" | "stopped" | "failed";
  text: string;
  store: number | null;
  began: string;
}

export interface Starting {
  most: number;
  jobs: Job[];
  topics: { name: string; title: string; built_in: boolean; seeds: string[] | null }[] | null;
  web: string | null;
}

const json = (body: unknown): RequestInit => ({ method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

export function starting(signal?: AbortSignal): Promise<Starting> {
  return ask<Starting>("/start", { signal });
}

/** The command that a task stands for. */
export async function lineOf(task: Task, signal?: AbortSignal): Promise<string> {
  return (await ask<{ line: string }>("/start", { ...json({ ...task, preview: true }), signal })).line;
}

export async function run(task: Task): Promise<Job> {
  return (await ask<{ job: Job }>("/start", json(task))).job;
}

export function stopJob(id: number): Promise<Job> {
  return ask<Job>(`/start/${id}/stop`, { method: "POST" });
}

/** Sends pages and lists of start pages for a topic that is to be made. */
export function sendExamples(topic: string, files: { kind: "page" | "list"; file: File }[]): Promise<unknown> {
  const body = new FormData();
  for (const f of files) body.append(f.kind, f.file);
  return ask(`/examples?${query({ topic })}`, { method: "POST", body });
}
