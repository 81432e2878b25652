package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"

	"fossick/crawler"
	"fossick/datasets/web"
	"fossick/eval/monitor"
	"fossick/internal/fulltest"
)

// TestMinHarvestOnWikispeedia: a small topic is used up long before the web is,
// and the crawl ends then with nearly all of it; a rich one goes on.
func TestMinHarvestOnWikispeedia(t *testing.T) {
	fulltest.Only(t, "crawls a corpus")
	corpus := fulltest.Corpus(t, "wikispeedia")
	addr, stop, err := serve(t.Context(), corpus, web.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	dir := t.TempDir()
	do := func(into any, args ...string) {
		t.Helper()
		var out, errOut bytes.Buffer
		if code := run(t.Context(), append(args, "--json", "--quiet"), &out, &errOut); code != 0 {
			t.Fatalf("%v: exit code %d\n%s%s", args, code, out.String(), errOut.String())
		}
		if err := json.Unmarshal(out.Bytes(), into); err != nil {
			t.Fatal(err)
		}
	}
	crawl := func(topic, store string, flags ...string) (r monitor.Result) {
		model := filepath.Join(dir, topic)
		if !exists(model) {
			do(&struct{}{}, "train", filepath.Join(corpus, "train.jsonl.zst"), "--topic", topic, "--classifier", "linear", "-o", model)
		}
		do(&r, append([]string{"focus", "--topic", topic, "--model", model, "--seed", "http://h115.test/wiki/Ireland", "--proxy", "http://" + addr,
			"--delay", "0", "--store", filepath.Join(dir, store)}, flags...)...)
		return r
	}
	poor := crawl("Music", "poor", "--max-pages", "5000", "--min-harvest", "0.02")
	// A crawl of the whole corpus fetches 4,055 pages, of which the model holds 84 for
	// music.
	t.Logf("Music: %d relevant pages of %d", poor.Relevant, poor.Fetched)
	if poor.Stopped != crawler.StopMinHarvest || poor.Fetched > 2500 || poor.Relevant < 70 {
		t.Errorf("Music ended by %s with %d relevant pages of %d", poor.Stopped, poor.Relevant, poor.Fetched)
	}
	if poor.Next == nil || poor.Next.Upper > 0.025 {
		t.Errorf("Music: the next pages are worth %+v", poor.Next)
	}
	if rich := crawl("Science", "rich", "--max-pages", "600", "--min-harvest", "0.2"); rich.Stopped != crawler.StopMaxPages {
		t.Errorf("Science ended by %s after %d pages: %+v", rich.Stopped, rich.Fetched, rich.Next)
	}
}
