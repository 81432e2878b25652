package change

import (
	"math"
	"testing"
)

// TestDownloads is paper E's worked example of equations 1 and 2.
func TestDownloads(t *testing.T) {
	d := Downloads{328, 6, 7, 3, 6, 7, 9, 12, 93, 953}
	ss, ok1 := d.SS()
	ff, ok2 := d.FF()
	if math.Round(ss*1e4) != 9638 || math.Round(ff*1e4) != 7426 || !ok1 || !ok2 {
		t.Errorf("SS = %.4f, FF = %.4f, want 0.9638 and 0.7426", ss, ff)
	}
}

func TestDownloadsUnknown(t *testing.T) {
	for _, d := range []Downloads{nil, {3}, {3, 4}, {0, 0, 0}} {
		_, ok1 := d.SS()
		_, ok2 := d.FF()
		if ok1 || ok2 {
			t.Errorf("%v: SS known %v, FF known %v; want neither", d, ok1, ok2)
		}
	}
	if _, ok := (Downloads{5, 0, 0}).SS(); ok {
		t.Error("SS is known without a success")
	}
	if ff, ok := (Downloads{5, 0, 0}).FF(); !ok || ff != 1 {
		t.Errorf("FF = %v of pages that always fail, want 1", ff)
	}
}

func TestSameText(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"Bees dance.", "Bees  dance.\n", true},
		{"Bees dance.", "Bees sing.", false},
		{"Updated 2026-11-25. Bees dance.", "Updated 2026-11-26. Bees dance.", true},
		{"As of 25 November 2026, 14:05", "As of 1 December 2026, 9:15", true},
		{"Wednesday, November 25th, 2026", "Friday, Dec. 4, 2026", true},
		{"Stand: 25.11.2026 14:05:09", "Stand: 1.12.2026 3:05:09", true},
		{"am 3. März 2026", "am 4. Oktober 2026", true},
		{"11/25/26 3:05 pm", "11/26/26 4:10 am", true},
		{"2026-11-25T14:05:09Z", "2026-11-26T14:05:09Z", true},
		{"Room 12 costs 99", "Room 13 costs 99", false},
		{"version 1.2", "version 1.3", false},
		{"he may 5 times", "he may 6 times", true}, // the price of recognising months
		{"", "x", false},
	} {
		if got := SameText(c.a, c.b); got != c.same {
			t.Errorf("%q and %q: %v, want %v", c.a, c.b, got, c.same)
		}
	}
}
