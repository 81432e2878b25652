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

/** Title and text of a page, roughly and as mere text: a parser would look at its scripts. */
export function textOf(html: string): { title: string; text: string } {
  const text = html.replace(/<(script|style)\b[\s\S]*?<\/\1\s*>/gi, " ").replace(/<!--[\s\S]*?-->/g, " ");
  const title = /<title[^>]*>([^<]*)/i.exec(text)?.[1] ?? "";
  return { title: title.trim(), text: text.replace(/<title[^>]*>[^<]*/i, " ").replace(/<[^>]*>/g, " ") };
}

/** Reads a file. */
export async function sortFile(file: File): Promise<Example> {
  const text = await file.text();
  const urls = urlsOf(text);
  if (urls) return { file, kind: "list", title: file.name, words: 0, urls: urls.length };
  let title = file.name;
  let body = text;
  if (!/\.(txt|md)$/i.test(file.name)) {
    const page = textOf(text);
    title = page.title || file.name;
    body = page.text;
  }
  const words = body.split(/\s+/).filter(Boolean).length;
  return { file, kind: words > 0 ? "page" : "empty", title, words, urls: 0 };
}
