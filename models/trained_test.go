package models

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"fossick/models/features"
)

// TestTrainedShare: of pages of which some were trained on, the card tells the share,
// exactly while all marks are kept, and nearly when they are a sample.
func TestTrainedShare(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	for _, tc := range []struct {
		trained, judged, both int
		within                float64
	}{
		{300, 500, 200, 0}, {marksMost, 5000, 0, 0}, {20_000, 20_000, 5_000, 0.04}, {20_000, 20_000, 20_000, 0},
	} {
		all := make([]uint64, tc.trained+tc.judged-tc.both)
		for i := range all {
			all[i] = rng.Uint64()
		}
		c := Card{Marks: KeepMarks(slices.Clone(all[:tc.trained]))}
		known, trained := 0, 0
		for _, m := range all[tc.trained-tc.both:] {
			yes, tells := c.Trained(m)
			if tells {
				known++
			}
			if yes {
				trained++
			}
		}
		got, want := float64(trained)/float64(known), float64(tc.both)/float64(tc.judged)
		if known == 0 || math.Abs(got-want) > tc.within {
			t.Errorf("%+v: %d of %d, a share of %.3f, want %.3f", tc, trained, known, got, want)
		}
	}
	if trained, known := (&Card{}).Trained(7); trained || known {
		t.Error("a card without marks tells")
	}
}

// TestMark: a page's mark goes by title and text, and by nothing else.
func TestMark(t *testing.T) {
	a := Mark(features.Doc{URL: "http://a.test/", Title: "x", Text: "y"})
	if b := Mark(features.Doc{URL: "http://b.test/", Title: "x", Text: "y"}); a != b {
		t.Error("a copy elsewhere has another mark")
	}
	if b := Mark(features.Doc{Title: "xy"}); a == b {
		t.Error("title and text run together")
	}
}

// TestMarksOfFiles: marks that do not rise, or too many, are no card's.
func TestMarksOfFiles(t *testing.T) {
	for name, m := range map[string]marks{"falling": {5, 4}, "twice": {5, 5}, "too many": make(marks, marksMost+1)} {
		b, err := m.MarshalCBOR()
		if err != nil {
			t.Fatal(err)
		}
		var back marks
		if back.UnmarshalCBOR(b) == nil {
			t.Errorf("%s: read as %v", name, back)
		}
	}
}
