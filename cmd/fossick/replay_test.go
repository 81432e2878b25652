package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"fossick/internal/page"
	"fossick/internal/peers"
)

// replayed is what a browser shows of a page.
type replayed struct {
	URL, Title, Text string
	Pictures, Shown  int
	Link             *replayed // where a link of it leads
	Missing          string    // what is said of a link to nowhere
	Listed           int       // pages in the browser's list; the last line alone has it
}

// checkReplay opens the package in ReplayWeb.page, in Chromium. Pages of as many hosts as
// there are show their own text, pictures that are not there break nothing, links lead on to
// pages of the package, and to a notice where it has none. Nothing is asked of the web.
func (e *exported) checkReplay(t *testing.T) {
	chromium := peers.Program(t, "chromium")
	peers.Module(t, "puppeteer-core", "package.json")
	app := filepath.Dir(peers.Module(t, "replaywebpage", "sw.js"))
	files := http.NewServeMux()
	files.Handle("/", http.FileServer(http.Dir(app)))
	files.HandleFunc("/pages.wacz", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, filepath.Join(e.dir, "pages.wacz"))
	})
	site := httptest.NewServer(files)
	defer site.Close()
	web := &asked{}
	outside := httptest.NewServer(web)
	defer outside.Close()

	rows := map[string]*exportedRow{}
	var input struct {
		Pages []string `json:"pages"`
		Known []string `json:"known"`
	}
	hosts := map[string]bool{}
	for i := range e.rows {
		r := &e.rows[i]
		rows[r.URL] = r
		input.Known = append(input.Known, r.URL)
		if host := page.Host(r.URL); !hosts[host] && len(strings.Fields(r.Text)) > 50 && len(input.Pages) < 20 {
			hosts[host] = true
			input.Pages = append(input.Pages, r.URL)
		}
	}
	urls := filepath.Join(t.TempDir(), "urls.json")
	text, err := json.Marshal(input)
	if err := errors.Join(err, os.WriteFile(urls, text, 0o600)); err != nil {
		t.Fatal(err)
	}
	var links, pictures, listed int
	for d := json.NewDecoder(bytes.NewReader(peers.Script(t, "replay.mjs", site.URL, "pages.wacz", outside.URL, chromium, urls))); d.More(); {
		var p replayed
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		if p.URL == "" {
			listed = p.Listed
			continue
		}
		checkShown(t, &p, rows[p.URL])
		if pictures += p.Pictures; p.Shown > 0 {
			t.Errorf("%s shows %d pictures, which nobody fetched", p.URL, p.Shown)
		}
		if p.Link != nil {
			links++
			checkShown(t, p.Link, rows[p.Link.URL])
		}
		if !strings.Contains(p.Missing, "not found in this archive") {
			t.Errorf("from %s to nowhere: %.200q", p.URL, p.Missing)
		}
	}
	if listed != len(e.rows) || links < len(input.Pages)/2 || pictures == 0 && e.name != "demo" { // which has none
		t.Errorf("%d pages of %d are listed; of %d replayed, %d links lead on, %d pictures", listed, len(e.rows), len(input.Pages), links, pictures)
	}
	for _, host := range web.hosts {
		if hosts[host] || strings.HasPrefix(host, "nowhere.test") {
			t.Errorf("the browser asked the web for %s", host)
		}
	}
	t.Logf("%d pages of as many hosts replayed, %d links followed, %d pictures that are not there, %d pages listed", len(input.Pages), links, pictures, listed)
}

// checkShown wants of a replayed page its title, and the words of its text: nineteen of
// twenty, as what is hidden until a script runs is not shown.
func checkShown(t *testing.T, p *replayed, row *exportedRow) {
	t.Helper()
	if strings.Join(strings.Fields(p.Title), " ") != strings.Join(strings.Fields(row.Title), " ") {
		t.Errorf("%s: title %q, want %q", p.URL, p.Title, row.Title)
	}
	words := func(s string) []string { return strings.Fields(strings.ToLower(s)) }
	shown, found := words(p.Text), 0
	slices.Sort(shown)
	want := words(row.Text)
	for _, w := range want {
		if _, ok := slices.BinarySearch(shown, w); ok {
			found++
		}
	}
	if found*20 < len(want)*19 {
		t.Errorf("%s: %d of its %d words are shown: %.200q", p.URL, found, len(want), p.Text)
	}
}

// asked notes which hosts are asked for through a proxy that has none. Safe for concurrent use.
type asked struct {
	mu    sync.Mutex // guards hosts
	hosts []string
}

func (a *asked) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	a.hosts = append(a.hosts, r.Host)
	a.mu.Unlock()
	http.Error(w, "no web here", http.StatusBadGateway)
}
