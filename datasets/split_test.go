package datasets

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// rowsOf makes n rows per label; every fifth repeats the body before it.
func rowsOf(counts map[string]int) []Row {
	var rows []Row
	for _, label := range slices.Sorted(maps.Keys(counts)) {
		for i := range counts[label] {
			r := Row{Label: label}
			copy(r.Sum[:], fmt.Sprintf("%s%d", label, i-i%5/4))
			rows = append(rows, r)
		}
	}
	return rows
}

func TestAssign(t *testing.T) {
	counts := map[string]int{"a": 100, "b": 50, "c": 7, "": 5}
	tests := []struct {
		name string
		opt  SplitOptions
		want map[string]int
		err  string
	}{
		{"all", SplitOptions{}, map[string]int{"a": 100, "b": 50, "c": 7}, ""},
		{"share", SplitOptions{Share: 0.7}, map[string]int{"a": 70, "b": 35, "c": 5}, ""},
		{"a small share", SplitOptions{Share: 0.01}, map[string]int{"a": 1, "b": 1, "c": 1}, ""},
		{"number", SplitOptions{N: 60}, map[string]int{"a": 38, "b": 19, "c": 3}, ""},
		{"number of all", SplitOptions{N: 157}, map[string]int{"a": 100, "b": 50, "c": 7}, ""},
		{"each class", SplitOptions{PerClass: map[string]int{"": 5}}, map[string]int{"a": 5, "b": 5, "c": 5}, ""},
		{"by class", SplitOptions{PerClass: map[string]int{"a": 30, "": 2}}, map[string]int{"a": 30, "b": 2, "c": 2}, ""},
		{"too many", SplitOptions{N: 158}, nil, "there are 157"},
		{"too many of c", SplitOptions{PerClass: map[string]int{"": 8}}, nil, `8 rows of "c" for training; there are 7`},
		{"no such class", SplitOptions{PerClass: map[string]int{"d": 8}}, nil, "the set has a, b, c"},
		{"share 2", SplitOptions{Share: 2}, nil, "at most 1"},
		{"two ways", SplitOptions{Share: 0.5, N: 3}, nil, "only one of them"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rows := rowsOf(counts)
			parts, rep, err := Assign(rows, rand.New(rand.NewPCG(7, 7)), tt.opt)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error %v, want one saying %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			trained, total := map[string]int{}, 0
			for i, p := range parts {
				if p == Train {
					trained[rows[i].Label]++
					total++
				}
			}
			if !maps.Equal(trained, tt.want) {
				t.Errorf("%v train, want %v", trained, tt.want)
			}
			if rep.Train != total || rep.Test != 157-total || rep.Unused != 5 {
				t.Errorf("%+v, want %d train, %d test, the 5 without label unused", rep, total, 157-total)
			}
			again, _, _ := Assign(rows, rand.New(rand.NewPCG(7, 7)), tt.opt)
			if !slices.Equal(parts, again) {
				t.Error("the same seed splits differently")
			}
		})
	}
}

func TestOwnSplit(t *testing.T) {
	rows := rowsOf(map[string]int{"a": 20, "b": 20})
	for i := range rows {
		rows[i].Split = []string{"train", "test", "train", ""}[i%4]
	}
	rng := rand.New(rand.NewPCG(1, 1))
	_, rep, err := Assign(rows, rng, SplitOptions{})
	if err != nil || rep.Train != 20 || rep.Test != 10 || rep.Unused != 10 || !rep.Own {
		t.Errorf("own split: %+v, %v; want 20, 10 and 10", rep, err)
	}
	parts, rep, err := Assign(rows, rng, SplitOptions{N: 6})
	if err != nil || rep.Train != 6 || rep.Test != 10 {
		t.Errorf("6 of an own split: %+v, %v; want 6 train and the 10 test rows", rep, err)
	}
	for i, p := range parts {
		if p == Train && rows[i].Split != "train" || (p == Test) != (rows[i].Split == "test") {
			t.Errorf("row %d of split %q went to %d", i, rows[i].Split, p)
		}
	}
	rows[3].Split = "dev"
	if _, _, err := Assign(rows, rng, SplitOptions{}); err == nil || !strings.Contains(err.Error(), `row 4: split "dev"`) {
		t.Errorf("a third split: %v", err)
	}
}

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
			{"http://h1.test/a", "pets", true, true}, // from the repeated row
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

func TestTruthOfSet(t *testing.T) {
	s, err := Open("demo", Options{})
	if err != nil {
		t.Fatal(err)
	}
	truth, err := s.truth()
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

// FuzzTruth checks that truth lines survive a round trip.
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

// truth collects the labels of the set's own rows and skips unlabelled rows.
func (s *Set) truth() (*Truth, error) {
	t := &Truth{byURL: map[string]Labels{}}
	for e, err := range s.Examples() {
		if err != nil {
			return nil, err
		}
		if e.Label != "" {
			t.add(e.URL, Labels{e.Label, e.Labels})
		}
	}
	if t.Len() == 0 {
		return nil, fmt.Errorf("set %s: no row has a label; give a truth file, or put labels.tsv beside the pages", s.name)
	}
	return t, nil
}
