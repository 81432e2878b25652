package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOneSitePerAddress: with the option a crawl takes one of the sites at an address, counts
// the others' hosts, and why says so; by one agent, by several, after a restart, and in a
// survey. With a proxy, which alone knows addresses, it is refused.
func TestOneSitePerAddress(t *testing.T) {
	web := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<p>Honey of %s, page %s, and of no other hive. <a href="/more">more</a> <a href="http://b.test/">b</a> <a href="http://c.test/">c</a>`, r.Host, r.URL.Path)
	})
	dir := t.TempDir()
	hosts := ""
	for address, names := range map[string][]string{"127.0.0.1": {"a.test", "b.test", "www.a.test"}, "127.0.0.2": {"c.test"}} {
		l, err := net.Listen("tcp", address+":0")
		if err != nil {
			t.Skipf("%v; the test needs two addresses of loopback", err)
		}
		server := &httptest.Server{Listener: l, Config: &http.Server{Handler: web}}
		server.Start()
		defer server.Close()
		for _, name := range names {
			hosts += name + "\t" + l.Addr().String() + "\n"
		}
	}
	file := filepath.Join(dir, "hosts")
	if err := os.WriteFile(file, []byte(hosts), 0o600); err != nil {
		t.Fatal(err)
	}
	fossick := func(want int, args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if code := run(t.Context(), args, &out, &errs); code != want {
			t.Fatalf("fossick %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), code, want, &out, &errs)
		}
		return out.String() + errs.String()
	}
	settings := []string{"--seed", "http://a.test/", "--seed", "http://b.test/", "--seed", "http://www.a.test/", "--hosts", file, "--allow-net", "127.0.0.0/8",
		"--delay", "0", "--near-duplicates", "keep", "--quiet", "--json"}
	focus := append([]string{"focus", "--topic", "bees", "--keywords", "honey"}, settings...)
	crawl := func(args ...string) (r struct {
		Fetched int
		Same    *int `json:"same_address"`
	}) {
		t.Helper()
		if err := json.Unmarshal([]byte(fossick(exitDone, args...)), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := crawl(append(focus, "--store", filepath.Join(dir, "all"))...); r.Fetched != 8 || r.Same != nil {
		t.Errorf("without the option: %+v", r)
	}
	for name, more := range map[string][]string{"one": nil, "two": {"--agents", "2"}} {
		store := filepath.Join(dir, name)
		if r := crawl(append(append(focus, "--store", store, "--one-site-per-address"), more...)...); r.Fetched != 6 || r.Same == nil || *r.Same != 1 {
			t.Errorf("%s agent: %d pages, %v dropped; want 6 and 1", name, r.Fetched, r.Same)
		}
		if r := crawl("focus", "--resume", "--store", store, "--quiet", "--json"); r.Fetched != 6 || r.Same == nil || *r.Same != 1 {
			t.Errorf("%s agent, resumed: %d pages, %v dropped; want 6 and 1", name, r.Fetched, r.Same)
		}
	}
	if told := fossick(exitDone, "why", "http://b.test/", "--store", filepath.Join(dir, "one")); !strings.Contains(told, "its address 127.0.0.1 belongs to the site a.test, and the crawl takes one site per address") {
		t.Errorf("why: %s", told)
	}
	if r := crawl(append([]string{"survey", "--store", filepath.Join(dir, "survey"), "--one-site-per-address"}, settings...)...); r.Same == nil || *r.Same != 1 {
		t.Errorf("a survey: %+v", r)
	}
	fossick(exitUsage, append(focus, "--store", filepath.Join(dir, "proxy"), "--one-site-per-address", "--proxy", "http://127.0.0.1:9")...)
}
