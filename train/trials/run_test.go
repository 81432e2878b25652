package trials

import (
	"log/slog"
	"strings"
	"testing"

	"fossick/datasets"
	"fossick/internal/terminal"
	"fossick/models"
	"fossick/train"
	"fossick/train/plan"
)

// TestRun sweeps two μ on the demo set, of which the larger leaves fewer words.
func TestRun(t *testing.T) {
	trials := Trials{
		Plan: plan.Plan{
			Sets: []string{"demo"}, Open: datasets.Open, Say: func(string, ...any) {}, Log: slog.New(slog.DiscardHandler),
			Options: train.Options{Target: train.Target{Topic: "sport"}, Seed: 1},
		},
		Classifiers: []string{models.NaiveBayes},
		Task:        terminal.New(t.Output(), terminal.Options{Quiet: true}).Begin,
	}
	if err := trials.MuSweep.UnmarshalText([]byte("0.01:0.03:0.02")); err != nil {
		t.Fatal(err)
	}
	r, err := trials.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Sweep) != 2 || r.Sweep[0].Words <= r.Sweep[1].Words || *r.Sweep[0].Accuracy < 0.8 || r.Protocol != nil {
		t.Errorf("%+v", r.Sweep)
	}
	var b strings.Builder
	if r.Print(&b); !strings.Contains(b.String(), "theme: 2 classes") {
		t.Errorf("as text: %s", b.String())
	}
}
