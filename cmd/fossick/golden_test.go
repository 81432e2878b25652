package main

import (
	"bufio"
	"crypto/sha256"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fossick/crawler/plan"
	"fossick/datasets"
	"fossick/datasets/web"
	"fossick/eval/lab"
	"fossick/internal/testkit"
)

var updateOrders = flag.Bool("update-orders", false, "write the crawl orders of this build to testdata/orders.txt")

// TestOrdersAreKept compares crawl orders with those of earlier builds, by their hashes: of every
// policy in the lab, and of focus with one worker over a served corpus. After an intended change, run
// it with -update-orders and say why.
func TestOrdersAreKept(t *testing.T) {
	t.Parallel()
	golden := readOrders(t)
	for _, test := range []struct {
		corpus, topic string
		pages, served int // of a crawl in the lab, and by focus
		folders       int // only pages in at most so many folders are served
		seeds         []string
	}{
		{"demo", "science", 80, 80, 9, []string{"http://openlab.test/", "http://moneyroom.test/"}},
		{"wikispeedia", "science", 1500, 150, 9, []string{"http://h183.test/wiki/16_Cygni", "http://h115.test/wiki/Ireland"}},
		{"uci_ics", "programming", 1500, 100, 1, []string{"http://www.ics.uci.edu/", "http://www.informatics.uci.edu/"}},
	} {
		t.Run(test.corpus, func(t *testing.T) {
			corpus := test.corpus
			if corpus != "demo" {
				testkit.Only(t, "crawls a corpus by every policy")
				corpus = testkit.Corpus(t, corpus)
			}
			set := testkit.Call(datasets.Open(corpus, datasets.Options{})).Must(t)
			c := testkit.Call(lab.Load(t.Context(), set)).Must(t)
			addr, ca := served(t, upperFolders(t, corpus, test.folders), web.Options{})
			labeller := rememberingLabeller(t, test.topic)
			for _, name := range plan.Names() {
				golden.check(t, test.corpus+" lab "+name, virtualOrder(t, c, labeller, test.topic, name, test.seeds, test.pages))
			}
			args := []string{"focus", "--topic", test.topic, "--json", "--quiet",
				"--proxy", "http://" + addr, "--ca", ca, "--delay", "0", "--workers", "1",
				"--max-pages", fmt.Sprint(test.served), "--store", filepath.Join(t.TempDir(), "crawl")}
			for _, s := range test.seeds {
				args = append(args, "--seed", s)
			}
			golden.check(t, test.corpus+" focus", focusOrder(t, args))
		})
	}
	golden.save(t)
}

const ordersFile = "testdata/orders.txt"

// orderHashes maps the name of a crawl to the hash of its order.
type orderHashes map[string]string

func readOrders(t *testing.T) orderHashes {
	t.Helper()
	f := testkit.Call(os.Open(ordersFile)).Must(t)
	defer f.Close()
	o := orderHashes{}
	for s := bufio.NewScanner(f); s.Scan(); {
		hash, name, _ := strings.Cut(s.Text(), " ")
		o[name] = hash
	}
	return o
}

func (o orderHashes) check(t *testing.T, name string, urls []string) {
	t.Helper()
	hash := fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(urls, "\n"))))[:16]
	if *updateOrders {
		o[name] = hash
	}
	if o[name] != hash {
		t.Errorf("%s: another order of %d pages: %s, want %s", name, len(urls), hash, o[name])
	}
}

func (o orderHashes) save(t *testing.T) {
	t.Helper()
	if !*updateOrders {
		return
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(o)) {
		fmt.Fprintf(&b, "%s %s\n", o[name], name)
	}
	testkit.Must(t, os.WriteFile(ordersFile, []byte(b.String()), 0o600))
}
