// The page: its frame, and the view that the address names.

import { computed, effect, signal } from "@preact/signals";
import { render } from "preact";
import { listStores, type Store } from "./api";
import { message, Problem } from "./bits";
import { clean } from "./format";
import { follow, type Live } from "./live";
import { href, parse, type View } from "./route";
import { Changes } from "./views/changes";
import { Crawl } from "./views/crawl";
import { Groups } from "./views/groups";
import { Hosts } from "./views/hosts";
import { Judge } from "./views/judge";
import { Start } from "./views/start";
import { Page } from "./views/page";
import { Pages } from "./views/pages";
import { Stores } from "./views/stores";

const route = signal(parse(location.hash));
const stores = signal<Store[] | null>(null);
const starts = signal(false);
const problem = signal<string | null>(null);
const live = signal<Live | null>(null);

const tabs: { view: View; name: string }[] = [
  { view: "crawl", name: "Crawl" },
  { view: "judge", name: "Judge" },
  { view: "pages", name: "Pages" },
  { view: "groups", name: "Alike" },
  { view: "hosts", name: "Hosts" },
  { view: "changes", name: "Changes" },
];

const views = { crawl: Crawl, judge: Judge, pages: Pages, page: Page, groups: Groups, hosts: Hosts, changes: Changes };

const store = computed(() => stores.value?.[route.value.store] ?? null);

/** Whether the page to start from is shown. */
const begins = computed(() => starts.value && (route.value.view === "start" || stores.value?.length === 0));

/** Whether the view shows no store. */
const apart = computed(() => route.value.view === "stores" || route.value.view === "start");

/** The state of the crawl in one word, and what a screen reader is told when it changes. */
const state = computed((): { word: string; spoken: string } => {
  const s = live.value?.status.value;
  if (!s) return { word: "", spoken: "" };
  if (live.value?.link.value === "lost" && s.running && !s.stopping) return { word: "connection lost", spoken: "The connection is lost. The page tries again." };
  if (!s.running || (s.stopping && live.value?.link.value === "lost")) return { word: "ended", spoken: "The crawl has ended." };
  if (s.stopping) return { word: "stopping", spoken: "The crawl is stopping." };
  if (s.paused) return { word: "paused", spoken: "The crawl is paused." };
  return { word: "running", spoken: "The crawl is running." };
});

function Header() {
  const { view, store: n } = route.value;
  const many = (stores.value?.length ?? 0) > 1;
  return (
    <header>
      <a class="skip" href="#main" onClick={toMain}>Skip to the content</a>
      <a class="brand" href={many ? href(0, "stores") : store.value ? href(n, "crawl") : href(0, "start")}>fossick</a>
      {store.value && !apart.value && <span class="where"><bdi>{clean(store.value.name, 40)}</bdi></span>}
      {!apart.value && state.value.word && <span class={`state ${state.value.word.split(" ")[0]}`}>{state.value.word}</span>}
      <nav aria-label="Views">
        {starts.value && <a href={href(0, "start")} aria-current={begins.value ? "page" : undefined}>Start</a>}
        {many && <a href={href(0, "stores")} aria-current={view === "stores" ? "page" : undefined}>Stores</a>}
        {store.value && !apart.value && tabs.map((t) => (
          <a href={href(n, t.view)} aria-current={view === t.view || (view === "page" && t.view === "pages") ? "page" : undefined}>{t.name}</a>
        ))}
      </nav>
    </header>
  );
}

function toMain(e: Event) {
  e.preventDefault();
  document.getElementById("main")?.focus();
}

function App() {
  const { view, store: n, query } = route.value;
  const View = view === "stores" || view === "start" ? null : views[view];
  return (
    <>
      <Header />
      <p class="hidden" role="status" aria-live="polite">{state.value.spoken}</p>
      <main id="main" tabIndex={-1}>
        <Problem text={problem.value ?? (!apart.value && store.value?.error || null)} />
        {!stores.value ? null : begins.value ? <Start opened={openStore} /> : !View || !store.value || !live.value ? (
          <Stores stores={stores.value} />
        ) : (
          <View key={`${n}/${view}/${store.value.error ? "in doubt" : ""}`} n={n} store={store.value} live={live.value} query={query} starts={starts.value} />
        )}
      </main>
    </>
  );
}

export interface ViewProps {
  n: number;
  store: Store;
  live: Live;
  query: URLSearchParams;
  starts: boolean; // the server starts crawls
}

const storesEvery = 5000; // ms between two looks at the list of stores, while it is shown, or after a store did not answer

async function readStores() {
  const all = await listStores();
  [stores.value, starts.value, problem.value] = [all.stores, all.starts, null];
}

/** Goes to the crawl of a store that was just made. */
async function openStore(n: number) {
  await readStores();
  location.hash = href(n, "crawl");
}

async function loadStores() {
  try {
    if (stores.value === null || (!document.hidden && (apart.value || !store.value || store.value.error))) await readStores();
    const n = stores.value!.length;
    if (location.hash.length < 2 && n !== 1 && (n > 1 || starts.value)) location.replace(href(0, n > 1 ? "stores" : "start")); // stays when stores come
  } catch (err) {
    problem.value = message(err);
  }
  setTimeout(loadStores, storesEvery);
}

function start() {
  if (location.search) history.replaceState(null, "", location.pathname + location.hash); // the token
  addEventListener("hashchange", () => (route.value = parse(location.hash)));
  const number = computed(() => (store.value && !apart.value ? route.value.store : -1));
  effect(() => {
    if (number.value < 0) return;
    const following = follow(number.value);
    live.value = following;
    return () => {
      live.value = null;
      following.close();
    };
  });
  effect(() => {
    const { view } = route.value;
    document.title = [view[0].toUpperCase() + view.slice(1), store.value && !apart.value ? clean(store.value.name, 40) : "", "fossick"].filter(Boolean).join(" · ");
  });
  render(<App />, document.getElementById("app")!);
  void loadStores();
}

start();
