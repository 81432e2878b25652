#!/usr/bin/env python3
"""Writes the webs of scripts/learnorder.sh: orderwebs.py DATA DIR.

A line a page with url, label, labels and html. msdocs without its largest sets; uci_ics with at most 900
pages of a host or first folder, which are its labels, and without its photo gallery and wiki versions.
"""
import collections
import json
import subprocess
import sys

data, folder = sys.argv[1:]
SETS = {"powershell", "winps", "aspnet", "iis", "exchange", "officeps", "cpp"}


def lines(path):
    return subprocess.Popen(["zstdcat", f"{data}/{path}"], stdout=subprocess.PIPE, text=True, errors="replace").stdout


topics = {}
for line in lines("wikispeedia/labels.tsv.zst"):
    url, label, *more = line.rstrip("\n").split("\t")
    topics[url] = [label] + (more[0].split("|") if more and more[0] else [])
taken = collections.Counter()


def labels(web, r):
    """The labels of a page, the main one first; none to leave it out."""
    more = r.get("labels", [])
    more = more.split("|") if isinstance(more, str) else more
    if web == "wikispeedia":
        return topics.get(r["url"], ["other"])
    if web == "webkb":
        return [r["label"], r["label"] + "@" + r["site"]]
    if web == "debdocs":
        return [r["site"], r["label"]] + more
    if web == "mdn":
        return [r["label"]] + more
    if web == "msdocs":
        return [r["label"]] + more if r["label"].split("/")[0] in SETS else []
    host, path = r["site"], r["url"].split("#")[0].split("://", 1)[1].partition("/")[2]
    if "~eppstein/pix" in r["url"] or host == "grape.ics.uci.edu" and "?" in r["url"]:
        return []
    label = host
    if host == "www.ics.uci.edu":
        label += "/" + path.split("/")[0].split("?")[0]
    taken[label] += 1
    return [label, host] if taken[label] <= 900 else []


for web in ["wikispeedia", "webkb", "debdocs", "mdn", "msdocs", "uci"]:
    with open(f"{folder}/{web}.jsonl", "w") as f:
        for line in lines(("uci_ics" if web == "uci" else web) + "/pages.jsonl.zst"):
            r = json.loads(line)
            all_labels = labels(web, r)
            if not all_labels:
                continue
            page = {"url": r["url"], "label": all_labels[0], "labels": sorted(set(all_labels)), "title": r.get("title", "")}
            page["html" if r.get("html") else "text"] = r.get("html") or r.get("text", "")
            f.write(json.dumps(page) + "\n")
