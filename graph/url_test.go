package graph

import (
	"slices"
	"testing"
)

func TestKeysSortByHost(t *testing.T) {
	want := []string{
		"a page", "http:///nohost", // no URLs
		"http://10.0.0.1/",
		"https://a.org/", // port 443, which as text comes before 80
		"http://a.org", "http://a.org/", "http://a.org/b", "http://a.org/b/c?d#e", "HTTP://A.org/c", "http://a.org:8080/", "http://www.a.org/x", "http://a-b.org/",
	}
	keys := make([]string, len(want))
	for i, name := range want {
		keys[i] = string(appendKey(nil, []byte(name)))
		if got, ok := nameOfKey([]byte(keys[i])); !ok || got != name {
			t.Errorf("%q → %q → %q, %v", name, keys[i], got, ok)
		}
	}
	slices.Sort(keys)
	for i, key := range keys {
		if got, _ := nameOfKey([]byte(key)); got != want[i] {
			t.Errorf("place %d: %q, want %q", i, got, want[i])
		}
	}
}

// FuzzKey says that every name comes back from its key, so that no two names have
// the same.
func FuzzKey(f *testing.F) {
	for _, name := range []string{"", "a", "http://u:p@a.b.org:80/x", "https://[::1]:8/", "ftp://x,y/", "http://1.2.3.4./\x01", "http://.["} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		key := appendKey(nil, []byte(name))
		if got, ok := nameOfKey(key); !ok || got != name {
			t.Errorf("%q → %q → %q, %v", name, key, got, ok)
		}
		nameOfKey([]byte(name)) // any bytes may stand in a file
	})
}
