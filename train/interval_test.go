package train_test

import (
	"cmp"
	"context"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"fossick/classify"
	"fossick/datasets"
	"fossick/features"
	"fossick/train"
)

// TestIntervalHolds: how often the 95 % interval of the accuracy that cross-validation
// tells holds the accuracy on pages of which there are many more. Sets of 20 Newsgroups are
// drawn again and again.
//
//	FOSSICK_COMPARE=1 go test ./train -run TestIntervalHolds -v
func TestIntervalHolds(t *testing.T) {
	if os.Getenv("FOSSICK_COMPARE") == "" {
		t.Skip("takes minutes; set FOSSICK_COMPARE=1")
	}
	set, err := datasets.Open(filepath.Join(cmp.Or(os.Getenv("FOSSICK_DATA"), "../../shared/data"), "20news"), datasets.Options{})
	if err != nil {
		t.Skip(err)
	}
	labels := map[string]bool{"rec.autos": true, "sci.med": true, "sci.space": true, "rec.sport.hockey": true}
	var all []*datasets.Example
	var docs []features.Doc
	for e, err := range set.Examples() {
		if err != nil {
			t.Fatal(err)
		}
		if !labels[e.Label] {
			continue
		}
		d, err := train.Doc(e)
		if err != nil {
			t.Fatal(err)
		}
		all, docs = append(all, e), append(docs, d)
	}
	for _, way := range []struct {
		name  string
		pages int
		opt   train.Options
	}{
		{"four classes, linear", 300, train.Options{Method: train.Method{Classifier: "linear"}}},
		{"four classes, nb", 300, train.Options{Method: train.Method{Classifier: "nb"}}},
		{"one topic, linear", 300, train.Options{Method: train.Method{Classifier: "linear"}, Target: train.Target{Topic: "sci.med"}}},
	} {
		const runs = 100
		held, told, truth := 0, 0.0, 0.0
		for run := range runs {
			order := rand.New(rand.NewPCG(uint64(run), 95)).Perm(len(all))
			opt := way.opt
			opt.Seed = int64(run)
			m, rep, err := train.Train(context.Background(), rows(all, order[:way.pages]), opt)
			if err != nil {
				t.Fatal(err)
			}
			c, err := classify.New(m)
			if err != nil {
				t.Fatal(err)
			}
			right, rest := 0, order[way.pages:]
			for _, p := range rest {
				if c.Classify(docs[p]).Label == opt.Class(all[p]) {
					right++
				}
			}
			accuracy := float64(right) / float64(len(rest))
			t.Logf("%s: %.4f [%.4f, %.4f], true %.4f", way.name, rep.CV.Accuracy, rep.CV.CI[0], rep.CV.CI[1], accuracy)
			if ci := rep.CV.CI; ci[0] <= accuracy && accuracy <= ci[1] {
				held++
			}
			told, truth = told+rep.CV.Accuracy/runs, truth+accuracy/runs
		}
		t.Logf("%s, %d pages: %d of %d intervals hold; told %.4f, true %.4f", way.name, way.pages, held, runs, told, truth)
		if held < 90 {
			t.Errorf("%s: %d of %d intervals hold the truth, want 90 at least", way.name, held, runs)
		}
	}
}

func rows(all []*datasets.Example, pages []int) iter.Seq2[*datasets.Example, error] {
	return func(yield func(*datasets.Example, error) bool) {
		for _, p := range pages {
			if !yield(all[p], nil) {
				return
			}
		}
	}
}
