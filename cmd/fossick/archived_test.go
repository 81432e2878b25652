package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"fossick/internal/warc"
)

// recorded is a server that answers to the letter, and notes what it was asked.
type recorded struct {
	answers map[string]string // by path
	mu      sync.Mutex        // guards asked
	asked   map[string][]string
}

func (s *recorded) speak(c net.Conn) {
	defer c.Close()
	for r := bufio.NewReader(c); ; {
		var request, path string
		for line := ""; line != "\r\n"; {
			var err error
			if line, err = r.ReadString('\n'); err != nil {
				return
			}
			if request += line; path == "" {
				path = strings.Fields(line)[1]
			}
		}
		s.mu.Lock()
		s.asked[path] = append(s.asked[path], request)
		s.mu.Unlock()
		answer, known := s.answers[path]
		switch {
		case !known:
			answer = "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"
		case strings.Contains(request, "If-None-Match"):
			answer = "HTTP/1.1 304 As It Was\r\nx-Odd: 304\r\n\r\n"
		}
		if _, err := io.WriteString(c, answer); err != nil {
			return
		}
	}
}

// TestArchiveIsTheWire crawls a server, looks at its pages again, and exports: what the server
// said and heard stands in the archive, each exchange once.
func TestArchiveIsTheWire(t *testing.T) {
	const home = `<title>gold</title><p>gold is found here, and gold is sold <a href=/b>b</a><a href=/copy>copy</a><a href=/moved>moved</a><a href=/none>none</a>`
	const other = "<title>gold too</title><p>more gold of the river is found by those who look for it"
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := io.WriteString(z, other)
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	page := func(body string) string {
		return fmt.Sprintf("HTTP/1.1 200 Fine\r\nserver:  odd\r\nCONTENT-type: text/html\r\nSet-Cookie: id=secret\r\nx-Odd: 1\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	}
	s := &recorded{asked: map[string][]string{}, answers: map[string]string{
		"/":      strings.Replace(page(home), "x-Odd: 1", "ETag: \"1\"", 1),
		"/b":     fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s", packed.Len(), packed.Bytes()),
		"/copy":  page(other),
		"/moved": "HTTP/1.1 302 Over There\r\nlocation: /b\r\nContent-Length: 0\r\n\r\n",
	}}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var conns sync.WaitGroup
	t.Cleanup(func() { ln.Close(); conns.Wait() })
	conns.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			conns.Go(func() { s.speak(c) })
			t.Cleanup(func() { c.Close() })
		}
	})
	dir := t.TempDir()
	hosts, crawl, out := filepath.Join(dir, "hosts"), filepath.Join(dir, "crawl"), filepath.Join(dir, "out")
	if err := os.WriteFile(hosts, []byte("a.test "+ln.Addr().String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	web := []string{"--hosts", hosts, "--allow-net", "127.0.0.0/8", "--store", crawl, "--quiet"}
	fossick(t, append([]string{"focus", "--topic", "gold", "--keywords", "gold", "--threshold", "0.01", "--delay", "0", "--workers", "1", "--cookies", "--seed", "http://a.test/"}, web...)...)
	fossick(t, append([]string{"focus", "--resume", "--refresh", "1ns"}, web...)...)
	fossick(t, "export", crawl, "--to", "warc", "-o", out, "--quiet")
	got := archived(t, filepath.Join(out, "pages-00001.warc.gz"))

	unpacked := strings.Replace(s.answers["/b"], "Content-Encoding", "X-Archive-Orig-Content-Encoding", 1)
	unpacked = strings.Replace(unpacked[:strings.Index(unpacked, "\r\n\r\n")], "Content-Length", "X-Archive-Orig-Content-Length", 1)
	unpacked += fmt.Sprintf("\r\nContent-Length: %d\r\n\r\n%s", len(other), other)
	want := []string{
		"response http://a.test/\n" + s.answers["/"], "response http://a.test/b\n" + unpacked, "response http://a.test/moved\n" + s.answers["/moved"],
		"revisit http://a.test/\nHTTP/1.1 304 As It Was\r\nx-Odd: 304\r\n\r\n",
		"revisit http://a.test/b\n" + strings.TrimSuffix(unpacked, other),
		"revisit http://a.test/copy\n" + strings.TrimSuffix(s.answers["/copy"], other),
	}
	for path, asked := range s.asked {
		if path == "/robots.txt" || path == "/none" {
			continue
		}
		for _, request := range asked {
			var kept []string
			for line := range strings.Lines(request) {
				if !strings.HasPrefix(line, "Cookie:") {
					kept = append(kept, line)
				}
			}
			want = append(want, "request http://a.test"+path+"\n"+strings.Join(kept, ""))
		}
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\n\nwant %q", got, want)
	}
	if asked := strings.Join(s.asked["/b"], ""); !strings.Contains(asked, "Cookie: id=secret") {
		t.Errorf("no cookie was sent: %q", asked)
	}
	// In again: the copies are the pages that they repeat, redirects are none.
	if text := fossick(t, "import", out, "--store", filepath.Join(dir, "again"), "--json"); !bytes.Contains(text, []byte(`"pages":2,`)) {
		t.Errorf("import: %s", text)
	}
}

// archived are the records of an archive about exchanges, sorted.
func archived(t *testing.T, path string) (all []string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := warc.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for {
		rec, err := r.Next()
		if err == io.EOF {
			slices.Sort(all)
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		block, err := io.ReadAll(rec.Body)
		if err != nil {
			t.Fatal(err)
		}
		if rec.Type() != warc.Info && rec.Type() != warc.Metadata {
			all = append(all, rec.Type()+" "+rec.Target()+"\n"+string(block))
		}
	}
}
