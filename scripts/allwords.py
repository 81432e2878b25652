#!/usr/bin/python3
"""scikit-learn and fossick on the same rows: accuracy by pipeline, all words.

    FOSSICK_DATA=data scripts/allwords.py [webkb] [wikispeedia] [20news] [--ours NAME,...] [--flags '...']
    FOSSICK_DATA=data scripts/allwords.py speed

WebKB (student, faculty, course, project): each university held out in turn.
Wikispeedia: each fifth of train.jsonl.zst. 20 Newsgroups: its own split. Means
with 95 % intervals (Student's t over the parts; Wilson's for a single part), then
the difference to the best peer, part by part.

The peers' text is the page without scripts, styles, comments and tags, entities
decoded; the title is in it. Their terms are TfidfVectorizer's words, with
logarithms of TF (sublinear_tf, which serves every peer best), with all words and
with those of two pages at least. Their settings are the defaults. Ours is the
binary as a user runs it, from the same rows. speed compares times on 20 Newsgroups:
from the file of training posts to a model, and from a post's text to its label, in
wall and processor seconds. Needs python3-sklearn and zstd.
"""
import argparse, html, json, math, os, re, resource, shlex, subprocess, sys, tempfile, time
from statistics import median

try:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression, SGDClassifier
    from sklearn.naive_bayes import ComplementNB
    from sklearn.svm import LinearSVC
except ImportError:
    sys.exit("no scikit-learn here, nothing to compare with: install python3-sklearn")

ROLES = ["student", "faculty", "course", "project"]
T95 = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776}  # Student's t by degrees of freedom
PEERS = {
    "LinearSVC": lambda: LinearSVC(),
    "SGD hinge": lambda: SGDClassifier(random_state=0),
    "logistic regression": lambda: LogisticRegression(max_iter=1000),
    "complement naive Bayes": lambda: ComplementNB(),
}


def rows(path):
    """The rows of a .jsonl.zst, with their line as it stands."""
    lines = subprocess.run(["zstd", "-dcq", path], capture_output=True, check=True).stdout.splitlines()
    return [dict(json.loads(line), line=line) for line in lines if line.strip()]


def strip(row):
    """The text of a row; see above."""
    if not row.get("html"):
        return row.get("text", "")
    h = re.sub(r"(?is)<(script|style)\b.*?</\1>|<!--.*?-->", " ", row["html"])
    return html.unescape(re.sub(r"(?s)<[^>]*>", " ", h))


def parts(data, name):
    """Yields (part, training rows, test rows)."""
    if name == "webkb":
        all_ = [r for r in rows(f"{data}/webkb/pages.jsonl.zst") if r["label"] in ROLES]
        for site in ["texas", "washington", "cornell", "misc"]:
            yield site, [r for r in all_ if r["site"] != site], [r for r in all_ if r["site"] == site]
    elif name == "wikispeedia":
        all_ = rows(f"{data}/wikispeedia/train.jsonl.zst")
        for k in range(5):
            yield f"fifth {k + 1}", [r for i, r in enumerate(all_) if i % 5 != k], all_[k::5]
    else:
        all_ = rows(f"{data}/20news/pages.jsonl.zst")
        yield "split", [r for r in all_ if r["split"] == "train"], [r for r in all_ if r["split"] == "test"]


def peers(train, test):
    """Accuracy by peer and vocabulary."""
    text, labels = [strip(r) for r in train], [r["label"] for r in train]
    out = {}
    for least, words in ((1, "all words"), (2, "words of two pages")):
        v = TfidfVectorizer(sublinear_tf=True, min_df=least)
        x, z = v.fit_transform(text), v.transform([strip(r) for r in test])
        for name, make in PEERS.items():
            out[f"{name}, {words}"] = make().fit(x, labels).score(z, [r["label"] for r in test])
    return out


def ours(binary, train, test, names, flags):
    """Accuracy by classifier of the binary."""
    out = {}
    with tempfile.TemporaryDirectory() as dir_:
        for name, part in (("train", train), ("test", test)):
            with open(f"{dir_}/{name}.jsonl", "wb") as f:
                f.write(b"\n".join(r["line"] for r in part) + b"\n")
        for name in names:
            done = subprocess.run(
                [binary, "train", f"{dir_}/train.jsonl", "--all", "--test", f"{dir_}/test.jsonl", "--classifier", name,
                 "-o", f"{dir_}/x.model", "--json", "--quiet", *flags], capture_output=True)
            result = json.loads(done.stdout)
            if done.returncode:
                sys.exit(f"fossick train --classifier {name}: {result.get('error')}")
            out[f"fossick {name}"] = result["accuracy"]
    return out


def interval(x, pages):
    """Mean and 95 % interval of accuracies; pages is the size of a single part's test."""
    n, mean = len(x), sum(x) / len(x)
    if n == 1:
        z = 1.959964
        middle = (mean + z * z / (2 * pages)) / (1 + z * z / pages)
        half = z / (1 + z * z / pages) * math.sqrt(mean * (1 - mean) / pages + z * z / (4 * pages * pages))
        return mean, middle - half, middle + half
    half = T95[n - 1] * math.sqrt(sum((v - mean) ** 2 for v in x) / (n - 1) / n)
    return mean, mean - half, mean + half


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("sets", nargs="*", default=["webkb", "wikispeedia", "20news"])
    p.add_argument("--ours", default="linear")
    p.add_argument("--flags", default="", help="further flags of fossick train")
    p.add_argument("--no-peers", action="store_true")
    a = p.parse_args()
    data = os.environ.get("FOSSICK_DATA") or sys.exit("set FOSSICK_DATA to the folder of corpora")
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    with tempfile.TemporaryDirectory() as dir_:
        binary = f"{dir_}/fossick"
        subprocess.run(["go", "build", "-o", binary, "./cmd/fossick"], cwd=root, check=True)
        for name in a.sets:
            if name == "speed":
                speed(data, binary)
                continue
            compare(data, name, binary, a)


def clocks(who):
    """Wall and processor seconds of this process, or of its children."""
    u = resource.getrusage(who)
    return time.perf_counter(), u.ru_utime + u.ru_stime


def speed(data, binary):
    """Times of training and prediction on 20 Newsgroups; three rounds, the least of each."""
    from sklearn.pipeline import make_pipeline
    _, train, test = next(parts(data, "20news"))
    best, test = {}, test[:1000]

    def note(what, before, who, n=1):
        now = clocks(who)
        for clock, a, b in zip(("wall", "processor"), before, now):
            best[what, clock] = min(best.get((what, clock), math.inf), (b - a) / n)

    with tempfile.TemporaryDirectory() as dir_:
        for name, rows_ in (("train", train), ("test", test)):
            with open(f"{dir_}/{name}.jsonl", "wb") as f:
                f.write(b"\n".join(r["line"] for r in rows_) + b"\n")
        for _ in range(3):
            t = clocks(resource.RUSAGE_CHILDREN)
            subprocess.run([binary, "train", f"{dir_}/train.jsonl", "--all", "--classifier", "linear", "-o", f"{dir_}/x.model",
                            "--quiet", "--json"], check=True, capture_output=True)
            note("train, fossick", t, resource.RUSAGE_CHILDREN)
            t = clocks(resource.RUSAGE_SELF)
            lines = [json.loads(line) for line in open(f"{dir_}/train.jsonl", "rb")]
            p = make_pipeline(TfidfVectorizer(sublinear_tf=True), LinearSVC())
            p.fit([strip(r) for r in lines], [r["label"] for r in lines])
            note("train, LinearSVC", t, resource.RUSAGE_SELF)
            one = []
            for r in test:
                start = time.perf_counter()
                p.predict([strip(r)])
                one.append(time.perf_counter() - start)
            t = clocks(resource.RUSAGE_SELF)
            p.predict([strip(r) for r in test])
            note("a page, LinearSVC all at once", t, resource.RUSAGE_SELF, len(test))
        done = subprocess.run([binary, "train", f"{dir_}/train.jsonl", "--test", f"{dir_}/test.jsonl", "--classifier", "linear",
                               "-o", f"{dir_}/x.model", "--quiet", "--json"], check=True, capture_output=True)
        us = json.loads(done.stdout)["predict_us"]
    for clock in ("wall", "processor"):
        print(f"train: fossick takes {best['train, fossick', clock] / best['train, LinearSVC', clock]:.2f} of LinearSVC's {clock} time")
    print(f"a page: {us:.0f} us by fossick, {1e6 * median(one):.0f} us by LinearSVC, medians of wall time one by one")
    print("| what | wall s | processor s |\n|---|---|---|")
    for what in dict.fromkeys(w for w, _ in best):
        print(f"| {what} | {best[what, 'wall']:.6f} | {best[what, 'processor']:.6f} |")


def compare(data, name, binary, a):
    table, pages, names = {}, 0, []
    for part, train, test in parts(data, name):
        names.append(part)
        pages = len(test)
        got = {} if a.no_peers else peers(train, test)
        got.update(ours(binary, train, test, a.ours.split(","), shlex.split(a.flags)))
        for line, accuracy in got.items():
            table.setdefault(line, []).append(accuracy)
    print(f"\n| {name} | " + " | ".join(names) + " | mean | 95 % interval |\n|" + "---|" * (len(names) + 3))
    for line, x in table.items():
        mean, lo, hi = interval(x, pages)
        print(f"| {line} | " + " | ".join(f"{v:.3f}" for v in x) + f" | {mean:.4f} | {lo:.3f} to {hi:.3f} |")
    others = {line: x for line, x in table.items() if not line.startswith("fossick")}
    if not others:
        return
    best = max(others, key=lambda line: sum(others[line]))
    for line in sorted(set(table) - set(others)):
        d, lo, hi = interval([u - v for u, v in zip(table[line], others[best])], pages)
        print(f"{line} less {best}: {100 * d:+.2f} points" + (f" ({100 * lo:+.2f} to {100 * hi:+.2f})" if len(names) > 1 else ""))
    sys.stdout.flush()


main()
