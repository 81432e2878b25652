#!/usr/bin/env python3
"""Table of the ways to rank: iterations, residual and time of each on california, debdocs,
uci_ics and a synthetic web of a million pages, as Markdown.

    scripts/ranktable.py [GRAPH…]   # other graphs than these

FOSSICK names the binary (built without it), FOSSICK_DATA the folder of the corpora.
"""

import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.environ.get("FOSSICK_DATA", os.path.join(HERE, "../../shared/data"))
WAYS = ("gauss-seidel", "blockrank", "blockrank-kamvar", "blockrank-short", "power", "hits")


def run(binary, *args):
    """Runs a verb and returns its JSON."""
    out = subprocess.run([binary, *args, "--json", "--quiet"], capture_output=True, text=True, check=False)
    if out.returncode:
        sys.exit(f"fossick {' '.join(args)}: {out.stdout}{out.stderr}")
    return json.loads(out.stdout)


def main():
    graphs = sys.argv[1:] or [
        os.path.join(DATA, "graphs/california.edges.tsv.zst"), os.path.join(DATA, "debdocs/links.tsv.zst"),
        os.path.join(DATA, "uci_ics/links.tsv.zst"), "synthetic:1000000",
    ]
    print("| graph | method | iterations | residual | processor time, s | time, s |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as work:
        binary = os.environ.get("FOSSICK")
        if not binary:
            binary = os.path.join(work, "fossick")
            subprocess.run(["go", "build", "-o", binary, "./cmd/fossick"], cwd=os.path.join(HERE, ".."), env={**os.environ, "CGO_ENABLED": "0"}, check=True)
        for source in graphs:
            graph = os.path.join(work, "graph")
            run(binary, "graph", source, "-o", graph)
            name = os.path.basename(source).split(".")[0]
            name = os.path.basename(os.path.dirname(source)) if name == "links" else name
            for i, way in enumerate(WAYS):
                r = run(binary, "rank", graph, "--method", way)
                if i == 0:
                    name = f"{name}, {r['nodes']:,} nodes, {r['edges']:,} edges"
                iterations = r["iterations"] if r["iterations_before"] is None else f"{r['iterations_before']} + {r['iterations']}"
                print(f"| {name} | {way} | {iterations} | {r['residual']:.1e} | {r['cpu_seconds']:.3f} | {r['seconds']:.3f} |", flush=True)
                name = ""
            os.remove(graph)


if __name__ == "__main__":
    main()
