package web

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"fossick/datasets"
)

// FuzzAnswer asks for anything: every answer is one of those promised, and a
// page that is served is one of the set's.
func FuzzAnswer(f *testing.F) {
	for _, seed := range [][3]string{
		{"a.test", "/x", ""}, {"A.TEST.:80", "/dir", "q"}, {"[::1]:443", "//", ""}, {"", "", ""}, {"a.test:x", "/%zz/../x", "a=%"},
		{"townhall.test", "/calendar/2025/06/-1", ""}, {"board.test", "/threads/5", "visit=99999999999999999999"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	demo, err := datasets.Open("demo", datasets.Options{})
	if err != nil {
		f.Fatal(err)
	}
	w, err := New(f.Context(), Options{SpoolDir: f.TempDir(), CAFile: f.TempDir() + "/ca.pem"}, few(), demo)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { w.Close() })
	f.Fuzz(func(t *testing.T, host, path, query string) {
		r := &http.Request{Method: "GET", Host: host, URL: &url.URL{Path: path, RawQuery: query}, Header: http.Header{}}
		rec := httptest.NewRecorder()
		w.ServeHTTP(rec, r)
		switch rec.Code {
		case 200, 301, 302, 403, 404, 410, 500:
			if _, ok := w.hosts[hostName(host)]; !ok {
				t.Errorf("host %q is unknown, but %q was answered with %d", host, path, rec.Code)
			}
		case 502:
		default:
			t.Errorf("%q %q: status %d", host, path, rec.Code)
		}
		if to := rec.Header().Get("Location"); to != "" && strings.ContainsAny(to, "\r\n") {
			t.Errorf("%q %q: a redirect to %q", host, path, to)
		}
	})
}

func TestHostName(t *testing.T) {
	for in, want := range map[string]string{
		"a.test": "a.test", "A.Test.": "a.test", "a.test:80": "a.test", "a.test:443": "a.test", "a.test:8080": "a.test:8080",
		"a.test:": "a.test", "[::1]:80": "::1", "[::1]": "::1", "[::1]:81": "[::1]:81", "": "",
	} {
		if got := hostName(in); got != want {
			t.Errorf("hostName(%q) = %q, want %q", in, got, want)
		}
	}
}
