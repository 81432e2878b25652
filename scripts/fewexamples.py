#!/usr/bin/env python3
"""Compares crawls by topic new's model of a few examples with crawls by train's model of 600
labelled pages. Prints a line for each topic, draw and number of examples.

    scripts/fewexamples.py FOSSICK CORPUS TOPIC,... [--examples 5,10,30] [--draws 3]

The unlabelled pool is the same 600 random pages, without labels; the examples are drawn from the
other pages on topic. Both models crawl in the lab, from the same start sets. a+b is a topic of two
labels.
"""
import argparse, json, os, random, subprocess, sys, tempfile

a = argparse.ArgumentParser()
a.add_argument("fossick")
a.add_argument("corpus")
a.add_argument("topics")
a.add_argument("--examples", default="5,10,30")
a.add_argument("--draws", type=int, default=3)
a.add_argument("--pool", type=int, default=600)
a.add_argument("--pages", default="", help="of a crawl, with a comma between several [5 %% of the corpus]")
a.add_argument("--start-sets", default="4")
a.add_argument("--starts", default="5")
a.add_argument("--policy", default="learned")
opt = a.parse_args()


def rows():
    p = subprocess.Popen(["zstd", "-dcq", f"{opt.corpus}/pages.jsonl.zst"], stdout=subprocess.PIPE)
    return map(json.loads, p.stdout)


def truth():
    labels = {}
    if os.path.exists(f"{opt.corpus}/labels.tsv.zst"):
        out = subprocess.run(["zstd", "-dcq", f"{opt.corpus}/labels.tsv.zst"], stdout=subprocess.PIPE, check=True).stdout
        for line in out.decode().splitlines():
            if line and not line.startswith("#"):
                url, label, *more = line.split("\t")
                labels[url] = {label, *(more[0].split("|") if more else [])}
        return labels
    for e in rows():
        labels[e["url"]] = {e["label"], *e.get("labels", [])}
    return labels


def fossick(*args):
    r = subprocess.run([opt.fossick, *args, "--json", "--quiet"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if r.returncode:
        sys.exit(f"fossick {' '.join(args)}: {r.stderr.decode()[-800:]}")
    return json.loads(r.stdout)


def harvest(model, truth_file, pages):
    r = fossick("lab", opt.corpus, "--topic", "target", "--truth", truth_file, "--policy", opt.policy, "--model", model,
                "--start-sets", opt.start_sets, "--starts", opt.starts, "--pages", str(pages))
    return next(iter(r["policies"].values()))["harvest"]


labels = truth()
urls = sorted(labels)
pages = int(opt.pages) if opt.pages else len(urls) // 20
print("corpus\ttopic\tdraw\texamples\tharvest of 600 labelled\tharvest\tratio\tshare / true\tpromised precision, recall", flush=True)
with tempfile.TemporaryDirectory() as tmp:
    for topic in opt.topics.split(","):
        wanted = set(topic.split("+"))
        on = [u for u in urls if labels[u] & wanted]
        truth_file = f"{tmp}/truth.tsv"
        with open(truth_file, "w") as f:
            for u in urls:
                label = "target" if labels[u] & wanted else "other"
                f.write(f"{u}\t{label}\t{label}\n")
        for draw in range(opt.draws):
            rng = random.Random(f"{topic} {draw}")
            pool = set(rng.sample(urls, opt.pool))
            numbers = [int(n) for n in opt.examples.split(",")]
            shown = rng.sample([u for u in on if u not in pool], max(numbers))
            at = {u: k for k, u in enumerate(shown)}
            given = [None] * len(shown)
            with open(f"{tmp}/labelled.jsonl", "w") as l, open(f"{tmp}/pool.jsonl", "w") as p:
                for e in rows():
                    u = e["url"]
                    if u not in pool and u not in at:
                        continue
                    e = {k: e[k] for k in ("url", "site", "title", "html", "text") if k in e}
                    if u in at:
                        given[at[u]] = json.dumps({**e, "label": "target"})
                        continue
                    p.write(json.dumps(e) + "\n")
                    l.write(json.dumps({**e, "label": "target" if labels[u] & wanted else "other"}) + "\n")
            fossick("train", f"{tmp}/labelled.jsonl", "--topic", "target", "-o", f"{tmp}/full.model")
            full = harvest(f"{tmp}/full.model", truth_file, pages)
            for n in numbers:
                with open(f"{tmp}/examples.jsonl", "w") as f:
                    f.write("\n".join(given[:n]) + "\n")
                out = f"{tmp}/{draw}-{n}-{len(os.listdir(tmp))}"
                made = fossick("topic", "new", "target", "--examples", f"{tmp}/examples.jsonl", "--unlabelled", f"{tmp}/pool.jsonl", "--out", out)
                got = harvest(made["model"], truth_file, pages)
                u = made["unlabelled"]
                true = max(0.5, len(pool & set(on))) / len(pool)
                print(f"{os.path.basename(opt.corpus)}\t{topic}\t{draw}\t{n}\t{full:.3f}\t{got:.3f}\t{got / max(full, 1e-9):.2f}\t"
                      f"{u['share_on_topic'] / true:.2f}\t{u['precision']:.2f}, {u['recall']:.2f}", flush=True)
