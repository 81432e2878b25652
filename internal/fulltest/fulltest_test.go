package fulltest

import "testing"

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
