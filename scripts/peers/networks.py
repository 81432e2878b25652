"""Reads an export's networks with networkx: a line of JSON a file, with its nodes and edges.

    python3 scripts/peers/networks.py links.gexf links.graphml
"""
import json
import sys

import networkx

for path in sys.argv[1:]:
    read = networkx.read_gexf if path.endswith(".gexf") else networkx.read_graphml
    network = read(path)
    print(json.dumps({
        "directed": network.is_directed(),
        "multiple": network.is_multigraph(),
        "nodes": {str(n).removeprefix("n"): {"id": d.get("id"), "url": d.get("url")} for n, d in network.nodes.items()},
        "edges": [[int(str(n).removeprefix("n")) for n in e] for e in network.edges()],
    }))
