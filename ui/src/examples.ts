// Files that a person drops as examples of a topic.

export interface Example {
  file: File;
  kind: "page" | "list" | "empty";
  title: string; // text from the web
  words: number; // of a page
  urls: number; // of a list
}

/** Whether a text is a list of start pages: each line is a URL, # begins a comment. */
export function urlsOf(text: string): string[] | null {
  const lines = text.split(/\r?\n/).map((l) => l.replace(/(^|\s)#.*$/, "").trim()).filter(Boolean);
  return lines.length > 0 && lines.every((l) => /^https?:\/\/\S+$/i.test(l)) ? lines : null;
}

/** Reads a file; the parser runs no script and loads nothing. */
export async function sortFile(file: File): Promise<Example> {
  const text = await file.text();
  const urls = urlsOf(text);
  if (urls) return { file, kind: "list", title: file.name, words: 0, urls: urls.length };
  let title = file.name;
  let body = text;
  if (!/\.(txt|md)$/i.test(file.name)) {
    const parsed = new DOMParser().parseFromString(text, "text/html");
    for (const e of parsed.querySelectorAll("script, style")) e.remove();
    title = parsed.title.trim() || file.name;
    body = parsed.body?.textContent ?? "";
  }
  const words = body.split(/\s+/).filter(Boolean).length;
  return { file, kind: words > 0 ? "page" : "empty", title, words, urls: 0 };
}
