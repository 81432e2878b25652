#!/usr/bin/env python3
"""Harvest of many agents against one, with the same workers in all: docs/cluster.md.

  scripts/agentharvest.py CORPUS TOPIC [--agents 8] [--sets 10] [--pages 229,460] [--latency 200ms] [--at-once 1] [--work DIR] [FLAGS OF focus]

Trains a linear model on 600 random labelled pages, crawls from as many sets of ten
random start pages on topic (none of them for training) by one agent and by each
number of agents, in turns, and judges by the corpus's labels. Gives the mean harvest
of one, and for each number the ratio of the means with two standard errors of the
paired ratios; with --json a line for each crawl. A crawl waits more than it works, so some can
run at once. 1 among --agents shows what chance does.
"""
import argparse, json, math, pathlib, random, shutil, tempfile, time
from concurrent.futures import ThreadPoolExecutor

import corpora


def crawl(fossick, proxy, args, flags, model, work, pages, s, agents):
    store = work / f"{pages}-{s}-{agents}"
    shutil.rmtree(store, ignore_errors=True)
    began = time.monotonic()
    corpora.run(fossick, "focus", "--topic", args.topic, "--model", model, "--seeds", work / f"{s}.seeds", "--proxy", proxy,
                "--agents", max(1, agents), "--max-pages", pages, "--store", store, "--quiet", *flags)
    took = time.monotonic() - began
    found = json.loads(corpora.run(fossick, "eval", store, "--truth", work / "truth", "--target", args.topic, "--json", "--quiet"))
    shutil.rmtree(store)
    if args.json:
        print(json.dumps({"topic": args.topic, "pages": pages, "set": s, "agents": agents, "harvest": found["harvest"], "fetched": found["fetched"], "seconds": round(took, 1)}), flush=True)
    return found["harvest"], took


def mean(values):
    return sum(values) / len(values)


def ratio(ones, many):
    ratios = [m / o for o, m in zip(ones, many) if o]
    error = math.sqrt(sum((r - mean(ratios)) ** 2 for r in ratios) / max(1, len(ratios) - 1) / len(ratios))
    return f"{mean(many) / mean(ones):.3f} (±{2 * error:.3f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", help="wikispeedia, webkb, debdocs, …")
    parser.add_argument("topic")
    parser.add_argument("--agents", default="8")
    parser.add_argument("--sets", type=int, default=10)
    parser.add_argument("--pages", default="229,460")
    parser.add_argument("--latency", default="200ms")
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--json", action="store_true")
    args, flags = parser.parse_known_args()
    corpus = corpora.Corpus(args.corpus)
    with tempfile.TemporaryDirectory() as folder:
        work = args.work or pathlib.Path(folder)
        fossick = corpora.build(work)
        model, on = corpus.train(fossick, work, args.topic)
        corpus.truth(work / "truth", args.topic, corpus.rows)
        for s in range(args.sets):
            (work / f"{s}.seeds").write_text("\n".join(random.Random(f"{args.topic} {s}").sample(on, 10)) + "\n")
        numbers = [0, *map(int, args.agents.split(","))]  # 0: one agent, the baseline
        with corpus.served(fossick, "--latency", args.latency) as proxy, ThreadPoolExecutor(args.at_once) as pool:
            for pages in map(int, args.pages.split(",")):
                runs = [[pool.submit(crawl, fossick, proxy, args, flags, model, work, pages, s, n) for n in numbers] for s in range(args.sets)]
                found = [list(zip(*(run.result() for run in of_number))) for of_number in zip(*runs)]
                ones, cells = found[0][0], [f"{ratio(found[0][0], harvest)} in {mean(took):.1f} s" for harvest, took in found[1:]]
                print(f"| {args.topic} | {pages} | {mean(ones):.3f} in {mean(found[0][1]):.1f} s | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
