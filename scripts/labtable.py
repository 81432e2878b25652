#!/usr/bin/env python3
"""Prints tables of the output of `fossick lab --json`: scripts/labtable.py FILE…

A table a file: each policy's harvest and area under the recall curve at each number of pages, with
the half width of the 95 % interval. p is of the paired t-test of learned's harvest against the
policy's, corrected by Holm. Where crawls ran out of URLs, their mean number of pages follows the
harvest. Last come ratios of the pages on topic that learned found to those of the best policy that
is neither our own nor an oracle. Pages and not harvests, because a crawl that ends early may have a
high harvest.
"""
import json
import sys

ratios = {}
for name in sys.argv[1:]:
    with open(name) as f:
        run = json.load(f)
    points = sorted({int(n) for p in run["policies"].values() for n in (p.get("at") or {})} | {run["pages"]})
    p = {}
    for t in run["tests"] or []:
        if "learned" in (t["a"], t["b"]):
            p[t["b"] if t["a"] == "learned" else t["a"]] = t["p_adjusted"]

    def figures(policy, n):
        own = run["policies"][policy]
        return own if n == run["pages"] else own["at"][str(n)]

    def cell(f, key, ci):
        if f[ci] is None:  # none for fewer than five different start sets
            return f"{f[key]:.3f}"
        return f"{f[key]:.3f} ± {(f[ci][1] - f[ci][0]) / 2:.3f}"

    def harvest(policy, n):
        f = figures(policy, n)
        early = f" ({f['fetched']:.0f} pages)" if f["fetched"] < n else ""
        return cell(f, "harvest", "ci") + early

    known = [q for q in run["policies"] if q not in ("learned", "paper-mean") and not q.endswith("-oracle")]
    c = run["classifier"]
    print(f"\n{run['topic']}: {run['targets']} of {run['corpus_pages']} pages on topic; "
          f"page classifier: precision {c['precision']:.2f}, recall {c['recall']:.2f}\n")
    print("| policy |" + "".join(f" harvest at {n} |" for n in points) + "".join(f" recall area to {n} |" for n in points) + f" p at {run['pages']} |")
    print("|---|" + "---|" * (2 * len(points) + 1))
    for q in run["policies"]:
        cells = [harvest(q, n) for n in points]
        cells += [cell(figures(q, n), "recall_area", "recall_area_ci") for n in points]
        cells.append(f"{p[q]:.2g}" if q in p else "")
        print(f"| {q} | " + " | ".join(cells) + " |")
    if known and "learned" in run["policies"]:
        for n in points:
            best = max(known, key=lambda q: figures(q, n)["recall"])
            ratio = figures("learned", n)["recall"] / figures(best, n)["recall"]
            ratios.setdefault(n, []).append(ratio)
            print(f"\nat {n} pages learned found {ratio:.2f} × the pages on topic that {best} did")

for n, all_of_them in sorted(ratios.items()):
    if len(all_of_them) > 1:
        print(f"\nmean of the ratios at {n} pages: {sum(all_of_them) / len(all_of_them):.3f}")
