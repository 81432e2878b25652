package export

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fossick/internal/testkit"
)

// databasePages hold difficult values: quotes, NUL, invalid UTF-8, missing values.
func databasePages(n int) (all []*Page) {
	source := &Source{Name: "crawl"}
	half, kept := .5, true
	for i := range n {
		p := &Page{
			ID: fmt.Sprintf("urn:uuid:%d", i), Node: uint32(i), Source: source, Number: uint64(i + 1), URL: fmt.Sprintf("http://a.test/%d", i),
			Host: "a.test:80", Site: "a.test", Title: "Loans, 'cheap' \"ones\"\t\\N", Fetched: time.Unix(1e9, 0).UTC(),
			Probability: &half, Kept: &kept, Text: "cheap\x00 loans \xff of 東京\nand more", Links: []uint32{uint32((i + 1) % n), 0},
		}
		if i%3 == 2 {
			p.Probability, p.Kept, p.Title = nil, nil, ""
		}
		all = append(all, p)
	}
	return all
}

func run(t *testing.T, s Sink, all []*Page) error {
	t.Helper()
	n, err := Run(t.Context(), testkit.Each(all), []Sink{s})
	if err == nil && n != len(all) {
		t.Errorf("%d pages of %d", n, len(all))
	}
	return err
}

type testFolder string

func (f testFolder) Path(name string) (string, error) { return filepath.Join(string(f), name), nil }

func (f testFolder) Create(name string) (io.WriteCloser, error) {
	return os.Create(filepath.Join(string(f), name))
}

// TestSQLiteShell queries the file with SQLite's own shell.
func TestSQLiteShell(t *testing.T) {
	t.Parallel()
	shell, dir := testkit.Program(t, "sqlite3"), t.TempDir()
	write := func(name string) string {
		s := testkit.Call(newSQLite(testFolder(dir), name)).Must(t)
		testkit.Must(t, run(t, s, databasePages(50)))
		return filepath.Join(dir, name)
	}
	path := write("a.sqlite")
	for query, want := range map[string]string{
		"PRAGMA integrity_check": "ok",
		"SELECT count(*), count(DISTINCT id), count(title), sum(kept) FROM pages":      "50|50|34|34",
		"SELECT text FROM pages WHERE node = 7":                                        "cheap loans \uFFFD of 東京\nand more",
		"SELECT count(*) FROM links":                                                   "100",
		"SELECT count(*) FROM pages_text WHERE pages_text MATCH 'loan AND cheap'":      "50",
		"SELECT p.url FROM links l JOIN pages p ON p.node = l.target WHERE source = 3": "http://a.test/0\nhttp://a.test/4",
	} {
		out, err := exec.Command(shell, path, query).CombinedOutput()
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		if strings.Contains(query, "JOIN") {
			slices.Sort(lines)
		}
		if got := strings.Join(lines, "\n"); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", query, got, err, want)
		}
	}
	a, _ := os.ReadFile(path)
	b, err := os.ReadFile(write("b.sqlite"))
	if err != nil || !bytes.Equal(a, b) {
		t.Errorf("the same pages give other bytes, %v", err)
	}
}

// TestPostgres loads tables after an interrupted load, then again with changed content.
func TestPostgres(t *testing.T) {
	t.Parallel()
	address := testkit.Postgres(t)
	load := func(all []*Page) {
		t.Helper()
		s := testkit.Call(newPostgres(t.Context(), address)).Must(t)
		testkit.Must(t, run(t, s, all))
	}
	conn := testkit.Call(pgx.Connect(t.Context(), address)).Must(t)
	defer conn.Close(context.Background())
	ask := func(query, want string) {
		t.Helper()
		var got string
		if err := conn.QueryRow(t.Context(), query).Scan(&got); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", query, got, err, want)
		}
	}
	cut(t, address, databasePages(3000))
	ask("SELECT count(*)::text FROM fossick.pages", "2000") // one batch
	load(databasePages(3000))
	ask("SELECT count(*) || ' ' || count(title) || ' ' || sum(kept::int) FROM fossick.pages", "3000 2000 2000")
	ask("SELECT text FROM fossick.pages WHERE node = 7", "cheap loans \uFFFD of 東京\nand more")
	ask("SELECT count(*)::text FROM fossick.links", "6000")
	ask("SELECT target FROM fossick.links WHERE source = 'urn:uuid:7' ORDER BY target LIMIT 1 OFFSET 1", "urn:uuid:8")
	again := databasePages(2500)
	for _, p := range again {
		p.Title, p.Links = "new", p.Links[:1]
	}
	load(again)
	ask("SELECT count(*) || ' ' || count(*) FILTER (WHERE title = 'new') FROM fossick.pages", "3000 2500")
	ask("SELECT count(*)::text FROM fossick.links", "3500") // 2,500 new ones, and two for each of the 500 unchanged pages

	testkit.Call(conn.Exec(t.Context(), "ALTER TABLE fossick.pages DROP COLUMN rank")).Must(t)
	if _, err := newPostgres(t.Context(), address); !errors.Is(err, errSchema) {
		t.Errorf("other columns: %v", err)
	}
	other := testkit.Call(newPostgres(t.Context(), address+"&search_path=other")).Must(t)
	testkit.Must(t, run(t, other, databasePages(5)))
	ask("SELECT count(*)::text FROM other.pages", "5")
}

// cut starts a load and ends it after the first batch.
func cut(t *testing.T, address string, all []*Page) {
	t.Helper()
	s := testkit.Call(newPostgres(t.Context(), address)).Must(t)
	for _, p := range all[:batchRows+10] {
		testkit.Must(t, s.Write(t.Context(), p))
	}
	testkit.Must(t, s.Close())
}

// TestBulk: each page gives an action line and a document line.
func TestBulk(t *testing.T) {
	text := written(t, eachPage(appendBulk), "pages.ndjson", databasePages(5))["pages.ndjson"].Bytes()
	if ids := bulkIDs(t, text); len(ids) != 5 || ids[4] != "urn:uuid:4" {
		t.Errorf("ids %v", ids)
	}
}

// bulkIDs parses a bulk request as its documentation specifies, and returns the ids.
func bulkIDs(t *testing.T, body []byte) (ids []string) {
	t.Helper()
	if !bytes.HasSuffix(body, []byte("\n")) {
		t.Error("no line end behind the last line")
	}
	lines := strings.Split(strings.TrimSuffix(string(body), "\n"), "\n")
	for i := 0; i+1 < len(lines); i += 2 {
		var action struct {
			Index struct {
				ID string `json:"_id"`
			} `json:"index"`
		}
		var doc map[string]any
		testkit.Must(t, errors.Join(json.Unmarshal([]byte(lines[i]), &action), json.Unmarshal([]byte(lines[i+1]), &doc)))
		if doc["id"] != action.Index.ID || len(doc) != len(columns) {
			t.Errorf("document %v of %s", doc, action.Index.ID)
		}
		ids = append(ids, action.Index.ID)
	}
	return ids
}

// TestServer: an overloaded server is retried; a refused page ends the export with the reason.
func TestServer(t *testing.T) {
	t.Parallel()
	busy, refuse, got := 2, "", []string{}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/crawl/_bulk" || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/x-ndjson" {
			t.Errorf("%s %s %v", r.Method, r.URL, r.Header)
		}
		body, _ := io.ReadAll(r.Body)
		switch busy--; {
		case busy == 1:
			w.WriteHeader(http.StatusTooManyRequests)
		case busy == 0:
			fmt.Fprint(w, `{"errors":true,"items":[{"index":{"_id":"x","status":429,"error":{"type":"es_rejected"}}}]}`)
		case refuse != "":
			fmt.Fprint(w, refuse)
		default:
			got = append(got, bulkIDs(t, body)...)
			fmt.Fprint(w, `{"errors":false,"items":[]}`)
		}
	}))
	defer h.Close()
	send := func() error {
		s := testkit.Call(newOpenSearch(h.URL + "/crawl")).Must(t)
		s.wait = func(context.Context, time.Duration) error { return nil }
		return run(t, s, databasePages(20))
	}
	if err := send(); err != nil || len(got) != 20 {
		t.Errorf("%d pages arrived, %v", len(got), err)
	}
	refuse = `{"errors":true,"items":[{"index":{"_id":"urn:uuid:3","status":400,"error":{"type":"mapper_parsing_exception","reason":"bad date"}}}]}`
	if err := send(); err == nil || !strings.Contains(err.Error(), "urn:uuid:3: mapper_parsing_exception: bad date") {
		t.Errorf("a page that is refused: %v", err)
	}
	for _, address := range []string{"http://h:9200", "http://h/a/b", "nonsense"} {
		if _, err := newOpenSearch(address); err == nil {
			t.Errorf("%s is taken for the address of an index", address)
		}
	}
}

// TestServerRedirect: pages and passwords do not follow a redirect to another host.
func TestServerRedirect(t *testing.T) {
	for _, code := range []int{301, 302, 303, 307, 308} {
		var reached atomic.Int64
		other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			reached.Add(1)
			fmt.Fprint(w, `{"errors":false,"items":[]}`)
		}))
		h := httptest.NewServer(http.RedirectHandler(other.URL+"/crawl/_bulk", code))
		s := testkit.Call(newOpenSearch(strings.Replace(h.URL, "//", "//user:secret@", 1) + "/crawl")).Must(t)
		if err := run(t, s, databasePages(3)); err == nil || strings.Contains(err.Error(), "secret") || reached.Load() != 0 {
			t.Errorf("a redirect of %d: %v, and the other host was asked %d times", code, err, reached.Load())
		}
		h.Close()
		other.Close()
	}
}
