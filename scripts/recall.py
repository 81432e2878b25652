#!/usr/bin/env python3
"""How far the recall that eval estimates is from the true one: docs/eval.md.

  scripts/recall.py CORPUS [--topics A,B] [--sets 10] [--pages 230,460,920] [--reach] [--work DIR] [FLAGS OF focus]

Serves the corpus, and for each topic trains a linear model on 600 random
labelled pages, crawls from as many sets of ten random start pages on topic (none
of them for training), and judges every pair of crawls of one size by the
corpus's labels. A true recall is the share of all pages on topic, or with --reach of
those that links of the corpus lead to from any of the start pages. --work keeps
models and stores, and what is there already is not made again. CORPUS is a folder
below FOSSICK_DATA (default ../shared/data) with pages.jsonl.zst and links.tsv.zst.
"""
import argparse, itertools, json, math, pathlib, random, tempfile
from collections import defaultdict

from corpora import Corpus, build, run

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("corpus", help="wikispeedia, webkb, debdocs, …")
parser.add_argument("--topics", default="Astronomy,Biology,IT,Religion")
parser.add_argument("--sets", type=int, default=10)
parser.add_argument("--pages", default="230,460,920")
parser.add_argument("--reach", action="store_true")
parser.add_argument("--work", type=pathlib.Path)
args, focus_flags = parser.parse_known_args()


def reachable(start, links):
    seen, todo = set(start), list(start)
    while todo:
        for to in links[todo.pop()]:
            if to not in seen:
                seen.add(to)
                todo.append(to)
    return seen


def crawl(fossick, work, proxy, topic, corpus, links):
    """Crawls of every size from every start set, and the truth that judges them."""
    model, on = corpus.train(fossick, work, topic)
    starts = [random.Random(f"{topic} {s}").sample(on, 10) for s in range(args.sets)]
    truth = work / f"{topic}.truth"
    corpus.truth(truth, topic, reachable(itertools.chain(*starts), links) & corpus.rows.keys() if args.reach else corpus.rows)
    stores = defaultdict(list)
    for s, seeds in enumerate(starts):
        (work / f"{topic}-{s}.seeds").write_text("\n".join(seeds) + "\n")
        for pages in map(int, args.pages.split(",")):
            store = work / f"{topic}-{s}-{pages}"
            done = work / f"{topic}-{s}-{pages}.done"
            if not done.exists():
                run(fossick, "focus", "--topic", topic, "--model", model, "--seeds", work / f"{topic}-{s}.seeds", "--proxy", proxy,
                    "--delay", "0", "--max-pages", pages, "--store", store, "--quiet", *focus_flags)
                done.touch()
            stores[pages].append(store)
    return truth, stores


def judge(fossick, truth, topic, stores):
    """One row a pair: true recall, (value, lo, hi) of the estimate and of its bound."""
    for a, b in itertools.combinations(stores, 2):
        r = json.loads(run(fossick, "eval", a, b, "--truth", truth, "--target", topic, "--json", "--quiet"))
        e = r["recall_estimate"]
        if e and e.get("bound"):
            yield r["recall"], (e["value"], *e["ci"]), (e["bound"]["value"], *e["bound"]["ci"])


def figures(rows, k):
    errors = [r[k][0] - r[0] for r in rows]
    held = sum(r[k][1] <= r[0] <= r[k][2] for r in rows) / len(rows)
    return f"{sum(errors) / len(rows):+.3f} ({math.sqrt(sum(e * e for e in errors) / len(rows)):.3f}) | {held:.2f}"


def main():
    corpus = Corpus(args.corpus)
    links = corpus.links()
    with tempfile.TemporaryDirectory() as folder:
        work = args.work or pathlib.Path(folder)
        fossick = build(work)
        with corpus.served(fossick) as proxy:
            print("| topic | pages | pairs | true recall | plain: bias (rmse) | holds | estimate: bias (rmse) | holds |\n|---|---|---|---|---|---|---|---|")
            everything = []
            for topic in args.topics.split(","):
                truth, stores = crawl(fossick, work, proxy, topic, corpus, links)
                for pages, of_size in stores.items():
                    pairs = list(judge(fossick, truth, topic, of_size))
                    everything += pairs
                    if pairs:
                        mean = sum(r[0] for r in pairs) / len(pairs)
                        print(f"| {topic} | {pages} | {len(pairs)} | {mean:.3f} | {figures(pairs, 2)} | {figures(pairs, 1)} |", flush=True)
            print(f"| all | | {len(everything)} | | {figures(everything, 2)} | {figures(everything, 1)} |")


if __name__ == "__main__":
    main()
