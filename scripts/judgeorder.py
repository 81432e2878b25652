#!/usr/bin/env python3
"""Judges the orders of scripts/learnorder.sh on webs left out: judgeorder.py DIR [NAME…].

DIR has known-WEB.tsv, with what the known policies found, and NAME-WEB.tsv, with what `learned` found
[learned]. A row counts twice, at half its pages and at all. Prints ratios of pages on topic: to the row's
best known policy by hindsight; to the known policy that has the best mean ratio on the other webs.
"""
import collections
import glob
import os
import sys

KNOWN = ["bfs", "best-first", "shark", "ache", "hits", "infospiders"]


def read(folder, name):
    rows = collections.defaultdict(dict)
    for path in glob.glob(f"{folder}/{name}-*.tsv"):
        for line in open(path):
            web, topic, n, kind, _, _, _, _, _, _, policy, half, full = line.rstrip("\n").split("\t")
            rows[web, topic, n, kind][policy] = (int(half), int(full))
    return rows


def mean(values):
    return sum(values) / max(1, len(values))


folder, names = sys.argv[1], sys.argv[2:] or ["learned"]
known = {k: v for k, v in read(folder, "known").items() if all(p in v for p in KNOWN)}


def best_elsewhere(web, at):
    """The known policy with the best mean ratio to the best known, over webs but this one, all alike."""
    def figure(policy):
        ratios = collections.defaultdict(list)
        for (other, *_), found in known.items():
            if other != web:
                ratios[other].append(found[policy][at] / max(found[p][at] for p in KNOWN))
        return mean([mean(r) for r in ratios.values()]) if ratios else 0
    return max(KNOWN, key=figure)


print("orders\trows\tcrawls\tto the best known\tto the known policy best elsewhere\tworst\tshare below .98")
for name in names:
    groups, elsewhere = collections.defaultdict(list), {}
    for key, found in sorted(read(folder, name).items()):
        if key not in known or "learned" not in found:
            continue
        for at in (0, 1):
            if (key[0], at) not in elsewhere:
                elsewhere[key[0], at] = best_elsewhere(key[0], at)
            ours, theirs = found["learned"][at], known[key]
            figures = (ours / max(theirs[p][at] for p in KNOWN), ours / theirs[elsewhere[key[0], at]][at])
            groups[key[0]].append(figures)
            groups[{"plain": "defaults", "judge": "other judges and starts", "madeweb": "made webs"}[key[3]]].append(figures)
            groups["all"].append(figures)
    webs = [g for g in groups if g in {k[0] for k in known}]
    for group, rows in groups.items():
        ratios = [r[0] for r in rows]
        print(f"{name}\t{group}\t{len(rows)}\t{mean(ratios):.3f}\t{mean([r[1] for r in rows]):.3f}\t{min(ratios):.2f}\t{mean([r < .98 for r in ratios]):.2f}")
    print(f"{name}\tall webs alike\t\t{mean([mean([r[0] for r in groups[w]]) for w in webs]):.3f}\t{mean([mean([r[1] for r in groups[w]]) for w in webs]):.3f}")
