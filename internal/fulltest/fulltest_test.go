package fulltest

import (
	"os"
	"path/filepath"
	"testing"
)

// TestCorpus: FOSSICK_DATA locates a corpus, and a test without it is skipped.
func TestCorpus(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("FOSSICK_DATA", dir)
	if err := os.Mkdir(filepath.Join(dir, "bees"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := Corpus(t, "bees"); got != filepath.Join(dir, "bees") {
		t.Errorf("got %s", got)
	}
	skipped := false
	t.Run("missing", func(t *testing.T) {
		defer func() { skipped = t.Skipped() }()
		Corpus(t, "wasps")
	})
	t.Setenv("FOSSICK_DATA", "")
	if beside, err := filepath.Abs(corpora()); !skipped || err != nil || filepath.Base(beside) != "data" {
		t.Errorf("skipped %v; without FOSSICK_DATA %s, %v", skipped, beside, err)
	}
}

func TestAsked(t *testing.T) {
	for value, want := range map[string]struct {
		asked  bool
		rounds int
	}{"": {false, 3}, "0": {false, 3}, "1": {true, 70}, "yes": {true, 70}} {
		t.Setenv("FOSSICK_FULL", value)
		skipped := false
		t.Run("only", func(t *testing.T) {
			defer func() { skipped = t.Skipped() }()
			Only(t, "takes long")
		})
		if Asked() != want.asked || Rounds(3, 70) != want.rounds || skipped == want.asked {
			t.Errorf("FOSSICK_FULL=%q: asked %v, %d rounds, skipped %v; want %+v", value, Asked(), Rounds(3, 70), skipped, want)
		}
	}
}
