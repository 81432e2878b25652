package webstats

import (
	"strings"
	"testing"
)

func TestPlaces(t *testing.T) {
	p := places{}
	for url, want := range map[string]place{
		"http://www.a.co.kr/x":      {"kr", "co.kr", "a.co.kr", 4},
		"https://a.test:8080/x?y":   {"test", "a.test", "a.test", 2},
		"http://b.a.example.com/":   {"com", "example.com", "example.com", 4},
		"http://localhost/":         {"localhost", "localhost", "localhost", 1},
		"http://127.0.0.1:80/x":     {address, address, "127.0.0.1", 0},
		"http://[::1]:8080/x":       {address, address, "[::1]", 0},
		"https://user.github.io/a/": {"io", "github.io", "user.github.io", 3},
	} {
		for range 2 { // the second time it is remembered
			if got := *p.of(url); got != want {
				t.Errorf("%s: %+v, want %+v", url, got, want)
			}
		}
	}
}

// FuzzDivide: the parts of a URL make it again.
func FuzzDivide(f *testing.F) {
	f.Add("http://a.test/x?y")
	f.Add("https://[::1]?")
	f.Add("nonsense")
	f.Fuzz(func(t *testing.T, url string) {
		scheme, host, path := divide(url)
		if strings.Contains(url, "://") && !strings.HasPrefix(url, scheme+"://"+host) || !strings.HasSuffix(url, path) {
			t.Errorf("%q: %q, %q, %q", url, scheme, host, path)
		}
		if p := placeOf(host); len(p.top) > len(host)+len(address) {
			t.Errorf("%q: %+v", url, p)
		}
	})
}
