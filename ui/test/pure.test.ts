// Tests of the page's functions that need no browser.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fromOrigin, grow, type Point } from "../src/curve";
import { textOf, urlsOf } from "../src/examples";
import { around, columns, limits, powers, said, ticks, toCSV, type Figure } from "../src/figure";
import { bytes, clean, count, counted, duration, edge, hostName, interval, isWeb, percent, stateName, time } from "../src/format";
import type { Row } from "../src/api";
import { backoff, newest } from "../src/live";
import { layout, readable } from "../src/graph";
import { marked } from "../src/marked";
import { moves, moveText } from "../src/moves";
import { href, parse, query } from "../src/route";
import { reveal, shown, windowsOf } from "../src/rows";
import { Path, Recorder } from "../src/svg";
import { treemap } from "../src/treemap";

test("numbers as a person reads them", () => {
  assert.equal(count(1234567), "1,234,567");
  assert.equal(count(null), "–");
  assert.equal(count(NaN), "–");
  assert.equal(counted(1, "page"), "1 page");
  assert.equal(counted(0, "page"), "0 pages");
  assert.deepEqual([0, 0.025, 0.0999, 0.1375, 1, null].map(percent), ["0 %", "2.5 %", "10 %", "14 %", "100 %", "–"]);
  assert.equal(interval([0.12, 0.171]), "12 to 17 %");
  assert.equal(interval([0.5, 0.5]), "50 %");
  assert.equal(interval(null), "");
  assert.deepEqual([0, 99, 100, 5400, 7200, 200000, null].map(duration), ["0 s", "99 s", "2 min", "90 min", "2.0 h", "2 days", "–"]);
  assert.deepEqual([999, 1000, 12345, 2.5e9].map(bytes), ["999 B", "1.0 kB", "12 kB", "2.5 GB"]);
  assert.equal(time("no time"), "–");
  assert.match(time("2026-11-29T00:01:53Z"), /^2026-11-2[89] \d\d:\d1$/);
  assert.equal(stateName("robots_denied"), "robots denied");
  assert.deepEqual(["a.test:80", "a.test:443", "a.test:8080", "a.test", null].map(hostName), ["a.test", "a.test", "a.test:8080", "a.test", ""]);
});

test("a day begins and ends where the person is", () => {
  assert.equal(edge("2026-11-29", false), new Date(2026, 10, 29).toISOString());
  assert.equal(edge("2026-11-29", true), new Date(2026, 10, 29, 23, 59, 59).toISOString());
  assert.deepEqual([edge("2026-13-45", true), edge(null, false)], ["2026-13-45", null]);
});

test("a stream shows a page once, by its newest row", () => {
  const row = (url: string, time: string) => ({ url, time }) as Row;
  assert.deepEqual(newest([row("b", "3"), row("a", "2"), row("b", "1")], [row("a", "1"), row("c", "1")]), [row("b", "3"), row("a", "2"), row("c", "1")]);
});

test("texts from the web are one harmless line", () => {
  assert.equal(clean(" a\n\tb  c "), "a b c");
  assert.equal(clean("a\u001b[31mb\u0000"), "a\ufffd[31mb\ufffd");
  assert.equal(clean("x\u202egnp.exe\u2066"), "x\ufffdgnp.exe\ufffd");
  assert.equal(clean("A".repeat(1 << 20)).length, 301);
  assert.equal(Array.from(clean("😀".repeat(500), 10)).length, 11);
  assert.equal(clean(null), "");
  assert.deepEqual(["http://a/", "HTTPS://a/", "javascript:alert(1)", "data:text/html,x", " http://a/"].map(isWeb), [true, true, false, false, false]);
});

test("addresses of views", () => {
  assert.deepEqual({ ...parse("#/2/pages?q=a%20b&host=x&host=y"), query: 0 }, { view: "pages", store: 2, query: 0 });
  assert.deepEqual(parse("#/2/pages?host=x&host=y").query.getAll("host"), ["x", "y"]);
  assert.equal(parse("#/0/page?url=" + encodeURIComponent("http://a/?b=c#d")).query.get("url"), "http://a/?b=c#d");
  for (const hash of ["", "#", "#/", "#/x/y", "#/-1/crawl", "#/9999999/crawl", "#/0/constructor"]) {
    assert.deepEqual({ ...parse(hash), query: 0 }, { view: "crawl", store: 0, query: 0 }, hash);
  }
  assert.equal(href(1, "pages", { q: "", state: ["ok", "code"], min: 0 }), "#/1/pages?state=ok&state=code&min=0");
  assert.equal(href(1, "stores"), "#/stores");
  assert.equal(query({ a: null, b: undefined, c: [] }), "");
});

test("moves of the queue", () => {
  const links = (urls: string) => [...urls].map((url, i) => ({ url, score: 1 - i / 10 }));
  const m = moves(links("abcd"), links("bxad"));
  assert.deepEqual(m.before.map((l) => l.move), [-2, 1, "gone", 0]);
  assert.deepEqual(m.after.map((l) => l.move), [1, "new", -2, 0]);
  assert.deepEqual(m.after.map((l) => moveText(l.move)), ["up 1", "new", "down 2", "stays"]);
  assert.deepEqual(moves([], []), { before: [], after: [] });
});

test("a treemap fills its rectangle without overlap", () => {
  const values = Array.from({ length: 40 }, (_, i) => 1000 / (i + 1) + 1);
  const tiles = treemap(values, 800, 260);
  const total = values.reduce((a, b) => a + b, 0);
  tiles.forEach((t, i) => {
    assert.ok(Math.abs((t.w * t.h) / (800 * 260) - values[i] / total) < 1e-9, `area ${i}`);
    assert.ok(t.x >= -1e-6 && t.y >= -1e-6 && t.x + t.w <= 800 + 1e-6 && t.y + t.h <= 260 + 1e-6, `inside ${i}`);
    for (const o of tiles.slice(0, i)) {
      const overlap = Math.max(0, Math.min(t.x + t.w, o.x + o.w) - Math.max(t.x, o.x)) * Math.max(0, Math.min(t.y + t.h, o.y + o.h) - Math.max(t.y, o.y));
      assert.ok(overlap < 1e-6, `overlap of ${i}`);
    }
  });
  assert.deepEqual(treemap([0, 0], 10, 10).map((t) => t.w * t.h), [0, 0]);
  assert.deepEqual(treemap([], 10, 10), []);
  assert.equal(treemap([1], 0, 10)[0].w, 0);
});

test("a graph is laid out within its picture, always the same, linked hosts near each other", () => {
  const links = [...Array(10).keys()].flatMap((i) => [{ from: i, to: (i + 1) % 5 + (i < 5 ? 0 : 5), weight: 3 }]);
  const at = layout(10, links, 390, 420, 20);
  assert.deepEqual(at, layout(10, links, 390, 420, 20));
  for (const p of at) assert.ok(p.x >= 19.9 && p.x <= 370.1 && p.y >= 19.9 && p.y <= 400.1, JSON.stringify(p));
  const mean = (far: (i: number, j: number) => boolean) => {
    const d = at.flatMap((p, i) => at.flatMap((q, j) => (i < j && far(i, j) ? [Math.hypot(p.x - q.x, p.y - q.y)] : [])));
    return d.reduce((a, b) => a + b, 0) / d.length;
  };
  assert.ok(mean((i, j) => i < 5 === j < 5) < mean((i, j) => i < 5 !== j < 5), "the two halves stand apart");
  assert.deepEqual([layout(0, [], 10, 10, 1), layout(1, [{ from: 0, to: 0, weight: 1 }], 10, 10, 1)], [[], [{ x: 5, y: 5 }]]);
  const spread = layout(12, [], 400, 400, 20, 60);
  spread.forEach((p, i) => spread.slice(0, i).forEach((q) => assert.ok(Math.hypot(p.x - q.x, p.y - q.y) > 50)));
  assert.deepEqual(readable([{ x: 0, y: 0 }, { x: 30, y: 5 }, { x: 30, y: 20 }, { x: 80, y: 5 }], [50, 50, 50, 50], 14), [true, false, true, true]);
});

test("rows in view of a list of any length", () => {
  const few = shown(0, 500, 5, 36);
  assert.deepEqual([few.first, few.last, few.height, few.top], [0, 5, 180, 0]);
  for (const total of [10, 1000, 1_000_000, 50_000_000]) {
    const height = shown(0, 500, total, 36).height;
    assert.ok(height <= 8_000_000);
    const end = shown(height - 500, 500, total, 36);
    assert.equal(end.last, total, "the last row can be reached");
    assert.ok(Math.abs(end.top + (end.last - end.first) * 36 - height) < 1, "and ends where the list ends");
    for (let i = 0; i <= 50; i++) {
      const s = shown(((height - 500) * i) / 50, 500, total, 36);
      assert.ok(s.last - s.first <= 500 / 36 + 18, "few rows are drawn");
    }
  }
  for (const i of [0, 17, 999_999, 500_000]) {
    const scroll = reveal(i, 4_000_000, 500, 1_000_000, 36);
    const s = shown(scroll, 500, 1_000_000, 36, 0);
    assert.ok(s.first <= i && i < s.last, `row ${i} is shown`);
  }
  assert.deepEqual(windowsOf(0, 100), [0]);
  assert.deepEqual(windowsOf(99, 101), [0, 100]);
  assert.deepEqual(windowsOf(950, 1150), [900, 1000, 1100]);
  assert.deepEqual(windowsOf(0, 0), []);
});

test("words that weighed are marked", () => {
  const words = [{ word: "chequ", weight: 0.2 }, { word: "goal", weight: -0.1 }, { word: "a", weight: 0.5 }];
  assert.deepEqual(marked("Two cheques, a goal.", words), [
    { text: "Two ", weight: 0 }, { text: "cheques", weight: 0.2 }, { text: ", ", weight: 0 }, { text: "a", weight: 0.5 },
    { text: " ", weight: 0 }, { text: "goal", weight: -0.1 }, { text: ".", weight: 0 },
  ]);
  assert.equal(marked("abacus and chequerboards", words).length, 1, "neither by one letter nor by a far longer word");
  const text = "<b>a</b> & constructor __proto__";
  assert.equal(marked(text, words).map((p) => p.text).join(""), text);
});

test("a curve grows and stays short", () => {
  let curve: Point[] = [];
  for (let i = 1; i <= 100_000; i++) curve = grow(curve, { fetched: i, relevant: Math.floor(i / 2) });
  assert.ok(curve.length <= 400);
  assert.equal(curve.at(-1)!.fetched, 100_000);
  assert.equal(grow(curve, { fetched: 7, relevant: 1 }), curve, "an old point changes nothing");
  assert.deepEqual(fromOrigin([{ fetched: 5, relevant: 2 }]), [{ x: 0, y: 0 }, { x: 5, y: 2 }]);
});

test("a plot as CSV", () => {
  const f: Figure = { title: "t", xLabel: "pages, fetched", lines: [{ name: 'on "topic"', points: [{ x: 0, y: 0 }], band: [[0, 1]] }, { name: "b", points: [{ x: 10, y: 2 }] }] };
  assert.equal(toCSV(f), '"pages, fetched","on ""topic""","on ""topic"", low","on ""topic"", high",b\n0,0,0,1,\n10,,,,2\n');
  assert.equal(toCSV({ title: "t", xLabel: "days", rows: [{ name: "a", value: 2, lo: 1, hi: 3 }] }), "name,days,low,high\na,2,1,3\n");
  assert.equal(toCSV({ title: "t", xLabel: "x", lines: null }), "x\n");
});

test("several points of a line at one x", () => {
  const f: Figure = { title: "t", xLabel: "x", lines: [{ name: "a", points: [{ x: 1, y: 0.3 }, { x: 0, y: 0.1 }, { x: 1, y: 0.2 }], band: [[0.2, 0.4], [0, 0.2], [0.1, 0.3]] }, { name: "b", points: [{ x: 1, y: 1 }] }] };
  assert.deepEqual(columns(f), [[0, 1, 1], [0.1, 0.3, 0.2], [null, 1, null]]);
  assert.equal(toCSV(f), 'x,a,"a, low","a, high",b\n0,0.1,0,0.2,\n1,0.3,0.2,0.4,1\n1,0.2,0.1,0.3,\n');
  assert.deepEqual([0, 1, 2].map((x) => said(f.lines![0], x, String)), ["0.1 (0 to 0.2)", "0.2 to 0.3 (0.1 to 0.4)", "–"]);
  assert.equal(said(f.lines![1], 1, String), "1");
});

test("a canvas that writes SVG", () => {
  const r = new Recorder({ font: "", measureText: (text: string) => ({ width: 6 * text.length }) as TextMetrics }, "c");
  r.save();
  r.beginPath();
  r.rect(0, 0, 10, 20);
  r.clip();
  const line = new Path();
  line.moveTo(1, 2);
  line.lineTo(3.14159, 4);
  r.strokeStyle = '"><script>';
  r.setLineDash([2, 3]);
  r.stroke(line);
  r.save();
  r.clip(line);
  r.fill(line);
  r.restore();
  r.restore();
  r.stroke(new Path()); // nothing
  r.save();
  r.translate(5, 6);
  r.rotate(-Math.PI / 2);
  Object.assign(r, { textAlign: "right", textBaseline: "top", font: "bold 14px x" });
  r.fillText("</text>&", 1, 2);
  r.restore();
  r.beginPath();
  r.arc(5, 5, 2);
  r.fill();
  assert.deepEqual(r.parts, [
    '<clipPath id="c-1"><path d="M0 0h10v20h-10Z"/></clipPath>',
    '<g clip-path="url(#c-1)"><path d="M1 2L3.14 4" fill="none" stroke="&#34;&#62;&#60;script&#62;" stroke-width="1" stroke-dasharray="2 3"></path></g>',
    '<clipPath id="c-2" clip-path="url(#c-1)"><path d="M1 2L3.14 4"/></clipPath>',
    '<g clip-path="url(#c-2)"><path d="M1 2L3.14 4" fill="#000"></path></g>',
    '<text x="1" y="2" dy=".8em" text-anchor="end" font-size="14" fill="#000" transform="translate(5 6)rotate(-90)">&#60;/text&#62;&#38;</text>',
    '<path d="M3 5a2 2 0 1 1 4 0a2 2 0 1 1 -4 0Z" fill="#000"></path>',
  ]);
  assert.equal(r.measureText("ab").width, 12);
});

test("ends and marks of axes", () => {
  for (const [least, most, lo, hi] of [[0.93, 0.97, 0.93, 0.98], [0.62, 0.91, 0.5, 1], [0.2, 0.9, 0, 1], [0, 0, 0, 0.05], [1, 1, 0.95, 1]]) assert.deepEqual(around(least, most), [lo, hi]);
  assert.deepEqual(ticks(0, 100), [0, 20, 40, 60, 80, 100]);
  assert.deepEqual(ticks(0, 480, 2), [0, 200, 400], "not 0 alone");
  assert.deepEqual(ticks(0.01, 0.03), [0.01, 0.015, 0.02, 0.025, 0.03]);
  assert.deepEqual(powers(1, 5000, 6), [1, 10, 100, 1000]);
  assert.deepEqual(powers(1, 60), [1, 2, 5, 10, 20, 50]);
  assert.deepEqual(powers(4, 80, 2), [5, 10, 20, 50], "not 10 alone");
  const empty = limits({ title: "", xLabel: "x", lines: [] });
  assert.deepEqual(empty, { x: [0, 1], y: [0, 1] });
  const ends = (more: Partial<Figure>, points: [number, number][], line = {}) => limits({ title: "", xLabel: "", lines: [{ name: "", points: points.map(([x, y]) => ({ x, y })), ...line }], ...more });
  assert.deepEqual(ends({ xNumbers: true, yCounts: true }, [[0.01, 1234], [0.02, 7]]), { x: [0.01, 0.02], y: [1, 2000] });
  assert.deepEqual(ends({ xNumbers: true, yCounts: true }, [[0.05, 3]]), { x: [0.025, 0.1], y: [1, 10] });
  assert.deepEqual(ends({ yNumbers: true }, [[10, 0.4]], { band: [[-0.31, 0.5]] }).y, [-0.4, 1]);
  assert.deepEqual(ends({ fit: "top" }, [[10, 0.07]]).y, [0, 0.1]);
  assert.deepEqual(ends({}, [[0, 0.5], [1, 0.1], [2, 0.4]], { stems: true }).x, [0, 2.5], "room for the last stems");
  for (const [lo, hi] of [[1, 1.01], [0.9, 9], [1e-6, 1e6], [3e-5, 4e-3]]) {
    const { x, y } = limits({ title: "", xLabel: "", rows: [{ name: "a", value: lo, lo, hi }] });
    const marks = powers(...y, 5).length;
    assert.ok(y[0] < lo && hi < y[1] && marks >= 2 && marks <= 14, `${lo} to ${hi}: ${marks} marks`);
    assert.deepEqual(x, [-0.5, 0.5]);
  }
});

test("waits between tries to connect grow to half a minute", () => {
  assert.deepEqual([0, 1, 2, 5, 50].map((n) => backoff(n, 0)), [1000, 2000, 4000, 30_000, 30_000]);
  assert.equal(backoff(0, 1), 1250);
});

test("dropped files are lists of start pages, or pages with a title", () => {
  assert.deepEqual(urlsOf("# mine\r\nhttp://a.test/x # first\n\nhttps://b.test/\n"), ["http://a.test/x", "https://b.test/"]);
  assert.equal(urlsOf("http://a.test/ and more words"), null);
  assert.equal(urlsOf("# nothing"), null);
  assert.deepEqual(textOf("<title lang=en> Bees </title><script>alert('x')</script ><!-- no --><p onclick='x()'>They <b>hum</b>.").title, "Bees");
  assert.equal(textOf("<title>Bees</title><style>p{}</style><p>They <b>hum</b>.").text.split(/\s+/).filter(Boolean).join(" "), "They hum .");
});
