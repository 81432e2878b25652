package datasets

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestTruth(t *testing.T) {
	text := "# url TAB label TAB labels\nhttp://H1.test:80/a#x\tbirds\tbirds|animals\nhttp://h1.test/b\tother\t\nhttp://h1.test/c\tfish\n\nhttp://h1.test/a\tpets\n"
	for name, body := range map[string]string{"t.tsv": text, "t.tsv.gz": gz(t, text), "t.tsv.zst": zst(t, text)} {
		truth, err := ReadTruth(filepath.Join(write(t, map[string]string{name: body}), name))
		if err != nil {
			t.Fatal(err)
		}
		if truth.Len() != 3 || truth.Repeated != 1 {
			t.Errorf("%s: %d pages, %d repeated; want 3 and 1", name, truth.Len(), truth.Repeated)
		}
		tests := []struct {
			url, label   string
			known, match bool
		}{
			{"http://h1.test/a", "birds", true, true},
			{"http://h1.test/a", "animals", true, true},
			{"http://h1.test/a", "pets", true, true}, // of the repeated row
			{"http://h1.test/a", "other", true, false},
			{"http://h1.test/a", "", true, false},
			{"http://h1.test/b", "other", true, true},
			{"http://h1.test/none", "other", false, false},
		}
		for _, tt := range tests {
			l, known := truth.Of(tt.url)
			if known != tt.known || l.Match(tt.label) != tt.match {
				t.Errorf("%s: %s as %q: known %v, match %v; want %v, %v", name, tt.url, tt.label, known, l.Match(tt.label), tt.known, tt.match)
			}
		}
		if got := truth.Targets("animals"); !slices.Equal(got, []string{"http://h1.test/a"}) {
			t.Errorf("targets of animals: %v", got)
		}
		if err := truth.Known("annimals"); err == nil || !strings.Contains(err.Error(), "it has animals, birds, fish, other, pets") {
			t.Errorf("a misspelt target: %v, want the labels there are", err)
		}
	}
}

func TestTruthErrors(t *testing.T) {
	for text, want := range map[string]string{
		"http://a.test/\n":          "t.tsv:1: 1 columns",
		"http://a.test/\tx\ta|b\tc": "4 columns",
		"ok\tx\n\tx\n":              "t.tsv:2: no URL",
		"http://a.test/\t\ta|b":     "no label for http://a.test/",
		"# nothing\n":               "no rows",
	} {
		_, err := ReadTruth(filepath.Join(write(t, map[string]string{"t.tsv": text}), "t.tsv"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an error saying %q", text, err, want)
		}
	}
	if _, err := ReadTruth("nothere.tsv"); err == nil {
		t.Error("a missing file: no error")
	}
}

// TestTruthOfSet wants the same answers from a set's own labels.
func TestTruthOfSet(t *testing.T) {
	s, err := Open("demo", Options{})
	if err != nil {
		t.Fatal(err)
	}
	truth, err := s.Truth()
	if err != nil {
		t.Fatal(err)
	}
	hub := s.Web().Starts["science"][0]
	if l, ok := truth.Of(hub); !ok || !l.Match("science") || l.Match("sport") {
		t.Errorf("%s: %+v, %v; want science", hub, l, ok)
	}
	if n := len(truth.Targets("astronomy")); n < 12 {
		t.Errorf("%d targets for astronomy, want 12 at least", n)
	}
}

// FuzzTruth: no panic, and what was read is read the same after being written.
func FuzzTruth(f *testing.F) {
	f.Add("http://a.test/\tx\ta|b")
	f.Add("u\tx")
	f.Add("\t\t")
	f.Fuzz(func(t *testing.T, line string) {
		url, l, err := parseTruth(line)
		if _, linkErr := parseLink(line); linkErr == nil && strings.Count(line, "\t") != 1 {
			t.Errorf("%q was read as a link", line)
		}
		if err != nil {
			return
		}
		out := url + "\t" + l.Label + "\t" + strings.Join(l.All, "|")
		url2, l2, err := parseTruth(out)
		if err != nil || url2 != url || l2.Label != l.Label || !slices.Equal(l2.All, l.All) {
			t.Errorf("%q: read %q %+v, and %q %+v after writing (%v)", line, url, l, url2, l2, err)
		}
	})
}
