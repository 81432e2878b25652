package main

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"fossick/internal/testkit"
)

// checkJoins compares with the rows the pages and links of the formats that checkPeers does not read.
func (e *exported) checkJoins(t *testing.T) {
	all := record{id: "has", node: 1, url: "has"}
	for _, format := range []struct {
		name string
		has  record
		read func(t *testing.T) []record
	}{
		{"pages.csv", all, e.inCSV},
		{"pages.txt", record{id: "has"}, e.inText},
		{"markdown", all, e.inMarkdown},
		{"links.nodes.tsv", all, e.inNodes},
		{"index.cdxj", record{url: "has"}, e.inCDXJ},
		{"pages.wacz", record{id: "has", url: "has"}, e.inWACZ},
	} {
		e.sameRecords(t, format.name, format.has, format.read(t))
	}
	e.sameEdges(t, "links.graph", e.edgesOf(t, filepath.Join(e.dir, "links.graph")))
	e.checkSites(t)
	var card struct{ Pages struct{ Exported int } }
	if err := json.Unmarshal(e.file(t, "card.json"), &card); err != nil || card.Pages.Exported != len(e.rows) {
		t.Errorf("the card tells of %d pages, %v", card.Pages.Exported, err)
	}
}

func (e *exported) inCSV(t *testing.T) (got []record) {
	lines := testkit.Call(csv.NewReader(bytes.NewReader(e.file(t, "pages.csv"))).ReadAll()).Must(t)
	column := map[string]int{}
	for i, name := range lines[0] {
		column[name] = i
	}
	for _, l := range lines[1:] {
		got = append(got, record{l[column["id"]], number(t, l[column["node"]]), l[column["url"]]})
	}
	return got
}

func number(t *testing.T, s string) int {
	t.Helper()
	n := testkit.Call(strconv.Atoi(s)).Must(t)
	return n
}

func (e *exported) inText(t *testing.T) (got []record) {
	for _, l := range e.table(t, "pages.txt") {
		got = append(got, record{id: l[0]})
	}
	return got
}

func (e *exported) table(t *testing.T, name string) (lines [][]string) {
	t.Helper()
	for line := range strings.Lines(string(e.file(t, name))) {
		lines = append(lines, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return lines
}

// inMarkdown reads the front matter of each file.
func (e *exported) inMarkdown(t *testing.T) (got []record) {
	testkit.Must(t, filepath.WalkDir(filepath.Join(e.dir, "markdown"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		front := map[string]string{}
		for line := range strings.Lines(strings.SplitN(string(text), "---\n", 3)[1]) {
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			if s, err := strconv.Unquote(value); err == nil {
				value = s
			}
			front[name] = value
		}
		got = append(got, record{front["id"], number(t, front["node"]), front["url"]})
		return nil
	}))
	return got
}

func (e *exported) inNodes(t *testing.T) (got []record) {
	for _, l := range e.table(t, "links/links.nodes.tsv") {
		got = append(got, record{l[1], number(t, l[0]), l[2]})
	}
	edges := map[edge]bool{}
	for _, l := range e.table(t, "links/links.edges.tsv") {
		edges[edge{number(t, l[0]), number(t, l[1])}] = true
	}
	e.sameEdges(t, "links.edges.tsv", edges)
	return got
}

func (e *exported) archives(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(e.dir, "warc", "*.warc.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	return files
}

func (e *exported) inCDXJ(t *testing.T) (got []record) {
	for _, c := range e.indexed(t) {
		got = append(got, record{url: c.URL})
	}
	return got
}

type indexed struct{ URL, Mime, Status, Digest, Filename, Offset, Length string }

// indexed returns the lines of the index, without revisits and redirects, which are no pages.
func (e *exported) indexed(t *testing.T) (lines []indexed) {
	t.Helper()
	for line := range bytes.Lines(e.file(t, "index.cdxj")) {
		var c indexed
		testkit.Must(t, json.Unmarshal(bytes.SplitN(line, []byte(" "), 3)[2], &c))
		if c.Mime != "warc/revisit" && c.Status == "200" {
			lines = append(lines, c)
		}
	}
	return lines
}

func (e *exported) inWACZ(t *testing.T) (got []record) {
	z := testkit.Call(zip.OpenReader(filepath.Join(e.dir, "pages.wacz"))).Must(t)
	defer z.Close()
	list := testkit.Call(z.Open("pages/pages.jsonl")).Must(t)
	for d := json.NewDecoder(list); ; {
		var p struct{ ID, URL string }
		if err := d.Decode(&p); err == io.EOF {
			return got
		} else if err != nil {
			t.Fatal(err)
		}
		if p.URL != "" { // the first line describes the list
			got = append(got, record{id: p.ID, url: p.URL})
		}
	}
}

// checkSites checks that the tables of hosts and sites count every page and both ends of every link once.
func (e *exported) checkSites(t *testing.T) {
	for _, name := range []string{"sites/hosts.csv", "sites/sites.csv"} {
		lines := testkit.Call(csv.NewReader(bytes.NewReader(e.file(t, name))).ReadAll()).Must(t)
		sum := map[string]int{}
		for _, l := range lines[1:] {
			for i, column := range lines[0] {
				if n, err := strconv.Atoi(l[i]); err == nil {
					sum[column] += n
				}
			}
		}
		if sum["pages"] != len(e.rows) || sum["links_within"]+sum["links_out"] != len(e.edges) || sum["links_in"] != sum["links_out"] {
			t.Errorf("%s: in all %v, of %d pages and %d links", name, sum, len(e.rows), len(e.edges))
		}
	}
}
