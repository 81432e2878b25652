package values

import "testing"

func TestSize(t *testing.T) {
	for text, want := range map[string]Size{
		"0": 0, "1000": 1000, "64K": 64 << 10, "512MB": 512 << 20, "1GiB": 1 << 30, "1.5 gb": 3 << 29, "2T": 2 << 40,
	} {
		var got Size
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "GB", "-1", "much", "1e99", "NaN", "1 2", "12MiBi"} {
		var got Size
		if err := got.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was read as %d", text, got)
		}
	}
}

// FuzzSize: any text is a size or an error.
func FuzzSize(f *testing.F) {
	for _, s := range []string{"500MB", "2GB", "1.5 gb", "-1", "", "99999w"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if b, err := parseSize(text, 1); err == nil && b < 0 {
			t.Errorf("%q: %d bytes", text, b)
		}
	})
}
