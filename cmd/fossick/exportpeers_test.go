package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fossick/internal/testkit"
)

// checkPeers runs other authors' programs on the files; a missing program skips only its own test.
func (e *exported) checkPeers(t *testing.T) {
	t.Run("DuckDB", e.inDuckDB)
	t.Run("networkx", e.inNetworkx)
	t.Run("warcio", e.inWarcio)
	t.Run("warcio's index", e.indexOfWarcio)
	t.Run("unzip", e.inUnzip)
	t.Run("sqlite3", e.inShell)
	t.Run("PostgreSQL", e.inPostgres)
	t.Run("curl", e.byCurl)
}

// inDuckDB compares every value of every row with the JSON Lines.
func (e *exported) inDuckDB(t *testing.T) {
	testkit.NodeModule(t, "@duckdb/node-api", "package.json")
	lines := func(text []byte) []string { return strings.SplitAfter(strings.TrimSuffix(string(text), "\n"), "\n") }
	got := lines(testkit.Script(t, "table.mjs", filepath.Join(e.dir, "pages.parquet")))
	want := lines(e.file(t, "pages.jsonl"))
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for i := range got {
		var g, w map[string]any
		testkit.Must(t, errors.Join(json.Unmarshal([]byte(got[i]), &g), json.Unmarshal([]byte(want[i]), &w)))
		if !maps.Equal(g, w) {
			t.Fatalf("row %d: %.2000s\nwant %.2000s", i, got[i], want[i])
		}
	}
	t.Logf("%d rows", len(got))
}

func (e *exported) inNetworkx(t *testing.T) {
	testkit.PythonModule(t, "networkx")
	names := []string{"links.gexf", "links.graphml"}
	out := json.NewDecoder(bytes.NewReader(testkit.Script(t, "networks.py", filepath.Join(e.dir, names[0]), filepath.Join(e.dir, names[1]))))
	for _, name := range names {
		var network struct {
			Directed, Multiple bool
			Nodes              map[int]exportedRow
			Edges              [][2]int
		}
		testkit.Must(t, out.Decode(&network))
		var got []record
		for node, r := range network.Nodes {
			got = append(got, record{r.ID, node, r.URL})
		}
		e.sameRecords(t, name, record{"has", 1, "has"}, got)
		edges := map[edge]bool{}
		for _, one := range network.Edges {
			edges[edge{one[0], one[1]}] = true
		}
		e.sameEdges(t, name, edges)
		if !network.Directed || network.Multiple || len(network.Edges) != len(edges) {
			t.Errorf("%s: directed %v, several links between two nodes %v", name, network.Directed, network.Multiple)
		}
	}
}

// inWarcio compares ids, URLs, and body digests, which warcio computes itself.
func (e *exported) inWarcio(t *testing.T) {
	testkit.NodeModule(t, "warcio", "package.json")
	has := record{id: "has", url: "has"}
	var responses, metadata []record
	for d := json.NewDecoder(bytes.NewReader(testkit.Script(t, "archives.mjs", e.archives(t)...))); ; {
		var r struct {
			Type, ID, URL, RefersTo, Digest, SHA1 string
			Status, Length                        int
		}
		if err := d.Decode(&r); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		plain := func(id string) string { return strings.Trim(id, "<>") }
		switch r.Type {
		case "response":
			if r.Status == 200 { // other statuses are redirects
				responses = append(responses, record{id: plain(r.ID), url: r.URL})
			}
			sum, err := hex.DecodeString(r.SHA1)
			if digest := "sha1:" + base32.StdEncoding.EncodeToString(sum); err != nil || r.Digest != digest || r.Status != 200 && r.Status/100 != 3 {
				t.Errorf("%s: status %d, digest %s of a body of %s", r.URL, r.Status, r.Digest, digest)
			}
		case "metadata":
			metadata = append(metadata, record{id: plain(r.RefersTo), url: r.URL})
		}
	}
	e.sameRecords(t, "responses", has, responses)
	e.sameRecords(t, "metadata", has, metadata)
}

// indexOfWarcio compares warcio's index with ours, line by line. Warcio does not sort it and leaves out
// the digest's name and unknown types; its keys keep a final slash, unlike pywb's and ours.
func (e *exported) indexOfWarcio(t *testing.T) {
	lines := func(index []byte) (all []string) {
		plain := strings.NewReplacer(`"digest":"sha1:`, `"digest":"`, `"mime":"unk",`, "")
		for line := range strings.Lines(plain.Replace(string(index))) {
			_, rest, _ := strings.Cut(line, " ")
			all = append(all, rest)
		}
		slices.Sort(all)
		return all
	}
	args := append([]string{testkit.NodeModule(t, "warcio", "dist/cli.cjs"), "cdx-index"}, e.archives(t)...)
	got := lines(testkit.Output(t, exec.CommandContext(t.Context(), testkit.Program(t, "node"), args...)))
	want := lines(e.file(t, "index.cdxj"))
	if slices.Equal(got, want) {
		return
	}
	t.Errorf("%d lines, want %d", len(got), len(want))
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("the first that differs:\n%swant %s", got[i], want[i])
		}
	}
}

// inUnzip tests the package as a zip file, and the digest of each file in it.
func (e *exported) inUnzip(t *testing.T) {
	unzip, path := testkit.Program(t, "unzip"), filepath.Join(e.dir, "pages.wacz")
	of := func(args ...string) []byte {
		return testkit.Output(t, exec.CommandContext(t.Context(), unzip, args...))
	}
	of("-tq", path)
	what := of("-p", path, "datapackage.json")
	var list struct {
		Resources []struct {
			Path, Hash string
			Bytes      int
		}
	}
	var digest struct{ Hash string }
	testkit.Must(t, json.Unmarshal(what, &list))
	if err := json.Unmarshal(of("-p", path, "datapackage-digest.json"), &digest); err != nil || digest.Hash != fmt.Sprintf("sha256:%x", sha256.Sum256(what)) {
		t.Errorf("datapackage.json has not the digest %s, %v", digest.Hash, err)
	}
	names := []string{"datapackage.json", "datapackage-digest.json"}
	for _, f := range list.Resources {
		names = append(names, f.Path)
		if b := of("-p", path, f.Path); f.Hash != fmt.Sprintf("sha256:%x", sha256.Sum256(b)) || f.Bytes != len(b) {
			t.Errorf("%s has not the digest %s, or not %d bytes", f.Path, f.Hash, f.Bytes)
		}
	}
	if all := strings.Fields(string(of("-Z1", path))); !slices.Equal(slices.Sorted(slices.Values(all)), slices.Sorted(slices.Values(names))) {
		t.Errorf("the zip has %v, it tells of %v", all, names)
	}
}

func (e *exported) inShell(t *testing.T) {
	shell := testkit.Program(t, "sqlite3")
	ask := func(query string) []byte {
		return testkit.Output(t, exec.CommandContext(t.Context(), shell, "-readonly", "-separator", "\t", filepath.Join(e.dir, "pages.sqlite"), query))
	}
	if says := string(ask("PRAGMA integrity_check")); says != "ok\n" {
		t.Errorf("integrity: %s", says)
	}
	e.sameRecords(t, "pages", record{"has", 1, "has"}, recordsOf(t, ask("SELECT id, node, url FROM pages")))
	e.sameEdges(t, "links", edgesIn(t, ask("SELECT source, target FROM links")))
	word := ask("SELECT count(*) > 0 FROM pages_text WHERE pages_text MATCH 'index'")
	if string(word) != "1\n" {
		t.Errorf("no page has the word index: %s", word)
	}
}

// inPostgres exports to a server of the test's own, and queries it through psql.
func (e *exported) inPostgres(t *testing.T) {
	psql, address := testkit.Program(t, "psql"), testkit.Postgres(t)
	fossick(t, "export", e.store, "--to", "postgres", "-o", address, "--quiet")
	ask := func(query string) []byte {
		return testkit.Output(t, exec.CommandContext(t.Context(), psql, "-X", "-A", "-t", "-F", "\t", "-d", address, "-c", query))
	}
	e.sameRecords(t, "pages", record{"has", 1, "has"}, recordsOf(t, ask("SELECT id, node, url FROM fossick.pages")))
	e.sameEdges(t, "links", edgesIn(t, ask("SELECT a.node, b.node FROM fossick.links l JOIN fossick.pages a ON a.id = l.source JOIN fossick.pages b ON b.id = l.target")))
}

// recordsOf reads the lines of a shell: id, node, URL.
func recordsOf(t *testing.T, out []byte) (got []record) {
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		got = append(got, record{f[0], number(t, f[1]), f[2]})
	}
	return got
}

func edgesIn(t *testing.T, out []byte) map[edge]bool {
	edges := map[edge]bool{}
	for line := range strings.Lines(string(out)) {
		from, to, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		edges[edge{number(t, from), number(t, to)}] = true
	}
	return edges
}

// byCurl sends the requests for OpenSearch with curl, to a server that checks them as bulk does.
func (e *exported) byCurl(t *testing.T) {
	curl := testkit.Program(t, "curl")
	var got []record
	var broken error
	done := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(done)
		if kind := r.Header.Get("Content-Type"); kind != "application/x-ndjson" || r.URL.Path != "/pages/_bulk" || r.Method != http.MethodPost {
			broken = fmt.Errorf("%s %s of %s", r.Method, r.URL, kind)
			return
		}
		got, broken = bulk(r.Context(), r.Body)
		_, _ = io.WriteString(w, `{"errors":false,"items":[]}`)
	}))
	defer server.Close()
	testkit.Output(t, exec.CommandContext(t.Context(), curl, "--silent", "--show-error", "--fail", "--noproxy", "*", "-H", "Content-Type: application/x-ndjson", "-H", "Expect:",
		"--data-binary", "@"+filepath.Join(e.dir, "pages.ndjson"), server.URL+"/pages/_bulk"))
	<-done
	if broken != nil {
		t.Fatal(broken)
	}
	e.sameRecords(t, "requests", record{"has", 1, "has"}, got)
}

// bulk reads a bulk request strictly: pairs of an action line, with index and id, and a source line.
func bulk(ctx context.Context, body io.Reader) (got []record, err error) {
	r := bufio.NewReader(body)
	for n := 1; ctx.Err() == nil; n += 2 {
		action, err := r.ReadBytes('\n')
		if err == io.EOF && len(action) == 0 {
			return got, nil
		}
		if err != nil {
			return nil, fmt.Errorf("line %d has no end: %w", n, err)
		}
		var do map[string]map[string]string
		if err := json.Unmarshal(action, &do); err != nil || len(do) != 1 || do["index"]["_id"] == "" || len(do["index"]) != 1 {
			return nil, fmt.Errorf("line %d is no action: %.200s, %w", n, action, err)
		}
		source, err := r.ReadBytes('\n')
		if err != nil {
			return nil, fmt.Errorf("line %d, a source, has no end: %w", n+1, err)
		}
		var page exportedRow
		if err := json.Unmarshal(source, &page); err != nil || source[0] != '{' || page.ID != do["index"]["_id"] {
			return nil, fmt.Errorf("line %d is not the source of %s: %.200s, %w", n+1, do["index"]["_id"], source, err)
		}
		got = append(got, record{page.ID, page.Node, page.URL})
	}
	return nil, ctx.Err()
}
