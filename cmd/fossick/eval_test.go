package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fossick/datasets"
	"fossick/internal/testkit"
	"fossick/store"
	"fossick/train"
)

// A small crawl has pages about money and pages about stars.
const (
	moneyText = "loan mortgage interest bank deposit account rate credit"
	starText  = "star galaxy telescope orbit comet nebula planet light"
)

// crawled makes a store of n pages, numbered from first; every third is about stars.
func crawled(t *testing.T, dir string, first, n int) string {
	t.Helper()
	s := testkit.Call(store.Create(dir, store.Info{Version: version, Topic: "money"})).Must(t)
	b := s.Batch()
	counts := store.Counts{States: map[string]uint64{"ok": uint64(n)}}
	for i := range n {
		url, text := pageOf(first + i)
		number := uint64(i + 1)
		p := &store.Page{Number: number, ID: store.ID(number), URL: url, ContentType: "text/html", Checksum: []byte(url), Relevant: i%2 == 0}
		for _, err := range []error{
			b.PutDiscovery(p.ID, store.Discovery{URL: url, Via: store.ViaSeed}), b.PutSeen(store.HashURL(url), p.ID, false),
			b.PutPage(p, s.Compress([]byte("<p>"+text))), b.PutOutcome(p.ID, store.Outcome{State: "ok", Page: number}),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		counts.Pages++
	}
	testkit.Must(t, b.PutCounts(&counts))
	testkit.Must(t, b.Commit())
	testkit.Must(t, s.Close())
	return dir
}

func pageOf(i int) (url, text string) {
	if i%3 == 2 {
		return fmt.Sprintf("http://h.example/stars/%d", i), starText
	}
	return fmt.Sprintf("http://h.example/money/%d", i), moneyText
}

// trained writes a model that tells money from stars.
func trained(t *testing.T, path string) string {
	t.Helper()
	m, _, err := train.Train(context.Background(), func(yield func(*datasets.Example, error) bool) {
		for i := range 60 {
			e := &datasets.Example{Label: "money", Text: fmt.Sprint(moneyText, " money", i)}
			if i%2 == 0 {
				e.Label, e.Text = "stars", fmt.Sprint(starText, " stars", i)
			}
			if !yield(e, nil) {
				return
			}
		}
	}, train.Options{Classifier: "linear"})
	if err != nil {
		t.Fatal(err)
	}
	testkit.Must(t, m.WriteFile(path))
	return path
}

// truthFile writes the labels of the pages 0 to n−1.
func truthFile(t *testing.T, path string, n int) string {
	t.Helper()
	var b strings.Builder
	for i := range n {
		url, _ := pageOf(i)
		fmt.Fprintf(&b, "%s\t%s\tall\n", url, strings.Split(url, "/")[3])
	}
	testkit.Must(t, os.WriteFile(path, []byte(b.String()), 0o644))
	return path
}

// call runs the command line with --json and returns the object that it prints.
func call(t *testing.T, wantCode int, args ...string) map[string]any {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(context.Background(), append(args, "--json"), &stdout, &stderr)
	if code != wantCode {
		t.Fatalf("fossick %s: exit %d, want %d; %s", strings.Join(args, " "), code, wantCode, &stderr)
	}
	var got map[string]any
	dec := json.NewDecoder(&stdout)
	if err := dec.Decode(&got); err != nil {
		t.Fatalf("fossick %s: %v", strings.Join(args, " "), err)
	}
	if dec.More() {
		t.Errorf("fossick %s: more than one object on stdout", strings.Join(args, " "))
	}
	return got
}

func want(t *testing.T, got map[string]any, wanted map[string]any) {
	t.Helper()
	for key, w := range wanted {
		g, ok := got[key]
		if !ok {
			t.Errorf("key %s is missing", key)
		} else if fmt.Sprint(g) != fmt.Sprint(w) {
			t.Errorf("%s: got %v, want %v", key, g, w)
		}
	}
}

func TestEvalThenRefine(t *testing.T) {
	dir := t.TempDir()
	a, b := crawled(t, filepath.Join(dir, "a"), 0, 30), crawled(t, filepath.Join(dir, "b"), 15, 30)
	model := trained(t, filepath.Join(dir, "m"))
	truth := truthFile(t, filepath.Join(dir, "truth.tsv"), 42) // pages 42…44 are unknown

	want(t, call(t, 0, "eval", a, "--truth", truth, "--curve", "10"), map[string]any{
		"fetched": 30, "harvest": 20. / 30, "unknown": 0, "curve": [][]any{{10, 0.7}, {20, 0.7}, {30, 20. / 30}}, "kept": nil,
		"recall": 20. / 28, "recall_estimate": nil, "overlap": nil, "overlap_kept": nil, "search_length": nil,
	})
	want(t, call(t, 0, "eval", a, "--truth", truth, "--target", "stars"), map[string]any{"harvest": 10. / 30, "recall": 10. / 14})
	want(t, call(t, 0, "eval", a, "--truth", truth, "--target", "all"), map[string]any{"harvest": 1})
	want(t, call(t, 0, "eval", a), map[string]any{"harvest": 0.5, "relevance": "crawl", "unknown": nil, "recall": nil})
	want(t, call(t, 0, "eval", a, "--judge", model), map[string]any{"harvest": 20. / 30, "relevance": "judge"})

	want(t, call(t, 0, "refine", a, "--model", model), map[string]any{
		"pages": 30, "kept": 20, "dropped": 10, "per_class": map[string]any{"money": 20, "stars": 10}, "topic": "money",
	})
	want(t, call(t, 0, "refine", a, "--model", model, "--topic", "stars", "--threshold", "0"), map[string]any{"kept": 30})
	want(t, call(t, 0, "refine", a, "--model", model), map[string]any{"kept": 20})

	html := filepath.Join(dir, "report.html")
	got := call(t, 0, "eval", a, b, "--truth", truth, "--curve", "30", "--html", html)
	want(t, got, map[string]any{"fetched": 30, "overlap": [][]any{{30, 0.5}}, "harvest_before": 20. / 30, "harvest_after": 1})
	want(t, got["kept"].(map[string]any), map[string]any{"pages": 20, "precision": 1, "recall": 1, "f1": 1})
	want(t, got["stores"].([]any)[1].(map[string]any), map[string]any{"store": b, "unknown": 3, "kept": nil})
	if e := got["recall_estimate"].(map[string]any); e["value"] == nil || e["method"] == "" || len(e["ci"].([]any)) != 2 {
		t.Errorf("recall_estimate: %v", e)
	}
	report, err := os.ReadFile(html)
	if err != nil || !bytes.Contains(report, []byte("</html>")) {
		t.Errorf("report: %d bytes, %v", len(report), err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".report*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestEvalAndRefineRefuse(t *testing.T) {
	dir := t.TempDir()
	a := crawled(t, filepath.Join(dir, "a"), 0, 3)
	model := trained(t, filepath.Join(dir, "m"))
	truth := truthFile(t, filepath.Join(dir, "truth.tsv"), 10)
	tests := []struct {
		name string
		code int
		says string
		args []string
	}{
		{"no store", exitFailed, "fossick focus", []string{"eval", filepath.Join(dir, "x")}},
		{"a store twice", exitUsage, "given twice", []string{"eval", a, dir + "/./a"}},
		{"truth and judge", exitUsage, "", []string{"eval", a, "--truth", truth, "--judge", model}},
		{"a target that the truth does not have", exitUsage, "all, money, stars", []string{"eval", a, "--truth", truth, "--target", "sport"}},
		{"a target that the judge does not have", exitUsage, "money, stars", []string{"eval", a, "--judge", model, "--target", "sport"}},
		{"a curve backwards", exitUsage, "--curve", []string{"eval", a, "--curve=-1"}},
		{"no truth file", exitFailed, "truth", []string{"eval", a, "--truth", filepath.Join(dir, "x")}},
		{"a report in no folder", exitFailed, "folder", []string{"eval", a, "--html", filepath.Join(dir, "x", "r.html")}},
		{"no model", exitUsage, "--model", []string{"refine", a}},
		{"a model that is none", exitFailed, truth, []string{"refine", a, "--model", truth}},
		{"a topic that the model does not have", exitUsage, "money, stars", []string{"refine", a, "--model", model, "--topic", "sport"}},
		{"a threshold over 1", exitUsage, "[0,1]", []string{"refine", a, "--model", model, "--threshold", "2"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if said, _ := call(t, tt.code, tt.args...)["error"].(string); !strings.Contains(said, tt.says) || said == "" {
				t.Errorf("error %q; want it to say %q", said, tt.says)
			}
		})
	}
}

func TestRefineInterrupted(t *testing.T) {
	dir := t.TempDir()
	a := crawled(t, filepath.Join(dir, "a"), 0, 50)
	model := trained(t, filepath.Join(dir, "m"))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var stdout, stderr bytes.Buffer
	if code := run(ctx, []string{"refine", a, "--model", model, "--json"}, &stdout, &stderr); code != exitInterrupted {
		t.Errorf("exit %d, want %d; %s", code, exitInterrupted, &stderr)
	}
	if !json.Valid(stdout.Bytes()) {
		t.Errorf("stdout is not one JSON object: %s", &stdout)
	}
	want(t, call(t, 0, "refine", a, "--model", model), map[string]any{"pages": 50})
}
