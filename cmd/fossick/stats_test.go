package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"fossick/corpusweb"
	"fossick/datasets"
	"fossick/internal/fulltest"
)

// TestStats crawls served corpora of which a tenth misbehaves, and holds the tables against
// counts made from the server's log and the corpus; see webCount.
func TestStats(t *testing.T) {
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
			name := c.corpus
			if name != "demo" {
				fulltest.Only(t, "crawls a corpus")
				name = fulltest.Corpus(t, name)
			}
			set, err := datasets.Open(name, datasets.Options{})
			if err != nil {
				t.Fatal(err)
			}
			log := &requestLog{}
			addr, _, stop, err := serveSet(t.Context(), set, corpusweb.Options{Log: log, Faults: corpusweb.FaultPlan{
				Share: 0.1, Names: []string{"status-403", "status-410", "redirect-nowhere", "wrong-type", "hang-up", "short-body"}}})
			if err != nil {
				t.Fatal(err)
			}
			defer stop()
			dir := filepath.Join(t.TempDir(), "crawl")
			var errs bytes.Buffer
			code := run(t.Context(), []string{
				"focus", "--topic", "x", "--keywords", "the", "--order", "bfs", "--seed", c.seed, "--proxy", "http://" + addr, "--delay", "0",
				"--workers", "1", "--max-pages", fmt.Sprint(c.pages), "--traps", "follow", "--exclude", "/calendar/", "--near-duplicates", "keep", "--store", dir, "--quiet",
			}, io.Discard, &errs)
			if code != exitDone {
				t.Fatalf("crawl: %d, %s", code, errs.String())
			}
			want := newWebCount(t, set, c.seed)
			want.read(log.requests(t))
			compareStats(t, dir, want.want)
			if t.Failed() {
				want.tellUnknown(dir)
			}
		})
	}
}

// compareStats holds the tables of a store against cells that are wanted. What no cell is
// wanted of must be 0, but for outcomes of hosts that gave no answer. The log has no host of one
// label: none is there to be asked.
func compareStats(t *testing.T, dir string, want map[string]map[string]map[string]float64) {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"stats", dir, "--json", "--top", "0", "--quiet"}, &out, &errs); code != exitDone {
		t.Fatalf("stats: %d, %s", code, errs.String())
	}
	var tables map[string]json.RawMessage
	if err := json.Unmarshal(out.Bytes(), &tables); err != nil {
		t.Fatal(err)
	}
	first := map[string]string{
		"outcomes": "state", "codes": "code", "path_lengths": "from", "host_labels": "labels", "depths": "depth", "sizes": "from_kib", "sizes_fine": "below_bytes",
		"compression": "size", "duplicates": "content", "schemes": "scheme", "http_versions": "version", "page_kinds": "kinds", "link_kinds": "kind", "degrees": "from",
		"media_types": "type", "charsets": "charset", "languages": "language", "tlds": "tld", "second_levels": "second_level", "sites": "site",
	}
	cells := 0
	for table, rows := range want {
		columns := map[string]bool{}
		for _, row := range rows {
			for column := range row {
				columns[column] = true
			}
		}
		var got []map[string]any
		if err := json.Unmarshal(tables[table], &got); err != nil {
			t.Fatalf("%s: %v", table, err)
		}
		seen := map[string]bool{}
		for _, row := range got {
			key := keyText(row[first[table]])
			seen[key] = true
			for column := range columns {
				if table == "outcomes" && (key == "connect_error" || key == "tls_error") || table == "host_labels" && key == "1" || table == "compression" && key != "all" {
					continue
				}
				cells++
				if n, _ := row[column].(float64); n != rows[key][column] {
					t.Errorf("%s, %s: %s is %v, counted %v", table, key, column, n, rows[key][column])
				}
			}
		}
		for key, row := range rows {
			if !seen[key] {
				t.Errorf("%s has no row %s, counted %v", table, key, row)
			}
		}
	}
	if len(want) < 18 || cells < 100 {
		t.Errorf("only %d tables with %d cells were compared", len(want), cells)
	}
	t.Logf("%d tables, %d cells", len(want), cells)
}

func keyText(v any) string {
	if n, ok := v.(float64); ok {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return strings.TrimSpace(fmt.Sprint(v))
}
