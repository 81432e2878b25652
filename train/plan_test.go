package train

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"fossick/datasets"
	"fossick/internal/testkit"
	"fossick/models"
)

// TestPlanMake trains on half of the demo set; an error about an unknown label lists the known ones.
func TestPlanMake(t *testing.T) {
	p := Plan{
		Sets: []string{"demo"}, Rows: Rows{Train: "0.5", Where: []string{"kind=article"}},
		Options: Options{Classifier: models.NaiveBayes, Target: Target{Labels: []string{"banking", "sport"}}, Seed: 1},
		Open:    datasets.Open, Say: func(string, ...any) {}, Log: slog.New(slog.DiscardHandler),
	}
	all := func(rows datasets.Stream) datasets.Stream { return rows }
	made := testkit.Call(p.train(t.Context(), all)).Must(t)
	tests := 0
	for e := range testkit.All(t, made.Parts.Test) {
		if p.Options.Class(e) != "" {
			tests++
		}
	}
	p.Train = ""
	whole := testkit.Call(p.train(t.Context(), all)).Must(t)
	if n, of := made.Report.Pages, whole.Report.Pages; n < of/2-1 || n > of/2+1 || tests == 0 || made.Parts.How != "the set's own training part" {
		t.Errorf("%d of %d training pages, %d test pages, %s", n, of, tests, made.Parts.How)
	}
	p.Options.Labels = []string{"Sport", "banking"}
	p.Rows = Rows{All: true}
	if _, err := p.train(t.Context(), all); err == nil || !strings.Contains(err.Error(), `there is "sport"`) {
		t.Errorf("a label spelt otherwise: %v", err)
	}
}

// rowsOf makes rows of "site label/finer label" each.
func rowsOf(specs ...string) datasets.Stream {
	return func(yield func(*datasets.Example, error) bool) {
		for i, spec := range specs {
			site, labels, _ := strings.Cut(spec, " ")
			l := strings.Split(labels, "/")
			e := &datasets.Example{URL: fmt.Sprintf("http://x.test/%d", i), Site: site, Label: l[0], Labels: l, Text: spec}
			if !yield(e, nil) {
				return
			}
		}
	}
}

func labelsOf(t *testing.T, rows datasets.Stream) []string {
	t.Helper()
	var labels []string
	for e := range testkit.All(t, rows) {
		if e.Labels[0] != e.Label {
			t.Errorf("label %s, labels %v: want it first", e.Label, e.Labels)
		}
		labels = append(labels, e.Label)
	}
	return labels
}

func TestRename(t *testing.T) {
	var r renames
	for _, text := range []string{"finance=banking,quantlib=", "rec.sport.hockey=sport, nowhere=x,"} {
		testkit.Must(t, r.UnmarshalText([]byte(text)))
	}
	rows := rowsOf("a finance/gnucash", "b finance/quantlib", "c rec.sport.hockey", "d science/astronomy")
	got := labelsOf(t, r.apply(rows))
	if want := []string{"banking", "sport", "science"}; !slices.Equal(got, want) {
		t.Errorf("labels %v, want %v", got, want)
	}
	if got := r.unused(); !slices.Equal(got, []string{"nowhere"}) {
		t.Errorf("unused %v, want nowhere", got)
	}
	if got := labelsOf(t, rows); got[0] != "finance" {
		t.Errorf("the set's own row was changed: %v", got)
	}
	for _, bad := range []string{"a", "=b", "c=1,c=2", "finance=again"} {
		if err := r.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("--rename %s passed", bad)
		}
	}
}

func TestPerSite(t *testing.T) {
	var specs []string
	for range 8 {
		specs = append(specs, "big a", "big b", " a", "small a")
	}
	specs = append(specs, "small b")
	run := func(seed uint64) []string {
		rows := testkit.Call(perSite(rowsOf(specs...), 5, false, rand.New(rand.NewPCG(seed, 1)))).Must(t)
		n := map[string]int{}
		var urls []string
		for e := range rows {
			n[e.Site+" "+e.Label]++
			urls = append(urls, e.URL)
		}
		want := map[string]int{"big a": 5, "big b": 5, " a": 8, "small a": 5, "small b": 1}
		for group, w := range want {
			if n[group] != w {
				t.Errorf("%d rows of %q, want %d", n[group], group, w)
			}
		}
		return urls
	}
	first := run(1)
	if !slices.Equal(first, run(1)) {
		t.Error("the same seed draws other rows")
	}
	if slices.Equal(first, run(2)) {
		t.Error("another seed draws the same rows")
	}
}

// TestPerSiteSparesTests: a cap on training must not shrink the test.
func TestPerSiteSparesTests(t *testing.T) {
	tests := func(yield func(*datasets.Example, error) bool) {
		for e := range rowsOf("a x", "a x", "a x") {
			e.Split = "test"
			if !yield(e, nil) {
				return
			}
		}
	}
	for capped, want := range map[bool]int{false: 3, true: 1} {
		rows := testkit.Call(perSite(tests, 1, capped, rand.New(rand.NewPCG(1, 1)))).Must(t)
		if n := len(labelsOf(t, rows)); n != want {
			t.Errorf("tests capped: %v: %d rows, want %d", capped, n, want)
		}
	}
}

// TestTestPartsTrainCapped: if the test comes from elsewhere, a set's own test rows train, under the cap.
func TestTestPartsTrainCapped(t *testing.T) {
	for _, tt := range []struct {
		name string
		rows Rows
		want bool
	}{
		{"the sets' own split", Rows{}, false},
		{"--all", Rows{All: true}, true},
		{"--test", Rows{Test: "demo"}, true},
		{"--test-where", Rows{TestWhere: "site=a"}, true},
	} {
		if got := tt.rows.trainsTests(); got != tt.want {
			t.Errorf("%s: own test rows train: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestSplitBesideOwn: beside a set with a split, a set without one trains as a whole.
func TestSplitBesideOwn(t *testing.T) {
	with := func(yield func(*datasets.Example, error) bool) {
		for e := range rowsOf("a x", "a y", "a x", "a y") {
			e.Split = "train"
			if e.URL >= "http://x.test/2" {
				e.Split = "test"
			}
			if !yield(e, nil) {
				return
			}
		}
	}
	p := testkit.Call((&Plan{}).split([]datasets.Stream{with, rowsOf("b x", "b y", "b y")})).Must(t)
	if n := len(labelsOf(t, p.Train)); n != 5 {
		t.Errorf("%d rows to train on, want 2 of the first set and 3 of the second", n)
	}
	if n := len(labelsOf(t, p.Test)); n != 2 {
		t.Errorf("%d rows to test on, want 2", n)
	}
}
