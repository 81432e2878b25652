#!/usr/bin/env python3
"""How far the recall that eval estimates is from the true one: docs/recall.md.

  scripts/recall.py CORPUS [--topics A,B] [--sets 10] [--pages 230,460,920] [--reach] [--work DIR] [FLAGS OF focus]

Serves the corpus, and for each topic trains a linear model on 600 random
labelled pages, crawls from as many sets of ten random start pages on topic (none
of them for training), and judges every pair of crawls of one size by the
corpus's labels. A true recall is the share of all pages on topic, or with --reach of
those that links of the corpus lead to from any of the start pages. --work keeps
models and stores, and what is there already is not made again. CORPUS is a folder
below FOSSICK_DATA (default ../shared/data) with pages.jsonl.zst and links.tsv.zst.
"""
import argparse, itertools, json, math, os, pathlib, random, subprocess, tempfile
from collections import defaultdict

root = pathlib.Path(__file__).resolve().parent.parent
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("corpus", help="wikispeedia, webkb, debdocs, …")
parser.add_argument("--topics", default="Astronomy,Biology,IT,Religion")
parser.add_argument("--sets", type=int, default=10)
parser.add_argument("--pages", default="230,460,920")
parser.add_argument("--reach", action="store_true")
parser.add_argument("--work", type=pathlib.Path)
args, focus_flags = parser.parse_known_args()
data = pathlib.Path(os.environ.get("FOSSICK_DATA", root / "../shared/data")) / args.corpus


def lines(name):
    with subprocess.Popen(["zstdcat", data / name], stdout=subprocess.PIPE) as p:
        for line in p.stdout:  # of bytes, as some URLs have a carriage return in them
            yield line.decode().rstrip("\n")


def read_corpus():
    """Rows by URL, with all labels of each under "labels"."""
    rows = {}
    for line in lines("pages.jsonl.zst"):
        row = json.loads(line)
        row["labels"] = [row["label"]] if "label" in row else []
        if row["url"].startswith("http"):
            rows.setdefault(row["url"], row)
    if (data / "labels.tsv.zst").exists():
        for line in lines("labels.tsv.zst"):
            url, label, more = line.split("\t")
            rows[url]["labels"] = [label] + [l for l in more.split("|") if l]
    return rows


def reachable(start, links):
    seen, todo = set(start), list(start)
    while todo:
        for to in links[todo.pop()]:
            if to not in seen:
                seen.add(to)
                todo.append(to)
    return seen


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stderr}{done.stdout}")
    return done.stdout


def crawl(fossick, work, proxy, topic, rows, links):
    """Crawls of every size from every start set, and the truth that judges them."""
    order = sorted(rows)
    random.Random(f"model {topic}").shuffle(order)
    with open(work / f"{topic}.jsonl", "w") as f:
        for url in order[:600]:
            row = {k: v for k, v in rows[url].items() if k in ("url", "title", "html")}
            f.write(json.dumps(row | {"label": topic if topic in rows[url]["labels"] else "other"}) + "\n")
    if not (work / f"{topic}.model").exists():
        run(fossick, "train", work / f"{topic}.jsonl", "--classifier", "linear", "-o", work / f"{topic}.model", "--quiet")
    on = [u for u in order[600:] if topic in rows[u]["labels"]]
    starts = [random.Random(f"{topic} {s}").sample(on, 10) for s in range(args.sets)]
    reach = reachable(itertools.chain(*starts), links) if args.reach else rows
    truth = work / f"{topic}.truth"
    truth.write_text("".join(f"{u}\t{topic if topic in rows[u]['labels'] else 'other'}\t\n" for u in sorted(rows) if u in reach))
    stores = defaultdict(list)
    for s, seeds in enumerate(starts):
        (work / f"{topic}-{s}.seeds").write_text("\n".join(seeds) + "\n")
        for pages in map(int, args.pages.split(",")):
            store = work / f"{topic}-{s}-{pages}"
            done = work / f"{topic}-{s}-{pages}.done"
            if not done.exists():
                run(fossick, "focus", "--topic", topic, "--model", work / f"{topic}.model", "--seeds", work / f"{topic}-{s}.seeds", "--proxy", proxy,
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
    rows, links = read_corpus(), defaultdict(list)
    for line in lines("links.tsv.zst"):
        source, target = line.split("\t")
        links[source].append(target)
    with tempfile.TemporaryDirectory() as folder:
        work = args.work or pathlib.Path(folder)
        work.mkdir(parents=True, exist_ok=True)
        fossick = work / "fossick"
        subprocess.run(["go", "build", "-o", fossick, "./cmd/fossick"], cwd=root, env=os.environ | {"CGO_ENABLED": "0"}, check=True)
        server = subprocess.Popen([fossick, "serve", data, "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            proxy = "http://" + json.loads(server.stdout.readline())["addr"]
            print("| topic | pages | pairs | true recall | plain: bias (rmse) | holds | estimate: bias (rmse) | holds |\n|---|---|---|---|---|---|---|---|")
            everything = []
            for topic in args.topics.split(","):
                truth, stores = crawl(fossick, work, proxy, topic, rows, links)
                for pages, of_size in stores.items():
                    pairs = list(judge(fossick, truth, topic, of_size))
                    everything += pairs
                    if pairs:
                        mean = sum(r[0] for r in pairs) / len(pairs)
                        print(f"| {topic} | {pages} | {len(pairs)} | {mean:.3f} | {figures(pairs, 2)} | {figures(pairs, 1)} |", flush=True)
            print(f"| all | | {len(everything)} | | {figures(everything, 2)} | {figures(everything, 1)} |")
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
