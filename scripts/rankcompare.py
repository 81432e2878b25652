#!/usr/bin/env python3
"""Compares fossick's PageRank and HITS with networkx's and igraph's, and with how fast
igraph's is.

    scripts/rankcompare.py check   # on random graphs, california, hollins, debdocs: to 1e-9
    scripts/rankcompare.py time [PAGES]   # beside PRPACK on a synthetic web of 325,557 pages, and uci_ics

Needs Debian's python3-networkx, python3-igraph, python3-numpy and python3-scipy, and zstd;
FOSSICK names the binary (built without it), FOSSICK_DATA the folder of the corpora.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time

import igraph
import networkx as nx
import numpy as np
import scipy.sparse as sp

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.environ.get("FOSSICK_DATA", os.path.join(HERE, "../../shared/data"))
DAMPING = 0.85


def fossick(binary, *args):
    """Runs a verb and returns its JSON."""
    out = subprocess.run([binary, *args, "--json", "--quiet"], capture_output=True, text=True, check=False)
    if out.returncode:
        sys.exit(f"fossick {' '.join(args)}: {out.stdout}{out.stderr}")
    return json.loads(out.stdout)


def scores(binary, path, method, *args, epsilon="1e-13"):
    """The scores of all nodes, by name: one a node, or two by HITS."""
    with tempfile.NamedTemporaryFile("r") as out:
        result = fossick(binary, "rank", path, "--method", method, "--epsilon", epsilon,
                         "--max-iterations", "100000", "-o", out.name, *args)
        with open(out.name) as f:  # rank has replaced the file
            rows = [line.rstrip("\n").split("\t") for line in f]
    return {r[0]: [float(x) for x in r[1:]] for r in rows}, result


def edges_of(path):
    """The edges of an edge list, as it names the nodes, without loops and repetitions."""
    text = subprocess.run(["zstd", "-dc", path], capture_output=True, text=True, check=True).stdout if path.endswith(".zst") else open(path).read()
    edges = dict.fromkeys(tuple(line.split("\t")[:2]) for line in text.splitlines() if line and line[0] != "#")
    return [e for e in edges if e[0] != e[1]]


def worst(got, want, column=0):
    return max((abs(got[v][column] - x) for v, x in want.items()), default=0)


def truth_hits(g):
    """Hubs and authorities from the dense or sparse singular vectors, by networkx; None where the
    largest singular value stands twice, so that they are not unique."""
    a = nx.to_scipy_sparse_array(g, dtype=float)
    if min(a.shape) < 40:
        s = np.linalg.svd(a.toarray(), compute_uv=False)
    else:
        s = np.sort(sp.linalg.svds(a, k=2, return_singular_vectors=False, tol=0))[::-1]
    if len(s) < 2 or s[0] == 0 or s[1] / s[0] > 1 - 1e-6:
        return None
    return nx.hits(g, tol=0, max_iter=100000)


def compare(binary, name, edges, nodes, path, rng):
    """Prints the largest differences on one graph, and returns the worst."""
    g = nx.DiGraph()
    g.add_nodes_from(nodes)
    g.add_edges_from(edges)
    number = {v: i for i, v in enumerate(nodes)}
    ig = igraph.Graph(n=len(nodes), edges=[(number[a], number[b]) for a, b in edges], directed=True)
    some = {v: rng.random() for v in nodes if rng.random() < 0.2} or {nodes[0]: 1.0}
    with tempfile.NamedTemporaryFile("w", suffix=".tsv") as f:
        f.writelines(f"{v}\t{x!r}\n" for v, x in some.items())
        f.flush()
        personal = f.name
        row = {}
        want_nx = nx.pagerank(g, alpha=DAMPING, tol=1e-14 / len(nodes), max_iter=100000)
        want_ig = dict(zip(nodes, ig.pagerank(damping=DAMPING, implementation="prpack")))
        want_own = nx.pagerank(g, alpha=DAMPING, tol=1e-14 / len(nodes), max_iter=100000, personalization=some)
        for method in ("power", "gauss-seidel", "blockrank", "blockrank-kamvar"):
            if method.startswith("blockrank") and name.startswith("random"):
                continue  # its nodes have no hosts
            got, _ = scores(binary, path, method)
            row[method] = worst(got, want_nx)
            row[method + "/igraph"] = worst(got, want_ig)
            row[method + "/personal"] = worst(scores(binary, path, method, "--personal", personal)[0], want_own)
    hits = truth_hits(g)
    if hits is not None:
        got, _ = scores(binary, path, "hits", epsilon="1e-12")
        hub, authority = hits
        row["authority"], row["hub"] = worst(got, authority), worst(got, hub, 1)
    return row


def check(binary):
    """Compares on random graphs and three webs."""
    rng = random.Random(1)
    all_rows, bad = [], 0
    with tempfile.TemporaryDirectory() as work:
        for i in range(20):
            n = rng.randrange(2, 200)
            edges = sorted({(str(a), str(b)) for a, b in ((rng.randrange(n), rng.randrange(n)) for _ in range(int(n * rng.uniform(1, 6)))) if a != b})
            path = os.path.join(work, f"r{i}.tsv")
            with open(path, "w") as f:
                f.writelines(f"{a}\t{b}\n" for a, b in edges)
            nodes = sorted({v for e in edges for v in e})
            all_rows.append(("random", compare(binary, "random", edges, nodes, path, rng)))
        for name, path, urls in (
            ("california", "graphs/california.edges.tsv.zst", "graphs/california.urls.tsv.zst"),
            ("hollins", "graphs/hollins.edges.tsv.zst", "graphs/hollins.urls.tsv.zst"),
            ("debdocs", "debdocs/links.tsv.zst", None),
        ):
            path = os.path.join(DATA, path)
            edges = edges_of(path)
            if urls:  # URLs give nodes a host; a repeated one gets a number
                text = subprocess.run(["zstd", "-dc", os.path.join(DATA, urls)], capture_output=True, text=True, check=True).stdout
                ids = [line.split("\t")[0] for line in text.splitlines()]
                path = os.path.join(work, name + ".tsv")
                url, seen = {}, set()
                for line in text.splitlines():
                    i, u = line.split("\t")
                    url[i] = u if u not in seen else f"{u}#{i}"
                    seen.add(u)
                edges = [(url[a], url[b]) for a, b in edges]
                with open(path, "w") as f:
                    f.writelines(f"{a}\t{b}\n" for a, b in edges)
            nodes = sorted({v for e in edges for v in e})
            all_rows.append((name, compare(binary, name, edges, nodes, path, rng)))
    print("| graphs | compared | largest difference |\n|---|---|---|")
    for name in dict.fromkeys(n for n, _ in all_rows):
        rows = [r for n, r in all_rows if n == name]
        for what in dict.fromkeys(k for r in rows for k in r):
            values = [r[what] for r in rows if what in r]
            bad += max(values) > 1e-9
            print(f"| {name} ({len(values)}) | {what} | {max(values):.1e} |")
    if bad:
        sys.exit(f"{bad} of them are more than 1e-9")


def residual(n, edges, x):
    """What a step of the power iteration changes, in the L1 norm."""
    degree = np.bincount(edges[:, 0], minlength=n)
    share = np.where(degree > 0, DAMPING * x / np.maximum(degree, 1), 0)
    y = np.bincount(edges[:, 1], weights=share[edges[:, 0]], minlength=n) + (1 - DAMPING + DAMPING * x[degree == 0].sum()) / n
    return abs(y - x).sum()


# Processor time is comparable on a shared machine. fossick's includes reading and transposing the
# graph, igraph's includes the conversion to PRPACK's format.
def timed(binary, name, source):
    """Times PRPACK and fossick in turn, to the residual that PRPACK comes to."""
    with tempfile.TemporaryDirectory() as work:
        graph, listed = os.path.join(work, "g.graph"), os.path.join(work, "g.tsv")
        fossick(binary, "graph", source, "-o", graph, "--edges", listed)
        edges = np.loadtxt(listed, dtype=np.int64, ndmin=2)
        n = fossick(binary, "graph", graph)["nodes"]
        g = igraph.Graph(n=n, edges=edges.tolist(), directed=True)
        best = {}
        for _ in range(3):
            wall, cpu = time.perf_counter(), time.process_time()
            x = np.array(g.pagerank(damping=DAMPING, implementation="prpack"))
            best["PRPACK"] = min(best.get("PRPACK", (9e9, 9e9)), (time.process_time() - cpu, time.perf_counter() - wall))
            left = residual(n, edges, x)
            for method in ("gauss-seidel", "power", "blockrank", "blockrank-kamvar"):
                r = fossick(binary, "rank", graph, "--method", method, "--epsilon", repr(left))
                took = (r["cpu_seconds"], r["seconds"])
                best[method] = min(best.get(method, (9e9, 9e9)), took)
                print(f"{name}: {method} {took[0]:.3f} s, PRPACK {best['PRPACK'][0]:.3f} s", file=sys.stderr, flush=True)
        print(f"\n{name}: {n} nodes, {len(edges)} edges, residual {left:.1e}\n")
        print("| method | processor time, s | time, s |\n|---|---|---|")
        for method, (cpu, wall) in best.items():
            print(f"| {method} | {cpu:.3f} | {wall:.3f} |")


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in ("check", "time"):
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as work:
        binary = os.environ.get("FOSSICK")
        if not binary:
            binary = os.path.join(work, "fossick")
            subprocess.run(["go", "build", "-o", binary, "./cmd/fossick"], cwd=os.path.join(HERE, ".."), env={**os.environ, "CGO_ENABLED": "0"}, check=True)
        if sys.argv[1] == "check":
            check(binary)
            return
        timed(binary, "synthetic web", "synthetic:" + (sys.argv[2] if len(sys.argv) > 2 else "325557"))
        timed(binary, "uci_ics", os.path.join(DATA, "uci_ics/links.tsv.zst"))


if __name__ == "__main__":
    main()
