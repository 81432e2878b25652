package web

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
	"testing"
)

// TestLog wants one whole line a request, as soon as the answer is there.
func TestLog(t *testing.T) {
	var log syncBuffer
	_, _, client := start(t, Options{Log: &log}, few())
	urls := []string{"http://a.test/x", "https://secure.test/in?a=1&b=2", "http://none.test/", "http://a.test/robots.txt"}
	for _, u := range urls {
		get(t, client, u)
	}
	var got []record
	for line := range strings.Lines(log.String()) {
		var r record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		got = append(got, r)
	}
	want := []record{
		{Host: "a.test:80", Path: "/x", Status: 200, Bytes: 8},
		{Host: "secure.test:443", Path: "/in?a=1&b=2", Status: 200, Bytes: 9},
		{Host: "none.test:80", Path: "/", Status: 502},
		{Host: "a.test:80", Path: "/robots.txt", Status: 200, Bytes: 24},
	}
	if len(got) != len(want) {
		t.Fatalf("%d lines, want %d:\n%s", len(got), len(want), log.String())
	}
	for i, w := range want {
		g := got[i]
		if g.Host != w.Host || g.Path != w.Path || g.Status != w.Status || (w.Bytes > 0 && g.Bytes != w.Bytes) {
			t.Errorf("line %d: %+v, want %+v", i+1, g, w)
		}
		if g.URL != urls[i] || g.UserAgent != "Go-http-client/1.1" || g.Start.IsZero() || g.End.Before(g.Start) {
			t.Errorf("line %d: %+v", i+1, g)
		}
	}
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
