package train

import (
	"log/slog"
	"strings"
	"testing"

	"fossick/datasets"
	"fossick/models"
)

// TestMake trains on half of the demo set's training part; a label that no row has is told
// with those that there are.
func TestPlanMake(t *testing.T) {
	p := Plan{
		Sets: []string{"demo"}, Rows: Rows{Train: "0.5", Where: []string{"kind=article"}},
		Options: Options{Classifier: models.NaiveBayes, Target: Target{Labels: []string{"banking", "sport"}}, Seed: 1},
		Open:    datasets.Open, Say: func(string, ...any) {}, Log: slog.New(slog.DiscardHandler),
	}
	all := func(rows datasets.Stream) datasets.Stream { return rows }
	made, err := p.Make(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	tests := 0
	for e, err := range made.Parts.Test {
		if err != nil {
			t.Fatal(err)
		}
		if p.Options.Class(e) != "" {
			tests++
		}
	}
	p.Train = ""
	whole, err := p.Make(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	if n, of := made.Report.Pages, whole.Report.Pages; n < of/2-1 || n > of/2+1 || tests == 0 || made.Parts.How != "the set's own training part" {
		t.Errorf("%d of %d training pages, %d test pages, %s", n, of, tests, made.Parts.How)
	}
	p.Options.Labels = []string{"Sport", "banking"}
	p.Rows = Rows{All: true}
	if _, err := p.Make(t.Context(), all); err == nil || !strings.Contains(err.Error(), `there is "sport"`) {
		t.Errorf("a label spelt otherwise: %v", err)
	}
}
