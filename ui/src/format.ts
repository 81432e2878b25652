// Numbers, times and texts as a person reads them.

const grouped = new Intl.NumberFormat("en");

/** 1234567 → "1,234,567"; unknown → "–". */
export function count(n: number | null | undefined): string {
  return n == null || !Number.isFinite(n) ? "–" : grouped.format(n);
}

/** "1 page", "2 pages". */
export function counted(n: number, noun: string): string {
  return `${count(n)} ${noun}${n === 1 ? "" : "s"}`;
}

/** A share in [0,1] → "83 %", with one digit after the point below 10 %. */
export function percent(x: number | null | undefined): string {
  if (x == null || !Number.isFinite(x)) return "–";
  const p = x * 100;
  return `${p > 0 && p < 9.95 ? p.toFixed(1) : p.toFixed(0)} %`;
}

/** An interval of shares → "12 to 17 %". */
export function interval(range: [number, number] | null | undefined): string {
  if (!range) return "";
  const [lo, hi] = range.map((x) => percent(x).replace(" %", ""));
  return lo === hi ? `${lo} %` : `${lo} to ${hi} %`;
}

/** A score in [0,1] → "0.87"; none → "–". */
export function score(x: number | null | undefined): string {
  return x == null || !Number.isFinite(x) ? "–" : x.toFixed(2);
}

/** Seconds → "45 s", "3 min", "2.5 h", "4 days". */
export function duration(seconds: number | null | undefined): string {
  if (seconds == null || !Number.isFinite(seconds)) return "–";
  if (seconds < 99.5) return `${Math.max(0, Math.round(seconds))} s`;
  if (seconds < 99.5 * 60) return `${Math.round(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${(seconds / 3600).toFixed(1)} h`;
  return `${Math.round(seconds / 86400)} days`;
}

/** A size in bytes → "12 kB". */
export function bytes(n: number | null | undefined): string {
  if (n == null) return "–";
  for (const unit of ["B", "kB", "MB", "GB"]) {
    if (n < 999.5 || unit === "GB") return `${n < 9.95 && unit !== "B" ? n.toFixed(1) : n.toFixed(0)} ${unit}`;
    n /= 1000;
  }
  return "";
}

/** RFC 3339 → "2026-11-29 00:01" in local time. */
export function time(at: string | null | undefined): string {
  const t = at ? new Date(at) : null;
  if (!t || Number.isNaN(t.getTime())) return "–";
  const two = (n: number) => String(n).padStart(2, "0");
  return `${t.getFullYear()}-${two(t.getMonth() + 1)}-${two(t.getDate())} ${two(t.getHours())}:${two(t.getMinutes())}`;
}

/** The first or last second of a local day "2026-11-29" as a time in UTC; what is no day stays as it is. */
export function edge(day: string | null, last: boolean): string | null {
  if (!/^\d{4}-\d\d-\d\d$/.test(day ?? "")) return day;
  const t = new Date(`${day}T${last ? "23:59:59" : "00:00:00"}`);
  return Number.isNaN(t.getTime()) ? day : t.toISOString();
}

/** The name of a state as a person reads it: "robots_denied" → "robots denied". */
export function stateName(state: string): string {
  return state === "code" ? "HTTP error" : state.replaceAll("_", " ");
}

/** A host without the port that its scheme implies: "example.org:443" → "example.org". */
export function hostName(host: string | null | undefined): string {
  return (host ?? "").replace(/:(80|443)$/, "");
}

const most = 300; // characters of a title or URL shown

/** Characters that show nothing, or turn the direction of text. */
const hidden = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** What a command says, with its lines and blanks. */
export function output(text: string): string {
  return text.split("\n").map((line) => line.replace(hidden, "\ufffd")).join("\n");
}

/**
 * Text from the web as one line that is safe to show: control characters and marks that turn the
 * direction of text become "�", white space becomes one blank, and a long text ends in "…".
 */
export function clean(text: string | null | undefined, length = most): string {
  const cut = (text ?? "").slice(0, length * 4);
  const one = cut
    .replace(/[\t\n\f\r ]+/g, " ")
    .replace(hidden, "\ufffd")
    .trim();
  const letters = Array.from(one);
  return letters.length > length || cut.length < (text ?? "").length
    ? letters.slice(0, length).join("") + "…"
    : one;
}

/** Whether a URL may be a link that leaves the page: http and https only. */
export function isWeb(url: string): boolean {
  return /^https?:\/\//i.test(url);
}
