package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"fossick/datasets"
	"fossick/datasets/web"
	"fossick/internal/testkit"
)

// copiedWeb has 30 pages over http and 20 over https, 7 copies of them, and 5 that differ from one in a
// word of 400. The start page links to all.
func copiedWeb() *datasets.Set {
	rng := rand.New(rand.NewPCG(31, 32))
	var start strings.Builder
	var rows []*datasets.Example
	add := func(url, html string) {
		fmt.Fprintf(&start, "<a href=%q>%s</a>\n", url, url)
		rows = append(rows, &datasets.Example{URL: url, HTML: html})
	}
	for i := range 50 {
		scheme := "http"
		if i >= 30 {
			scheme = "https"
		}
		var words strings.Builder
		for range 400 {
			fmt.Fprintf(&words, "word%d ", rng.IntN(1e6))
		}
		add(fmt.Sprintf("%s://h%d.test/%d", scheme, i%3, i), "<title>Page</title><p>"+words.String())
	}
	for i, of := range rows[:12] {
		html := of.HTML
		if i >= 7 {
			html = strings.TrimSpace(html) + " other"
		}
		add(fmt.Sprintf("http://copies.test/%d", i), html)
	}
	rows = append([]*datasets.Example{{URL: "http://start.test/", HTML: "<title>Start</title>" + start.String()}}, rows...)
	return datasets.FromSeq("copied", testkit.Each(rows), datasets.Options{})
}

// TestStatsTables checks the rows of duplicates and TLS for a known web; headers of near-duplicates are
// not stored. Each table of --csv has the columns and values of --json.
func TestStatsTables(t *testing.T) {
	addr, ca := served(t, copiedWeb(), web.Options{})
	dir, folder := filepath.Join(t.TempDir(), "crawl"), filepath.Join(t.TempDir(), "tables")
	fossick(t, "focus", "--topic", "x", "--keywords", "page", "--links", "all", "--order", "bfs", "--proxy", "http://"+addr, "--ca", ca,
		"--delay", "0", "--workers", "1", "--seed", "http://start.test/", "--store", dir, "--quiet")
	got := statsOf(t, dir)
	for _, c := range []struct {
		table, row, column string
		want               float64
	}{
		{"duplicates", "its own", "urls", 51}, {"duplicates", "equal to another's", "urls", 7}, {"duplicates", "nearly equal to another's", "urls", 5},
		{"outcomes", "duplicate", "urls", 12}, {"outcomes", "ok", "exchanges", 63},
		{"schemes", "http", "requested", 43}, {"schemes", "http", "stored", 31}, {"schemes", "https", "requested", 20}, {"schemes", "https", "stored", 20},
		{"http_versions", "http/1.1", "answers", 58}, {"depths", "0", "new_links", 62}, {"tlds", "test", "pages", 51},
	} {
		if row := got.row(t, c.table, c.row); row[c.column] != c.want {
			t.Errorf("%s, %s: %s is %v, want %v", c.table, c.row, c.column, row[c.column], c.want)
		}
	}
	fossick(t, "stats", dir, "--top", "0", "--quiet", "--csv", folder)
	files := testkit.Call(os.ReadDir(folder)).Must(t)
	if len(files) != len(statsKeys) {
		t.Errorf("%d files, want one of each of %d tables", len(files), len(statsKeys))
	}
	for table := range statsKeys {
		compareCSV(t, filepath.Join(folder, table+".csv"), table, got)
	}
}

// compareCSV compares a file with the table's rows; unknown values are empty.
func compareCSV(t *testing.T, path, table string, got statsTables) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", table, err)
	}
	rows := got.rows(t, table)
	if len(lines) != 1+len(rows) {
		t.Fatalf("%s has %d lines, want a head and %d rows", table, len(lines), len(rows))
	}
	for i, row := range rows {
		if len(row) != len(lines[0]) {
			t.Errorf("%s: the head is %q, the row has %v", table, lines[0], row)
		}
		for k, column := range lines[0] {
			value, known := row[column]
			want := keyText(value)
			if x, ok := value.(float64); ok {
				if v, err := strconv.ParseFloat(lines[1+i][k], 64); err == nil && v == x {
					continue // equal, however it is written
				}
			}
			if !known || lines[1+i][k] != want {
				t.Errorf("%s, row %d: %s is %q, in JSON %v", table, i, column, lines[1+i][k], value)
			}
		}
	}
}

// statsTables is the output of stats --json, by table.
type statsTables map[string]json.RawMessage

func statsOf(t *testing.T, dirs ...string) statsTables {
	t.Helper()
	var all statsTables
	testkit.Must(t, json.Unmarshal(fossick(t, append([]string{"stats", "--json", "--top", "0", "--quiet"}, dirs...)...), &all))
	return all
}

func (s statsTables) rows(t *testing.T, table string) (rows []map[string]any) {
	t.Helper()
	if err := json.Unmarshal(s[table], &rows); err != nil {
		t.Fatalf("%s: %v", table, err)
	}
	return rows
}

// statsKeys are the columns that name the rows.
var statsKeys = map[string]string{
	"outcomes": "state", "seed_outcomes": "state", "unasked": "why", "codes": "code", "means": "what", "seed_lengths": "from", "path_lengths": "from",
	"host_labels": "labels", "depths": "depth", "response_times": "below_ms", "sizes": "from_kib", "sizes_fine": "below_bytes", "compression": "size", "types": "type",
	"duplicates": "content", "schemes": "scheme", "http_versions": "version", "page_kinds": "kinds", "link_kinds": "kind", "degrees": "from",
	"media_types": "type", "charsets": "charset", "languages": "language", "labels": "label", "servers": "server",
	"tlds": "tld", "second_levels": "second_level", "sites": "site", "forecast_scores": "predictor", "forecasts": "from",
}

// row returns the row with this first column, nil for none.
func (s statsTables) row(t *testing.T, table, key string) map[string]any {
	t.Helper()
	for _, row := range s.rows(t, table) {
		if keyText(row[statsKeys[table]]) == key {
			return row
		}
	}
	return nil
}

func keyText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}

func (s statsTables) sum(t *testing.T, table, column string) (sum float64) {
	t.Helper()
	for _, row := range s.rows(t, table) {
		n, _ := row[column].(float64)
		sum += n
	}
	return sum
}

// statsShares are the columns of shares, with the column of their parts and that of the whole: its sum,
// or the value in the same row if the name ends with a stop.
var statsShares = []struct{ table, column, part, whole string }{
	{"outcomes", "share", "urls", "urls"}, {"outcomes", "exchanges_share", "exchanges", "exchanges"}, {"seed_outcomes", "share", "seeds", "seeds"},
	{"unasked", "share", "urls", "urls"}, {"codes", "share", "answers", "answers"}, {"seed_lengths", "share", "number", "number"},
	{"path_lengths", "share", "number", "number"}, {"host_labels", "share", "hosts", "hosts"}, {"host_labels", "seeds_share", "seeds", "seeds"}, {"path_lengths", "downloaded_share", "downloaded", "downloaded"}, {"response_times", "share", "answers", "answers"},
	{"sizes", "share", "pages", "pages"}, {"sizes_fine", "share", "pages", "pages"}, {"duplicates", "share", "urls", "urls"},
	{"schemes", "share", "requested", "requested"}, {"http_versions", "share", "answers", "answers"}, {"page_kinds", "share", "pages", "pages"},
	{"link_kinds", "share", "links", "links"}, {"media_types", "share", "pages", "pages"}, {"types", "share", "pages", "pages"}, {"types", "bytes_share", "bytes", "bytes"}, {"charsets", "share", "pages", "pages"},
	{"languages", "share", "pages", "pages"}, {"labels", "share", "pages", "pages"}, {"servers", "share", "answers", "answers"},
	{"tlds", "downloaded_share", "downloaded", "requested."}, {"second_levels", "downloaded_share", "downloaded", "requested."},
	{"sites", "downloaded_share", "downloaded", "requested."}, {"compression", "ratio", "packed", "bytes."}, {"depths", "new_links_per_page", "new_links", "downloaded."},
}

// compareShares recomputes the shares.
func (s statsTables) compareShares(t *testing.T) {
	t.Helper()
	for _, of := range statsShares {
		inRow := of.whole[len(of.whole)-1] == '.'
		whole := 0.0
		if !inRow {
			whole = s.sum(t, of.table, of.whole)
		}
		for _, row := range s.rows(t, of.table) {
			if inRow {
				whole, _ = row[of.whole[:len(of.whole)-1]].(float64)
			}
			part, _ := row[of.part].(float64)
			got, known := row[of.column].(float64)
			if known != (whole > 0) || known && math.Abs(got-part/whole) > 1e-9 {
				t.Errorf("%s, %v: %s is %v, want %v of %v", of.table, row[statsKeys[of.table]], of.column, row[of.column], part, whole)
			}
		}
	}
	for _, table := range []string{"sizes_fine", "response_times"} {
		rows := s.rows(t, table)
		for _, row := range rows[max(0, len(rows)-1):] {
			if row["up_to"] != 1. {
				t.Errorf("%s ends with %v, want 1", table, row["up_to"])
			}
		}
	}
}

// compareTotals checks that tables that count the same things have the same sums.
func (s statsTables) compareTotals(t *testing.T) {
	t.Helper()
	for _, same := range [][][2]string{
		{{"depths", "known"}, {"schemes", "urls"}, {"tlds", "urls"}, {"second_levels", "urls"}, {"sites", "urls"}},
		{{"depths", "requested"}, {"schemes", "requested"}, {"tlds", "requested"}, {"second_levels", "requested"}, {"sites", "requested"}, {"path_lengths", "number"}},
		{{"depths", "downloaded"}, {"schemes", "downloaded"}, {"tlds", "downloaded"}, {"second_levels", "downloaded"}, {"sites", "downloaded"}},
		{
			{"depths", "stored"}, {"schemes", "stored"}, {"sizes", "pages"}, {"sizes_fine", "pages"}, {"page_kinds", "pages"}, {"degrees", "in"}, {"degrees", "out"},
			{"media_types", "pages"}, {"types", "pages"}, {"charsets", "pages"}, {"languages", "pages"}, {"labels", "pages"}, {"tlds", "pages"}, {"second_levels", "pages"}, {"sites", "pages"},
		},
		{{"codes", "answers"}, {"response_times", "answers"}},
		{{"http_versions", "answers"}, {"servers", "answers"}},
	} {
		want := s.sum(t, same[0][0], same[0][1])
		for _, other := range same[1:] {
			if got := s.sum(t, other[0], other[1]); got != want {
				t.Errorf("%v are %v, %v are %v", other, got, same[0], want)
			}
		}
	}
	if known, asked := s.sum(t, "depths", "known"), s.sum(t, "unasked", "urls"); known-asked != s.sum(t, "depths", "requested") {
		t.Errorf("%v URLs of which %v were not requested, and %v were", known, asked, s.sum(t, "depths", "requested"))
	}
	pages := s.sum(t, "depths", "stored")
	if packed := s.row(t, "compression", "all"); packed["pages"] != pages || s.sum(t, "compression", "pages") != 2*pages {
		t.Errorf("%v pages, but %v are packed, and %v with those of each size", pages, packed["pages"], s.sum(t, "compression", "pages"))
	}
}
