package nearest

import (
	"slices"
	"testing"
)

func TestNearest(t *testing.T) {
	known := []string{"max-pages", "max-pages-per-host", "max-time", "seed", "seeds", "store", "threshold"}
	for word, want := range map[string][]string{
		"max-page": {"max-pages", "max-pages-per-host"}, "treshold": {"threshold"}, "sotre": {"store"}, "xyz": nil, "": nil,
		"Seed": {"seed", "seeds"}, "se": {"seed", "seeds"}, "workers": nil,
	} {
		if got := Words(word, known); !slices.Equal(got, want) {
			t.Errorf("Words(%q) = %q, want %q", word, got, want)
		}
	}
}
