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
		"Server: x\r\n":                                              "", // the status
		"HTTP/1.1 200 OK\r\nServer:\r\n":                             "",
		"":                                                           "",
		"HTTP/1.1 200 OK\r\nServer: " + strings.Repeat("a", 500):     strings.Repeat("a", longestServer),
	} {
		if got := serverOf([]byte(lines)); got != want {
			t.Errorf("%q: %q, want %q", lines, got, want)
		}
	}
}

// FuzzServerOf: any header gives a short name of one line.
func FuzzServerOf(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nServer: Apache/2.4.1 (Unix)\r\n"))
	f.Add([]byte("\nserver:\xff\xfe"))
	f.Fuzz(func(t *testing.T, lines []byte) {
		if got := serverOf(lines); len(got) > longestServer || !utf8.ValidString(got) || strings.ContainsAny(got, "\n/ ") {
			t.Errorf("%q", got)
		}
	})
}
