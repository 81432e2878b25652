package train

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fossick/datasets"
	"fossick/models"
)

// TestMake: the model and its page are written; the result tells how good the model is,
// on the test rows that the set has.
func TestMake(t *testing.T) {
	dir := t.TempDir()
	k := Making{
		Plan: &Plan{
			Sets: []string{"demo"}, Open: datasets.Open, Say: func(string, ...any) {}, Log: slog.New(slog.DiscardHandler),
			Options: Options{
				Classifier: "nb", Folds: 3, Target: Target{Topic: "banking"},
				Seed: 1, Explain: true, Step: func(string) {},
			},
		},
		Out: filepath.Join(dir, "m.model"), Explain: filepath.Join(dir, "m.html"), Version: "0",
	}
	r, err := k.Make(t.Context(), func(rows datasets.Stream) datasets.Stream { return rows })
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.ReadFile(k.Out)
	if err != nil || m.Card.Test == nil || *r.Threshold != m.Threshold("banking") || r.Words != len(m.Terms) {
		t.Fatalf("%+v: %v", r, err)
	}
	if *r.TestPages != m.Card.Test.Pages || *r.AccuracyFrom != "test" || !(*r.Accuracy > 0.8) || len(r.Curve) == 0 || len(r.Reliability.Bins) == 0 {
		t.Errorf("the result is %+v", r)
	}
	if page, err := os.ReadFile(k.Explain); err != nil || !strings.Contains(string(page), "fossick 0") {
		t.Errorf("no page: %v", err)
	}
	var text strings.Builder
	r.Print(&text)
	for _, want := range []string{"Trained nb on ", "test pages", "The whole model on a page: "} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in %s", want, text.String())
		}
	}
	if b, err := json.Marshal(r); err != nil || !strings.Contains(string(b), `"reliability":{"ece":`) || !strings.Contains(string(b), `"learning_curve":[{"pages":`) {
		t.Errorf("%s: %v", b, err)
	}
}
