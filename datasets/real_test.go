package datasets

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fossick/internal/testkit"
)

// TestRealCorpora compares row counts with those published with the data.
func TestRealCorpora(t *testing.T) {
	tests := []struct {
		path       string
		rows       int
		links      int
		duplicates int // -1: unknown
		labels     map[string]int
	}{
		{"wikispeedia", 4598, 119769, -1, nil},
		{"wikispeedia/train.jsonl.zst", 1364, 0, -1, nil},
		{"webkb", 7019, 11427, -1, map[string]int{"other": 2822, "student": 1485, "staff": 125}},
		{"20news", 18846, 0, -1, map[string]int{"rec.sport.hockey": 999, "talk.religion.misc": 628}},
		{"bbc", 2225, 0, 98, map[string]int{"sport": 511, "business": 510}},
		{"debdocs", 13834, 404287, -1, map[string]int{"science": 4346, "finance": 2031}},
		// Its README counts 3,753 repeats, including the second of two empty pages.
		{"uci_ics", 53249, 675156, 3752, map[string]int{"grape.ics.uci.edu": 7897}},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			if !slices.Contains([]string{"bbc", "webkb", "wikispeedia/train.jsonl.zst"}, tt.path) {
				testkit.Only(t, "reads a large corpus whole")
			}
			rows, links := 0, 0
			s := testkit.Call(Open(testkit.Corpus(t, tt.path), Options{})).Must(t)
			for range testkit.All(t, s.Examples()) {
				rows++
			}
			for range testkit.All(t, s.Links()) {
				links++
			}
			rep := testkit.Call(s.Report()).Must(t)
			t.Logf("%d rows, %d links, notes %q", rows, links, rep.Notes())
			if rows != tt.rows || links != tt.links {
				t.Errorf("%d rows and %d links, want %d and %d", rows, links, tt.rows, tt.links)
			}
			if tt.duplicates >= 0 && rep.Duplicates != tt.duplicates {
				t.Errorf("%d duplicates, want %d", rep.Duplicates, tt.duplicates)
			}
			for label, n := range tt.labels {
				if rep.PerLabel[label] != n {
					t.Errorf("label %s: %d rows, want %d", label, rep.PerLabel[label], n)
				}
			}
		})
	}
}

func TestRealTruth(t *testing.T) {
	testkit.Only(t, "reads a large corpus whole")
	s := testkit.Call(Open(testkit.Corpus(t, "wikispeedia"), Options{})).Must(t)
	joined := testkit.Call(s.truth()).Must(t)
	read := testkit.Call(ReadTruth(filepath.Join(testkit.Corpus(t, "wikispeedia"), "labels.tsv.zst"))).Must(t)
	for label, want := range map[string]int{"Astronomy": 105, "Biology": 698, "IT": 83, "Religion": 131} {
		if a, b := len(joined.Targets(label)), len(read.Targets(label)); a != want || b != want {
			t.Errorf("%s: %d pages by the set, %d by the file, want %d", label, a, b, want)
		}
	}
}

// TestRealPages parses every 7th row of each set and looks for words in it.
func TestRealPages(t *testing.T) {
	for _, name := range []string{"bbc", "20news", "webkb", "wikispeedia"} {
		t.Run(name, func(t *testing.T) {
			if name == "20news" || name == "wikispeedia" {
				testkit.Only(t, "reads a large corpus whole")
			}
			s := testkit.Call(Open(testkit.Corpus(t, name), Options{})).Must(t)
			n, bare, failed := 0, 0, 0
			for e := range testkit.All(t, s.Examples()) {
				if n++; n%7 != 0 {
					continue
				}
				p, err := e.Page()
				switch {
				case err != nil:
					failed++
					t.Log(err)
				case len(strings.Fields(p.Text)) < 3 && len(strings.TrimSpace(e.HTML+e.Text)) > 200:
					bare++
					t.Logf("%s: %d bytes of markup, text %q", e.URL, len(e.HTML), p.Text)
				}
			}
			t.Logf("%d rows, %d without text, %d not parsed", n/7, bare, failed)
			if failed > 0 || bare*50 > n/7 {
				t.Errorf("of %d rows %d have no text and %d cannot be parsed", n/7, bare, failed)
			}
		})
	}
}
