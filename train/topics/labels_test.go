package topics

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fossick/datasets"
	"fossick/internal/cli"
	"fossick/internal/testkit"
)

func folders(t *testing.T, of map[string]int) string {
	dir := filepath.Join(t.TempDir(), "set")
	for sub, n := range of {
		testkit.Must(t, os.MkdirAll(filepath.Join(dir, sub), 0o755))
		for i := range n {
			page := filepath.Join(dir, sub, string(rune('a'+i))+".html")
			testkit.Must(t, os.WriteFile(page, []byte("<html><p>page "+sub+string(rune('a'+i))), 0o600))
		}
	}
	return dir
}

func TestExamplesByLabel(t *testing.T) {
	for _, tc := range []struct {
		name    string
		folders map[string]int
		on, off int
		err     string // a part of it
	}{
		{"saved pages", map[string]int{".": 3}, 3, 0, ""},
		{"one label", map[string]int{"insects": 3}, 3, 0, ""},
		{"the topic's label", map[string]int{"bees": 2, "wasps": 3}, 2, 0, ""},
		{"yes and no", map[string]int{"yes": 2, "no": 3}, 2, 3, ""},
		{"Yes and NO", map[string]int{"Yes": 2, "NO": 3}, 2, 3, ""},
		{"pos and neg", map[string]int{"pos": 2, "neg": 3}, 2, 3, ""},
		{"positive and negative", map[string]int{"positive": 2, "negative": 3}, 2, 3, ""},
		{"relevant and irrelevant", map[string]int{"relevant": 2, "irrelevant": 3}, 2, 3, ""},
		{"relevant and not relevant", map[string]int{"relevant": 2, "not_relevant": 3}, 2, 3, ""},
		{"1 and 0", map[string]int{"1": 2, "0": 3}, 2, 3, ""},
		{"true and false", map[string]int{"true": 2, "false": 3}, 2, 3, ""},
		{"yes and no, a folder below", map[string]int{"pages/yes": 2, "pages/no": 3}, 2, 3, ""},
		{"yes alone", map[string]int{"yes": 2}, 2, 0, ""},
		{"a saved site with folders", map[string]int{"a.test/0": 2, "a.test/wiki": 3}, 5, 0, ""},
		{"two other labels", map[string]int{"ants": 2, "wasps": 3}, 0, 0, "ants, wasps"},
		{"yes, no and another", map[string]int{"yes": 2, "no": 3, "ants": 1}, 0, 0, "ants, no, yes"},
		{"yes and another", map[string]int{"yes": 2, "ants": 1}, 0, 0, "ants, yes"},
		{"the topic's label in capitals", map[string]int{"BEES": 2, "wasps": 3}, 0, 0, "BEES, wasps"},
		{"no alone", map[string]int{"no": 3}, 0, 0, "says off topic"},
	} {
		on, off, err := Examples(datasets.Open, "bees", []string{folders(t, tc.folders)})
		var mistake cli.UsageError
		if tc.err != "" {
			if err == nil || !strings.Contains(err.Error(), tc.err) || !errors.As(err, &mistake) {
				t.Errorf("%s: %v; want a mistake with %q", tc.name, err, tc.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		if off == nil {
			off = datasets.Chain()
		}
		if n, m := count(t, on), count(t, off); n != tc.on || m != tc.off {
			t.Errorf("%s: %d on topic and %d off, want %d and %d", tc.name, n, m, tc.on, tc.off)
		}
	}
}

func count(t *testing.T, rows datasets.Stream) (n int) {
	for _, err := range rows {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// TestLearnsFromNo: pages with a label that says off topic are the model's only negatives.
func TestLearnsFromNo(t *testing.T) {
	t.Chdir(t.TempDir())
	dir := folders(t, map[string]int{"yes": 12, "no": 12})
	l := learning(new([]string))
	l.Seed, l.Open = 1, datasets.Open
	l.Rows = func(rows datasets.Stream) datasets.Stream { return rows }
	l.Step = func(string) {}
	w := Wanted{Name: "bees", Keywords: []string{"bee"}, Examples: []string{dir}}
	made := testkit.Call(w.Make(t.Context(), l)).Must(t)
	if *made.Examples != 12 || *made.Negatives != 12 || made.Unlabelled != nil || len(made.From) != 1 || made.From[0] != dir {
		t.Errorf("%+v", made)
	}
	w.Name, w.Out, w.Unlabelled = "hives", "", []string{"demo"}
	if _, err := w.Make(t.Context(), l); err == nil || !strings.Contains(err.Error(), "are not needed") {
		t.Errorf("with --unlabelled: %v", err)
	}
}
