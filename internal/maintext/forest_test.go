package maintext

import (
	"errors"
	"testing"
)

// TestParseForest: a truncated forest, or one for other features, is refused.
func TestParseForest(t *testing.T) {
	first, rest, err := parseForest(grown, firstFeatures)
	if err != nil || len(first.trees) != 90 {
		t.Fatalf("the built-in forest: %v", err)
	}
	data := grown[:len(grown)-len(rest)]
	for cut := 0; cut < len(data); cut += 7 {
		if _, _, err := parseForest(data[:cut], firstFeatures); !errors.Is(err, errFormat) {
			t.Fatalf("cut at %d: error %v", cut, err)
		}
	}
	if _, _, err := parseForest(data, 4); !errors.Is(err, errFormat) {
		t.Fatalf("for another number of features: error %v", err)
	}
}

// FuzzParseForest: a parsed forest terminates on each row.
func FuzzParseForest(f *testing.F) {
	_, rest, _ := parseForest(grown, firstFeatures)
	f.Add(grown[:len(grown)-len(rest)])
	f.Fuzz(func(t *testing.T, data []byte) {
		if forest, _, err := parseForest(data, firstFeatures); err == nil {
			forest.chance(make([]float32, firstFeatures))
		}
	})
}
