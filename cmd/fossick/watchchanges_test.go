package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// growing is a web of four pages: after a step one has another text, one another advert, one
// is gone; a fourth stays.
func growing(t *testing.T, step *atomic.Int32) string {
	text := func(word string) string {
		return "<p>" + strings.Repeat("The "+word+" of the old mine was found by the river after the flood, as all who live there know. ", 6)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		word := "gold"
		switch {
		case r.URL.Path == "/text" && step.Load() > 0:
			word = []string{"", "silver", "copper"}[step.Load()]
		case r.URL.Path == "/gone" && step.Load() > 0, r.URL.Path == "/robots.txt":
			http.NotFound(w, r)
			return
		case r.URL.Path == "/":
			fmt.Fprint(w, "<a href=/text>text</a> <a href=/advert>advert</a> <a href=/gone>gone</a>")
		}
		fmt.Fprintf(w, "<title>%s</title><h1>%[1]s</h1>%s<p>%[1]s says so", r.URL.Path, text(word))
		if r.URL.Path == "/advert" {
			fmt.Fprintf(w, "<div class=ad>Buy %d</div>", step.Load())
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// TestWatchChanges: what is new, changed and gone since a time is listed, with the difference
// of the main text from the body of that time, if that was kept.
func TestWatchChanges(t *testing.T) {
	t.Chdir(t.TempDir())
	var step atomic.Int32
	addr := growing(t, &step)
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"focus", "--topic", "a", "--keywords", "gold", "--threshold", "0", "--allow-net", "127.0.0.0/8", "--delay", "0", "--seed", addr + "/", "--store", "s"}, &out, &errs); code != 0 {
		t.Fatal(errs.String())
	}
	begin := time.Now().UTC()
	round := func(flags ...string) {
		t.Helper()
		step.Add(1)
		if r := watch(t, "s", append([]string{"--rounds", "1"}, flags...)...); r.Stopped != "rounds" || r.Refreshed.Changed != 2 {
			t.Errorf("stopped by %q: %+v", r.Stopped, r.Refreshed)
		}
	}
	round("--keep-versions")
	between := time.Now().UTC()
	round() // a page that has versions goes on keeping them
	since := func(at time.Time) *watchChanges {
		t.Helper()
		r := watch(t, "s", "--since", at.Format(time.RFC3339Nano), "--diff")
		if r.Refreshed != nil || r.Rounds != 2 {
			t.Errorf("--since asked: %+v", r.Refreshed)
		}
		return r.Changes
	}
	c := since(begin)
	if len(c.New) != 0 || len(c.Changed) != 2 || len(c.Gone) != 1 || c.Gone[0].URL != addr+"/gone" || c.Gone[0].What != "code" {
		t.Fatalf("%+v", c)
	}
	for _, l := range c.Changed {
		text := l.URL == addr+"/text"
		if text != (l.What == "text") || text != strings.Contains(l.Diff, "\n-The gold of") || text != strings.Contains(l.Diff, "\n+The copper of") {
			t.Errorf("%+v", l)
		}
	}
	if c = since(between); len(c.Gone) != 0 || !strings.Contains(c.Changed[0].Diff+c.Changed[1].Diff, "\n-The silver of") {
		t.Errorf("since the first round: %+v", c)
	}
	if c = since(begin.Add(-time.Hour)); len(c.New) != 3 || len(c.Gone) != 1 {
		t.Errorf("since before the crawl: %+v", c)
	}
	out.Reset()
	if code := run(t.Context(), []string{"watch", "s", "--since", "1d"}, &out, &errs); code != 0 || !strings.Contains(out.String(), "3 pages new, 0 changed, 1 gone") || strings.Contains(out.String(), "S(n)") {
		t.Errorf("exit code %d, %s", code, out.String())
	}
	for _, bad := range [][]string{{"--diff"}, {"--since", "soon"}} {
		if code, told := runForErrors(t, append([]string{"watch", "s"}, bad...)); code != exitUsage || !strings.Contains(told, "--since") {
			t.Errorf("%v: exit code %d, %s", bad, code, told)
		}
	}
	out.Reset()
	if code := run(t.Context(), []string{"watch", "s", "--rounds", "0", "--json"}, &out, &errs); code != 0 || !json.Valid(out.Bytes()) || !strings.Contains(out.String(), `"changes":null`) {
		t.Errorf("exit code %d, %s", code, out.String())
	}
}
