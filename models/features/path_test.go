package features

import (
	"math/rand/v2"
	"net/url"
	"testing"
)

// FuzzPath holds path to the library that it spares.
func FuzzPath(f *testing.F) {
	for _, s := range []string{"", "http://", "http://h.test", "http://h.test/", "https://h.test/a_b/c.html?q=1#f", "http://h.test:80/a",
		"http://h.test/%41", "http://h.test/a b", "http://[::1]/a", "http:///a", "ftp://h/a", "http://h.test/a?%zz", "http://h/a#%zz", "http://h/é", "http://u@h/a", "http://h/a\x7f"} {
		f.Add(s)
	}
	f.Fuzz(checkPath)
}

func checkPath(t *testing.T, raw string) {
	want := ""
	if u, err := url.Parse(raw); err == nil {
		want = u.Path
	}
	if got := path(raw); got != want {
		t.Errorf("path(%q) = %q, want %q", raw, got, want)
	}
}

func TestPathOfRandomURLs(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	const alphabet = "ab.-/:?#%41[]@ \x00é_~*;=&+,'\"<>\\^`{|}"
	for range 20_000 {
		raw := []byte("http://a")
		for range rng.IntN(12) {
			raw = append(raw, alphabet[rng.IntN(len(alphabet))])
		}
		checkPath(t, string(raw))
	}
}
