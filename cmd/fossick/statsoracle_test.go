package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"fossick/datasets"
	"fossick/datasets/web"
	"fossick/internal/testkit"
)

// TestStats crawls corpora of which a tenth misbehaves, and compares the tables with webCount's.
func TestStats(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		corpus, seed string
		pages        int
	}{
		{"demo", "http://moneyroom.test/links/banking.html", 400},
		{"debdocs", "http://python-docs.test/index.html", 1000},
		{"webkb", "http://www.cs.cornell.edu/", 1000},
		{"uci_ics", "http://www.ics.uci.edu/", 1000},
	} {
		t.Run(c.corpus, func(t *testing.T) {
			t.Parallel()
			name := c.corpus
			if name != "demo" {
				testkit.Only(t, "crawls a corpus")
				name = testkit.Corpus(t, name)
			}
			set := testkit.Call(datasets.Open(name, datasets.Options{})).Must(t)
			log := &requestLog{}
			addr, ca := serveNamed(t, set, web.Options{Latency: time.Millisecond, Log: log, Faults: web.FaultPlan{
				Share: 0.1, Names: []string{"status-403", "status-410", "redirect-nowhere", "wrong-type", "hang-up", "short-body"}}})
			dir, model := filepath.Join(t.TempDir(), "crawl"), filepath.Join(t.TempDir(), "model")
			fossick(t, "train", "demo", "--labels", "banking,other", "--classifier", "nb", "--quiet", "-o", model)
			want := newWebCount(t, set, c.seed)
			fossick(t, append(countedCrawl(addr, ca, dir), "--seed", c.seed, "--max-pages", fmt.Sprint(c.pages))...)
			// Of two labels, a page gets the likelier one.
			fossick(t, "refine", dir, "--model", model, "--topic", "banking", "--threshold", "0.5", "--quiet")
			want.read(log.requests(t))
			want.labels = labelsOf(t, model, want)
			want.compare(statsOf(t, dir))
			if t.Failed() {
				want.tellUnknown(dir)
			}
		})
	}
}

// countedCrawl returns the command line of a crawl that webCount can follow.
func countedCrawl(proxy, ca, dir string) []string {
	return []string{
		"focus", "--topic", "x", "--keywords", "the", "--order", "bfs", "--proxy", "http://" + proxy, "--ca", ca, "--delay", "0",
		"--workers", "1", "--also", "traps,near-duplicates", "--exclude", "/calendar/", "--store", dir, "--quiet",
	}
}

// serveNamed serves a set with the server names of serverOf.
func serveNamed(t *testing.T, set *datasets.Set, opt web.Options) (addr, ca string) {
	t.Helper()
	web := testkit.Call(web.New(t.Context(), opt, set)).Must(t)
	l := testkit.Call(net.Listen("tcp", "127.0.0.1:0")).Must(t)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if full, _ := serverOf(r.URL.Host); r.Method != http.MethodConnect {
			w.Header().Set("Server", full)
		}
		web.ServeHTTP(w, r)
	})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(l) // the test notices errors
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
		_ = web.Close()
	})
	return l.Addr().String(), web.CA()
}

// labelsOf returns a model's labels for the corpus's rows of the stored pages.
func labelsOf(t *testing.T, model string, w *webCount) map[string]string {
	t.Helper()
	rows := filepath.Join(t.TempDir(), "rows.jsonl")
	var lines bytes.Buffer
	for _, p := range w.pages {
		e := testkit.Call(w.row(p.url)).Must(t)
		line := testkit.Call(json.Marshal(map[string]string{"url": e.URL, "html": e.HTML, "text": e.Text})).Must(t)
		lines.Write(append(line, '\n'))
	}
	write(t, rows, lines.String())
	out := fossick(t, "classify", "--model", model, rows, "--json", "--quiet")
	var said struct {
		Results []struct{ Name, Label string }
	}
	testkit.Must(t, json.Unmarshal(out, &said))
	labels := map[string]string{}
	for _, r := range said.Results {
		labels[r.Name] = r.Label
	}
	return labels
}

// compare compares a store's tables with the counts. Uncounted cells must be 0, except the outcomes of
// hosts that did not answer, and of hosts of one label, which do not exist.
func (w *webCount) compare(got statsTables) {
	w.settlePages()
	w.settleSeeds()
	cells := 0
	for table, rows := range w.want {
		columns := map[string]bool{}
		for _, row := range rows {
			for column := range row {
				columns[column] = true
			}
		}
		seen := map[string]bool{}
		for _, row := range got.rows(w.t, table) {
			key := keyText(row[statsKeys[table]])
			seen[key] = true
			for column := range columns {
				if table == "outcomes" && (key == "connect_error" || key == "tls_error") || table == "host_labels" && key == "1" {
					continue
				}
				cells++
				if n, _ := row[column].(float64); n != rows[key][column] {
					w.t.Errorf("%s, %s: %s is %v, counted %v", table, key, column, n, rows[key][column])
				}
			}
		}
		for key, row := range rows {
			if !seen[key] {
				w.t.Errorf("%s has no row %s, counted %v", table, key, row)
			}
		}
	}
	if n := got.sum(w.t, "unasked", "urls"); n != float64(w.unasked) {
		w.t.Errorf("%v URLs were not asked for, counted %d", n, w.unasked)
	}
	got.compareShares(w.t)
	got.compareTotals(w.t)
	w.compareMeans(got)
	if len(w.want) < 18 || cells < 100 {
		w.t.Errorf("only %d tables with %d cells were compared", len(w.want), cells)
	}
	w.t.Logf("%d tables, %d cells", len(w.want), cells)
}
