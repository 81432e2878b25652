package change

import (
	"math"
	"testing"
)

// TestDownloads: paper E's worked example of equations 1 and 2.
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
