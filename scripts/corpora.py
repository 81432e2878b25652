"""Shared by scripts that crawl a corpus: its rows and links, a web that serves it, a model."""
import contextlib, json, os, pathlib, random, subprocess
from collections import defaultdict

root = pathlib.Path(__file__).resolve().parent.parent


class Corpus:
    """A folder below FOSSICK_DATA (default ../shared/data) with pages.jsonl.zst and links.tsv.zst."""

    def __init__(self, name):
        self.folder = pathlib.Path(os.environ.get("FOSSICK_DATA", root / "../shared/data")) / name
        self.rows = self._rows()

    def _lines(self, name):
        with subprocess.Popen(["zstdcat", self.folder / name], stdout=subprocess.PIPE) as p:
            for line in p.stdout:  # bytes, because some URLs contain a carriage return
                yield line.decode().rstrip("\n")

    def _rows(self):
        """Rows by URL, with all labels of each under "labels"."""
        rows = {}
        for line in self._lines("pages.jsonl.zst"):
            row = json.loads(line)
            row["labels"] = [row["label"]] if "label" in row else []
            if row["url"].startswith("http"):
                rows.setdefault(row["url"], row)
        if (self.folder / "labels.tsv.zst").exists():
            for line in self._lines("labels.tsv.zst"):
                url, label, more = line.split("\t")
                if url in rows:
                    rows[url]["labels"] = [label] + [l for l in more.split("|") if l]
        return rows

    def links(self):
        """Targets by source."""
        links = defaultdict(list)
        for line in self._lines("links.tsv.zst"):
            source, target = line.split("\t")
            links[source].append(target)
        return links

    def label(self, url, topic):
        return topic if topic in self.rows[url]["labels"] else "other"

    def train(self, fossick, work, topic, pages=600):
        """Returns a linear model of random pages, and all other pages on topic to start from."""
        order = sorted(self.rows)
        random.Random(f"model {topic}").shuffle(order)
        model = work / f"{topic.replace('/', '-')}.model"
        examples = model.with_suffix(".jsonl")
        with open(examples, "w") as f:
            for url in order[:pages]:
                row = {k: v for k, v in self.rows[url].items() if k in ("url", "title", "html")}
                f.write(json.dumps(row | {"label": self.label(url, topic)}) + "\n")
        if not model.exists():
            run(fossick, "train", examples, "--classifier", "linear", "-o", model, "--quiet")
        return model, [url for url in order[pages:] if topic in self.rows[url]["labels"]]

    def truth(self, file, topic, urls):
        file.write_text("".join(f"{u}\t{self.label(u, topic)}\t\n" for u in sorted(urls)))

    @contextlib.contextmanager
    def served(self, fossick, *flags):
        """The address of a web that serves the corpus."""
        server = subprocess.Popen([fossick, "serve", self.folder, "--json", *flags], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            yield "http://" + json.loads(server.stdout.readline())["addr"]
        finally:
            server.terminate()
            server.wait()


def build(work):
    """Returns the binary: built in a folder, or named by FOSSICK."""
    work.mkdir(parents=True, exist_ok=True)
    if "FOSSICK" in os.environ:
        return pathlib.Path(os.environ["FOSSICK"]).resolve()
    subprocess.run(["go", "build", "-o", work / "fossick", "./cmd/fossick"], cwd=root, env=os.environ | {"CGO_ENABLED": "0"}, check=True)
    return work / "fossick"


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stderr}{done.stdout}")
    return done.stdout
