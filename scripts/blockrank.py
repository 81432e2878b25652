#!/usr/bin/env python3
"""Compares rank on several graphs with rank on their union (docs/graph.md).

    scripts/blockrank.py FOSSICK GRAPH|CORPUS [METHOD...] [--nats nats://127.0.0.1:4222 http://127.0.0.1:8222/varz]

Splits the links by host over 1, 2, 4 and 8 agents. Prints agents, method, rounds, sweeps, bytes
exchanged, seconds, and the L1 distance of the scores from the union's at epsilon 1e-13. With --nats
each agent is a process, and they use the exchange there (nats-server -js -m 8222). It then also
prints the seconds of the slowest process, and the messages and bytes that the server received.
"""
import json, os, subprocess, sys, tempfile, time, urllib.request, zlib
from urllib.parse import urlsplit

args = sys.argv[1:]
nats = None
if "--nats" in args:
    at = args.index("--nats")
    nats, monitor = args[at + 1:at + 3]
    del args[at:at + 3]
fossick, graph, methods = args[0], args[1], args[2:] or ["blockrank"]


def run(*args):
    out = subprocess.run([fossick, *args, "--json", "--quiet"], check=True, stdout=subprocess.PIPE).stdout
    return json.loads(out)


def taken():
    with urllib.request.urlopen(monitor) as f:
        v = json.load(f)
    return v["in_msgs"], v["in_bytes"]


def together(paths, method):
    """Ranks with a process for each graph; returns a result and all files of scores."""
    began, before, outs = time.time(), taken(), [p + ".ranks" for p in paths]
    crawl = "measured-%d" % os.getpid()
    agents = [subprocess.Popen([fossick, "rank", p, "--crawl", crawl, "--agents", str(len(paths)), "--nats", nats, "--method", method,
                                "-o", o, "--json", "--quiet"], stdout=subprocess.PIPE) for p, o in zip(paths, outs)]
    results = [json.loads(a.communicate()[0]) for a in agents]
    r = max(results, key=lambda r: r["seconds"])
    r["whole"] = time.time() - began
    r["taken"] = [x - y for x, y in zip(taken(), before)]
    return r, outs


def host(url):
    try:
        return urlsplit(url).netloc or url
    except ValueError:
        return url


def scores(path):
    with open(path, newline="\n") as f:
        return {name: float(x) for name, x in (line.rsplit("\t", 1) for line in f)}


with tempfile.TemporaryDirectory() as at:
    numbered, named, file = (os.path.join(at, x) for x in ("numbered", "names", "graph"))
    if subprocess.run([fossick, "graph", graph, "-o", file, "--edges", numbered, "--quiet"], capture_output=True).returncode:
        file = graph  # already a graph file
        run("graph", graph, "--edges", numbered)
    run("rank", file, "-o", named, "--epsilon", "1e-3")
    with open(named, newline="\n") as f:
        names = [line.rsplit("\t", 1)[0] for line in f]
    hosts = [host(name) for name in names]

    def split(parts):
        paths = [os.path.join(at, "%d-%d.tsv" % (parts, i)) for i in range(parts)]
        files = [open(p, "w", newline="\n") for p in paths]
        with open(numbered) as f:
            for line in f:
                src, dst = map(int, line.split())
                if not names[src].isprintable() or not names[dst].isprintable() or not names[src] or not names[dst]:
                    continue  # no edge list can hold it
                print(names[src], names[dst], sep="\t", file=files[zlib.crc32(hosts[src].encode()) % parts])
        for f in files:
            f.close()
        built = []
        for p in paths:
            if os.path.getsize(p):
                run("graph", p, "-o", p + ".graph")
                built.append(p + ".graph")
        return built

    whole = split(1)[0]
    exact = os.path.join(at, "exact")
    one = run("rank", whole, "-o", exact, "--epsilon", "1e-13")
    want = scores(exact)
    one = run("rank", whole)
    print(graph, one["nodes"], "nodes", one["edges"], "edges; one machine:", one["iterations"], "iterations,", round(one["seconds"], 3), "s")
    for parts in 2, 4, 8:
        paths = split(parts)
        for method in methods:
            if nats:
                r, outs = together(paths, method)
            else:
                outs = [os.path.join(at, "out")]
                r = run("rank", *paths, "--method", method, "-o", outs[0])
            got = {}
            for out in outs:
                got.update(scores(out))
            off = sum(abs(got[n] - x) for n, x in want.items())
            assert len(got) == len(want)
            print(r["agents"], method, r["rounds"], "rounds", r["iterations"], "sweeps", r["bytes_exchanged"], "bytes",
                  round(r["seconds"], 3), "s", "off by %.1e" % off,
                  *(["whole: %.1f s, server: %d messages, %d bytes" % (r["whole"], *r["taken"])] if nats else []), flush=True)
