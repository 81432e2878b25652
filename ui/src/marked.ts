// A text cut at the words that weighed in a decision.

export interface Word {
  word: string;
  weight: number; // > 0 speaks for the topic
}

export interface Piece {
  text: string;
  weight: number; // 0 for a text that did not weigh
}

/** Cuts a text at its words; a stem such as "chequ" marks "cheques". */
export function marked(text: string, words: Word[]): Piece[] {
  const exact = new Map(words.map((w) => [w.word.toLowerCase(), w.weight]));
  const stems = words.filter((w) => w.word.length >= 3).map((w) => ({ ...w, word: w.word.toLowerCase() }));
  const weigh = (token: string) => {
    const t = token.toLowerCase();
    return exact.get(t) ?? stems.find((s) => t.startsWith(s.word) && t.length <= s.word.length + 4)?.weight ?? 0;
  };
  const known = new Map<string, number>();
  const pieces: Piece[] = [];
  for (const token of text.split(/([\p{L}\p{N}]+)/u)) {
    if (token === "") continue;
    if (!known.has(token)) known.set(token, weigh(token));
    const weight = known.get(token)!;
    const last = pieces.at(-1);
    if (last && last.weight === 0 && weight === 0) last.text += token;
    else pieces.push({ text: token, weight });
  }
  return pieces;
}
