package train

import (
	"log/slog"
	"strings"
	"testing"

	"fossick/datasets"
	"fossick/internal/terminal"
	"fossick/models"
)

// TestRun sweeps two μ on the demo set, of which the larger leaves fewer words; both ways to choose
// words are shown, and where the first step leaves words out, by two steps there are fewer.
func TestRun(t *testing.T) {
	trials := Trials{
		Plan: Plan{
			Sets: []string{"demo"}, Open: datasets.Open, Say: func(string, ...any) {}, Log: slog.New(slog.DiscardHandler),
			Options: Options{Target: Target{Topic: "sport"}, Seed: 1},
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
	if len(r.Sweep) != 4 || r.Sweep[0].Words <= r.Sweep[1].Words || *r.Sweep[0].Accuracy < 0.8 || r.Protocol != nil {
		t.Fatalf("%+v", r.Sweep)
	}
	if two, one := r.Sweep[0], r.Sweep[2]; two.Select != "tfdf+gain" || one.Select != "gain" || two.Words >= one.Words {
		t.Errorf("by two steps %+v, by gain alone %+v", two, one)
	}
	var b strings.Builder
	if r.Print(&b); !strings.Contains(b.String(), "theme: 2 classes, 345 training and 297 test pages, words by gain") {
		t.Errorf("as text: %s", b.String())
	}
}
