package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"fossick/datasets/web"
	"fossick/internal/page"
	"fossick/internal/testkit"
)

// TestArchiveIsTheWire checks that an archive has request and answer as they went over the wire, the
// cookies of requests left out, and that a second look at the page is a revisit.
func TestArchiveIsTheWire(t *testing.T) {
	const home = "HTTP/1.1 200 Fine\r\nserver:  odd\r\nCONTENT-type: text/html\r\nSet-Cookie: id=secret\r\nETag: \"1\"\r\nContent-Length: 24\r\n\r\n<p>gold <a href=/b>b</a>"
	const other = "HTTP/1.1 200 OK\r\ncontent-TYPE: text/html\r\nETag: \"2\"\r\nContent-Length: 25\r\n\r\n<p>more gold of the river"
	const again = "HTTP/1.1 304 As It Was\r\nx-Odd: 304\r\n\r\n"
	l := testkit.Call(net.Listen("tcp", "127.0.0.1:0")).Must(t)
	var heard []string
	var conns sync.WaitGroup
	conns.Go(func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			buf := make([]byte, 1<<16)
			for n, err := c.Read(buf); err == nil; n, err = c.Read(buf) { // one request a packet
				request, reply := string(buf[:n]), home
				switch {
				case strings.HasPrefix(request, "GET /robots.txt"):
					request, reply = "", "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"
				case strings.Contains(request, "If-None-Match"):
					reply = again
				case strings.HasPrefix(request, "GET /b"):
					reply = other
				}
				heard = append(heard, request)
				if _, err := io.WriteString(c, reply); err != nil {
					break
				}
			}
			c.Close()
		}
	})
	dir := t.TempDir()
	hosts, crawl, out := filepath.Join(dir, "hosts"), filepath.Join(dir, "crawl"), filepath.Join(dir, "out")
	write(t, hosts, "a.test "+l.Addr().String()+"\n")
	ways := []string{"--hosts", hosts, "--allow-net", "127.0.0.0/8", "--store", crawl, "--quiet"}
	fossick(t, append([]string{"focus", "--topic", "gold", "--keywords", "gold", "--delay", "0", "--also", "cookies", "--seed", "http://a.test/"}, ways...)...)
	fossick(t, append([]string{"focus", "--resume", "--refresh", "1ns"}, ways...)...)
	fossick(t, "export", crawl, "--to", "warc", "-o", out, "--quiet")
	l.Close()
	conns.Wait()
	packed := testkit.Call(os.ReadFile(filepath.Join(out, "pages-00001.warc.gz"))).Must(t)
	z := testkit.Call(gzip.NewReader(bytes.NewReader(packed))).Must(t)
	archive := testkit.Call(io.ReadAll(z)).Must(t)
	for part, want := range map[string]int{home: 1, other: 1, again: 2, "WARC-Type: revisit": 2} {
		if n := strings.Count(string(archive), part); n != want {
			t.Errorf("the archive has %q %d times, want %d:\n%s", part, n, want, archive)
		}
	}
	cookies := 0
	for _, request := range heard {
		before, after, sent := strings.Cut(request, "Cookie: id=secret\r\n")
		if sent {
			cookies++
		}
		if !strings.Contains(string(archive), before+after) {
			t.Errorf("the archive lacks the request %q:\n%s", request, archive)
		}
	}
	if cookies == 0 || strings.Contains(string(archive), "Cookie: id=secret\r\n\r\n") {
		t.Errorf("%d requests had a cookie; the archive must have none:\n%s", cookies, archive)
	}
}

// TestCookiesOfACrawl checks that a page which needs another page's cookie is fetched with --also
// cookies, by flag, environment or fossick.toml, also by a resumed crawl, and refused without.
func TestCookiesOfACrawl(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, err := r.Cookie("agreed")
		switch {
		case r.URL.Path == "/start":
			fmt.Fprint(w, `<p>gold <a href="/">home</a>`)
		case r.URL.Path == "/":
			http.SetCookie(w, &http.Cookie{Name: "agreed", Value: "yes"})
			fmt.Fprint(w, `<p>gold <a href="/inside">more</a>`)
		case r.URL.Path != "/inside":
			http.NotFound(w, r)
		case err != nil:
			http.Error(w, "no cookie", http.StatusForbidden)
		default:
			fmt.Fprint(w, "<p>more gold")
		}
	}))
	defer server.Close()
	t.Chdir(t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	crawl := func(dir, want string, flags ...string) {
		t.Helper()
		out := fossick(t, append([]string{"focus", "--topic", "a", "--keywords", "gold", "--allow-net", "127.0.0.0/8", "--delay", "0",
			"--store", dir, "--seed", server.URL + "/start", "--json", "--quiet"}, flags...)...)
		if !strings.Contains(string(out), want) {
			t.Errorf("%s: want %s in %s", dir, want, out)
		}
	}
	crawl("without", `"codes":{"403":1}`)
	crawl("flag", `"fetched":3,`, "--also", "cookies")
	crawl("kept", `"fetched":1,`, "--also", "cookies", "--max-pages", "1")
	crawl("kept", `"fetched":3,`, "--resume", "--max-pages", "9")
	write(t, settingsFile, "[focus]\nalso = [\"cookies\"]\n")
	crawl("file", `"fetched":3,`)
	t.Setenv("FOSSICK_ALSO", "traps")
	crawl("environment first", `"codes":{"403":1}`)
}

// TestLabelsMoveACrawl checks that a crawl takes fewer pages of a host after its pages were labelled as
// off topic.
func TestLabelsMoveACrawl(t *testing.T) {
	set := demoSet(t)
	addr, _ := served(t, set, web.Options{})
	dir := t.TempDir()
	crawl := func(name string, args ...string) (urls []string) {
		return focusOrder(t, append([]string{"focus", "--quiet", "--delay", "0", "--workers", "1", "--proxy", "http://" + addr, "--store", filepath.Join(dir, name)}, args...))
	}
	first := crawl("without", append(demoSeeds(t), "--topic", "banking", "--score", "learned", "--max-pages", "60")...)
	testkit.Must(t, os.CopyFS(filepath.Join(dir, "with"), os.DirFS(filepath.Join(dir, "without"))))
	pages, host := map[string]int{}, ""
	for _, u := range first {
		if pages[page.Host(u)]++; pages[page.Host(u)] > pages[host] {
			host = page.Host(u)
		}
	}
	var labels strings.Builder
	for _, u := range first {
		if page.Host(u) == host {
			fmt.Fprintf(&labels, "%s\tno\n", u)
		}
	}
	write(t, filepath.Join(dir, "labels"), labels.String())
	fossick(t, "label", "--from", filepath.Join(dir, "labels"), "--store", filepath.Join(dir, "with"), "--quiet")
	later := func(name string) (n int) {
		for _, u := range crawl(name, "--resume", "--max-pages", "160")[len(first):] {
			if page.Host(u) == host {
				n++
			}
		}
		return n
	}
	if with, without := later("with"), later("without"); with > without/2 {
		t.Errorf("%d labels leave %d pages of %s, without them %d; want half at most", pages[host], with, host, without)
	}
}
