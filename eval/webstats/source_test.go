package webstats

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestServerOf(t *testing.T) {
	for lines, want := range map[string]string{
		"HTTP/1.1 200 OK\r\nServer: Apache/2.4.1 (Unix)\r\nX: y\r\n": "Apache",
		"HTTP/1.1 200 OK\r\nX: y\r\nserver:  nginx \r\n":             "nginx",
		"HTTP/1.1 200 OK\nSERVER: Microsoft-IIS/10.0\nServer: b\n":   "Microsoft-IIS",
		"HTTP/1.1 200 OK\r\nX-Server: a\r\n":                         "",
		"Server: x\r\n":                                              "", // the status line
		"HTTP/1.1 200 OK\r\nServer:\r\n":                             "",
		"":                                                           "",
		"HTTP/1.1 200 OK\r\nServer: " + strings.Repeat("a", 500):     strings.Repeat("a", longestServer),
	} {
		if got := serverOf([]byte(lines)); got != want {
			t.Errorf("%q: %q, want %q", lines, got, want)
		}
	}
}

// FuzzServerOf: any header gives a short single-line name.
func FuzzServerOf(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nServer: Apache/2.4.1 (Unix)\r\n"))
	f.Add([]byte("\nserver:\xff\xfe"))
	f.Fuzz(func(t *testing.T, lines []byte) {
		if got := serverOf(lines); len(got) > longestServer || !utf8.ValidString(got) || strings.ContainsAny(got, "\n/ ") {
			t.Errorf("%q", got)
		}
	})
}

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
		for range 2 { // the second time from the cache
			if got := *p.of(url); got != want {
				t.Errorf("%s: %+v, want %+v", url, got, want)
			}
		}
	}
}

// FuzzDivide: the parts of a URL concatenate to it.
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
