package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestServe reads the result while the server runs, fetches a page through the
// proxy, and ends it as a signal would.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	corpus, log := filepath.Join(dir, "set.jsonl"), filepath.Join(dir, "log.jsonl")
	row := `{"url":"http://a.test/x","label":"y","html":"<p>hello"}` + "\n"
	if err := os.WriteFile(corpus, []byte(row), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	out, stdout := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, []string{"serve", corpus, "--json", "--quiet", "--log", log}, stdout, io.Discard)
		stdout.Close()
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("no result: %v (exit code %d)", err, <-code)
	}
	var r struct {
		Addr, CA     string
		Hosts, Pages int
	}
	if err := json.Unmarshal([]byte(line), &r); err != nil || r.Hosts != 1 || r.Pages != 1 {
		t.Fatalf("%s: %v; want 1 host, 1 page", line, err)
	}
	if _, err := os.Stat(r.CA); err != nil {
		t.Errorf("the authority's file: %v", err)
	}
	proxy := &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: r.Addr})}
	resp, err := (&http.Client{Transport: proxy}).Get("http://a.test/x")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || string(body) != "<p>hello" {
		t.Errorf("page %q, %v", body, err)
	}
	proxy.CloseIdleConnections()
	cancel()
	if got := <-code; got != exitInterrupted {
		t.Errorf("exit code %d, want %d", got, exitInterrupted)
	}
	if text, err := os.ReadFile(log); err != nil || !strings.Contains(string(text), `"path":"/x"`) {
		t.Errorf("log %q, %v; want the request in it", text, err)
	}
}

func TestServeUsage(t *testing.T) {
	for args, want := range map[string]int{
		"serve":                                 exitUsage,
		"serve demo --disallow 1.5":             exitUsage,
		"serve demo --latency=-1s":              exitUsage,
		"serve nothing-here":                    exitFailed,
		"serve demo --addr 256.0.0.1:1 --quiet": exitFailed,
	} {
		if got := run(t.Context(), strings.Fields(args), io.Discard, io.Discard); got != want {
			t.Errorf("fossick %s: exit code %d, want %d", args, got, want)
		}
	}
}
