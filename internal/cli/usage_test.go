package cli

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	known := []string{"max-pages", "max-pages-per-host", "max-time", "seed", "seeds", "store", "threshold"}
	for word, want := range map[string][]string{
		"max-page": {"max-pages", "max-pages-per-host"}, "treshold": {"threshold"}, "sotre": {"store"}, "xyz": nil, "": nil,
		"Seed": {"seed", "seeds"}, "se": {"seed", "seeds"}, "workers": nil,
	} {
		if got := nearestWords(word, known); !slices.Equal(got, want) {
			t.Errorf("Words(%q) = %q, want %q", word, got, want)
		}
	}
}

// TestSome: an error with many long names stays short, and contains the name that was meant.
func TestSome(t *testing.T) {
	var many []string
	for i := range 20_000 {
		many = append(many, fmt.Sprintf("%d-%s", i, strings.Repeat("x", 500)))
	}
	many = append(many, "banking", "big banking")
	for _, tc := range []struct {
		word  string
		known []string
		want  string // a part
	}{
		{"x", nil, ""},
		{"x", []string{"b", "a"}, "b, a"},
		{"x", []string{"a", "b", "c", "d", "e", "f"}, "a, b, c, d, e, f"},
		{"bankin", many, "banking, big banking, "},
		{"BANKNIG", many, "banking, "},
		{"", many, " and 19997 more"},
		{strings.Repeat("y", 1000), many, " and 19997 more"},
		{"a", []string{strings.Repeat("x", 500)}, "x…"},
	} {
		got := SomeNames(tc.word, tc.known)
		if !strings.Contains(got, tc.want) || len(got) > 6*(widest+4)+20 {
			t.Errorf("Some(%.20q, %d names) = %.500q (%d bytes), want %q in it", tc.word, len(tc.known), got, len(got), tc.want)
		}
	}
}
