// Views are addressed by the part of the address after #: #/0/pages?q=loan is the list of pages of
// the first store.

export const views = ["crawl", "judge", "pages", "groups", "hosts", "changes", "page", "stores", "start"] as const;
export type View = (typeof views)[number];

export interface Route {
  view: View;
  store: number;
  query: URLSearchParams;
}

/** Reads an address's hash; what it does not know becomes the crawl view of the first store. */
export function parse(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const [first = "", second = ""] = path.split("/");
  const params = new URLSearchParams(query);
  if (first === "stores" || first === "start") return { view: first, store: 0, query: params };
  const view = views.find((v) => v === second) ?? "crawl";
  return { view, store: /^\d{1,6}$/.test(first) ? Number(first) : 0, query: params };
}

export type Params = Record<string, string | number | null | undefined | string[]>;

/** Makes a query; empty values are left out, lists repeat their name. */
export function query(params: Params): string {
  const out = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    for (const v of Array.isArray(value) ? value : [value]) {
      if (v != null && v !== "") out.append(name, String(v));
    }
  }
  return out.toString();
}

/** The hash of a view. */
export function href(store: number, view: View, params: Params = {}): string {
  const q = query(params);
  return `#/${view === "stores" || view === "start" ? view : `${store}/${view}`}${q ? `?${q}` : ""}`;
}
