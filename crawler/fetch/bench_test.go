package fetch

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
)

// benchPage is a page of 21 KB, the mean of a served encyclopedia.
var benchPage = []byte("<!doctype html><title>p</title>" + strings.Repeat("<p>some words <a href=/x>link</a>", 640))

// benchServer serves benchPage from this process.
func benchServer(b *testing.B) *httptest.Server {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Length", strconv.Itoa(len(benchPage)))
		w.Write(benchPage)
	}))
	b.Cleanup(srv.Close)
	return srv
}

// BenchmarkFetch measures an exchange on loopback; compare BenchmarkNetHTTP.
func BenchmarkFetch(b *testing.B) {
	srv := benchServer(b)
	f := newTest(b, Options{})
	b.SetBytes(int64(len(benchPage)))
	b.ReportAllocs()
	for b.Loop() {
		if resp := f.Fetch(b.Context(), Request{URL: srv.URL + "/page"}); resp.State != StateOK {
			b.Fatal(resp.Err)
		}
	}
}

// BenchmarkNetHTTP measures the bare exchange: http.Client and io.ReadAll.
func BenchmarkNetHTTP(b *testing.B) {
	srv := benchServer(b)
	client := &http.Client{Transport: &http.Transport{DisableCompression: true, DialContext: new(net.Dialer).DialContext}}
	defer client.CloseIdleConnections()
	b.SetBytes(int64(len(benchPage)))
	b.ReportAllocs()
	for b.Loop() {
		req, err := http.NewRequestWithContext(b.Context(), "GET", srv.URL+"/page", nil)
		if err != nil {
			b.Fatal(err)
		}
		res, err := client.Do(req)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadAll(res.Body); err != nil {
			b.Fatal(err)
		}
		res.Body.Close()
	}
}

// BenchmarkFetchParallel is BenchmarkFetch with 32 exchanges at once, the crawl's default.
func BenchmarkFetchParallel(b *testing.B) {
	srv := benchServer(b)
	f := newTest(b, Options{ConnsPerHost: 64})
	b.SetBytes(int64(len(benchPage)))
	b.ReportAllocs()
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if resp := f.Fetch(b.Context(), Request{URL: srv.URL + "/page"}); resp.State != StateOK {
				b.Error(resp.Err)
			}
		}
	})
}

func BenchmarkNetHTTPParallel(b *testing.B) {
	srv := benchServer(b)
	client := &http.Client{Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64, MaxConnsPerHost: 64}}
	defer client.CloseIdleConnections()
	b.SetBytes(int64(len(benchPage)))
	b.ReportAllocs()
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			res, err := client.Get(srv.URL + "/page")
			if err != nil {
				b.Error(err)
				return
			}
			if _, err := io.ReadAll(res.Body); err != nil {
				b.Error(err)
			}
			res.Body.Close()
		}
	})
}
