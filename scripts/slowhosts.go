//go:build ignore

// Slowhosts measures what slow hosts cost the others: pages of good hosts a second by fossick focus with
// its defaults. It prints docs/data/slow-hosts.tsv, in seven minutes. The servers have an address each in
// 127.0.0.0/8, so it needs Linux.
//
//	CGO_ENABLED=0 go build -o /tmp/fossick ./cmd/fossick && go run scripts/slowhosts.go /tmp/fossick
package main

import (
	"bufio"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
)

const (
	goodHosts = 22
	runFor    = 30 * time.Second
)

// kinds are ways for a host to be hostile. answer gets a connection with the host's n-th request.
var kinds = []struct {
	name   string
	answer func(c net.Conn, n int64)
}{
	{"drips 300 bytes a second", func(c net.Conn, _ int64) {
		drip(c, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n", strings.Repeat("x", 30), time.Second/10)
	}},
	{"is silent", func(c net.Conn, _ int64) { drip(c, "", "", time.Second) }},
	{"drips its header", func(c net.Conn, _ int64) { drip(c, "HTTP/1.1 200 OK\r\n", "X: y\r\n", time.Second) }},
	{"drips after a good page", func(c net.Conn, n int64) {
		if n <= 2 {
			fmt.Fprint(c, good(fmt.Sprintf("a first page %p", c)))
			return
		}
		drip(c, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n", strings.Repeat("x", 30), time.Second/10)
	}},
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: go run scripts/slowhosts.go FOSSICK")
	}
	fmt.Printf("| a hostile host | 0 | 1 | 32 | 96 |\n|---|---|---|---|---|\n")
	alone := measure(os.Args[1], nil, 0)
	for _, k := range kinds {
		fmt.Printf("| %s | %.1f |", k.name, alone)
		for _, n := range []int{1, 32, 96} {
			fmt.Printf(" %.1f |", measure(os.Args[1], k.answer, n))
		}
		fmt.Println()
	}
}

// measure returns how many pages of good hosts a crawl fetches a second.
func measure(fossick string, hostile func(net.Conn, int64), n int) float64 {
	dir, err := os.MkdirTemp("", "slowhosts")
	check(err)
	defer os.RemoveAll(dir)
	var pages atomic.Int64
	goodPort := serve(func(c net.Conn, path string, _ int64) {
		if path == "/robots.txt" {
			fmt.Fprint(c, "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n")
			return
		}
		pages.Add(1)
		fmt.Fprint(c, good(fmt.Sprintf("page %s of %v", path, c.LocalAddr())))
	})
	badPort := serve(func(c net.Conn, _ string, n int64) { hostile(c, n) })
	var hosts, seeds strings.Builder
	for i := range n {
		fmt.Fprintf(&hosts, "bad%d.test\t127.2.%d.%d:%d\n", i, i/200, 1+i%200, badPort)
		fmt.Fprintf(&seeds, "http://bad%d.test/\n", i)
	}
	for i := range goodHosts {
		fmt.Fprintf(&hosts, "good%d.test\t127.1.0.%d:%d\n", i, 1+i, goodPort)
		fmt.Fprintf(&seeds, "http://good%d.test/0\n", i)
	}
	check(os.WriteFile(filepath.Join(dir, "hosts"), []byte(hosts.String()), 0o600))
	check(os.WriteFile(filepath.Join(dir, "seeds"), []byte(seeds.String()), 0o600))
	cmd := exec.Command(fossick, "focus", "--topic", "science", "--seeds", "seeds", "--hosts", "hosts", "--allow-net", "127.0.0.0/8",
		"--contact", "http://good0.test/", "--max-pages", "100000", "--max-time", runFor.String(), "--store", "store", "--quiet")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	began := time.Now()
	err = cmd.Run()
	log.Printf("%d hostile: %d pages, ended after %v: %v", n, pages.Load(), time.Since(began).Round(time.Second), err)
	return float64(pages.Load()) / runFor.Seconds()
}

func good(what string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<title>Science %s</title><p>Physics and chemistry of %s.", what, what)
	for i := range 20 {
		fmt.Fprintf(&b, " <a href='/%d%x'>research %d</a>", i, time.Now().UnixNano()%9999999, i)
	}
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s", b.Len(), b.String())
}

// drip sends first, and then more at every pause for two minutes.
func drip(c net.Conn, first, more string, pause time.Duration) {
	fmt.Fprint(c, first)
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(pause) {
		if _, err := c.Write([]byte(more)); err != nil {
			break
		}
	}
	c.Close()
}

// serve answers on one port of all addresses, and counts the requests to each.
func serve(answer func(c net.Conn, path string, n int64)) (port int) {
	ln, err := net.Listen("tcp4", "0.0.0.0:0")
	check(err)
	var counts [1 << 16]atomic.Int64
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				at := c.LocalAddr().(*net.TCPAddr).IP.To4()
				for r := bufio.NewReader(c); ; {
					req, err := http.ReadRequest(r)
					if err != nil {
						return
					}
					answer(c, req.URL.Path, counts[int(at[2])<<8|int(at[3])].Add(1))
				}
			}()
		}
	}()
	return ln.Addr().(*net.TCPAddr).Port
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
