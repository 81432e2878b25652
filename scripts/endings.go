//go:build ignore

// Endings measures how soon fossick focus ends after Ctrl-C while every worker reads a costly page, and
// whether idle connections to its listener can stop a crawl that may have 256 files open. It prints a
// row for each try, and takes a minute.
//
//	CGO_ENABLED=0 go build -o /tmp/fossick ./cmd/fossick && go run scripts/endings.go /tmp/fossick
package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// costly are pages that take long to read; web adds links to each.
var costly = []struct{ name, body string }{
	{"small pages", "<p>bank"},
	{"500 host names of 2,700 characters", names(500)},
	{"50,000 links", repeated(50_000, func(i int) string { return fmt.Sprintf("<a href=/%d>bank %d</a>", i, i) })},
	{"260,000 open tags", "bank" + strings.Repeat("<div>", 1<<18)},
	{"130,000 attributes of a tag", "<p " + repeated(1<<17, func(i int) string { return fmt.Sprintf("a%d=b ", i) }) + ">bank"},
	{"130,000 words of their own", repeated(1<<17, func(i int) string { return fmt.Sprintf("bank%dx ", i) })},
	{"one word of one megabyte", strings.Repeat("b", 1<<20)},
}

func names(n int) string {
	long := strings.Repeat("漢字仮名", 675)
	return repeated(n, func(i int) string { return fmt.Sprintf("<a href=http://%d%s.test/>bank</a>", i, long) })
}

func repeated(n int, part func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(part(i))
	}
	return b.String()
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: go run scripts/endings.go FOSSICK")
	}
	dir, err := os.MkdirTemp("", "endings-")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("| pages | asked for | s to the end | s of processor, all | exit code |\n|---|---:|---:|---:|---:|")
	for i, c := range costly {
		asked, took, spent, code := interrupt(filepath.Join(dir, fmt.Sprint(i)), c.body)
		fmt.Printf("| %s | %d | %.2f | %.2f | %d |\n", c.name, asked, took.Seconds(), spent.Seconds(), code)
	}
	before, after, code := crowd(filepath.Join(dir, "crowd"))
	fmt.Printf("\n400 idle connections under ulimit -n 256: %d requests before, %d more in 10 s beside them, then Ctrl-C: exit code %d\n", before, after, code)
	_ = os.RemoveAll(dir) // a temporary folder
}

// web answers each name with the same page and links to twenty names more.
func web(body string) (server *httptest.Server, asked *atomic.Int64) {
	asked = &atomic.Int64{}
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		n := asked.Add(1)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		for i := range 20 {
			fmt.Fprintf(w, "<a href=http://h%d.test/>bank %d</a>\n", n*20+int64(i), n)
		}
		if n > 1 {
			_, _ = w.Write([]byte(body)) // the client may be gone
		}
	})), asked
}

func focus(dir, proxy string, said *bytes.Buffer, limit string, more ...string) *exec.Cmd {
	args := append([]string{"-c", limit + ` exec "$0" "$@"`, os.Args[1], "focus", "--topic", "money", "--keywords", "bank", "--threshold", "0", "--seed", "http://h0.test/",
		"--proxy", proxy, "--delay", "0", "--also", "traps,near-duplicates", "--max-pages", "100000", "--store", dir}, more...)
	cmd := exec.Command("sh", args...)
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		log.Fatal(err)
	}
	return cmd
}

func end(cmd *exec.Cmd, said *bytes.Buffer) (took time.Duration, code int) {
	began := time.Now()
	_ = cmd.Process.Signal(os.Interrupt) // it may have ended
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		log.Fatal(err)
	}
	if code = cmd.ProcessState.ExitCode(); code != 130 {
		log.Printf("it said: %.2000s", said)
	}
	return time.Since(began), code
}

func interrupt(dir, body string) (asked int64, took, spent time.Duration, code int) {
	server, n := web(body)
	defer server.Close()
	var said bytes.Buffer
	cmd := focus(dir, server.URL, &said, "")
	wait(n, 3)
	time.Sleep(2 * time.Second) // the workers read them now
	took, code = end(cmd, &said)
	return n.Load(), took, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), code
}

func wait(n *atomic.Int64, least int64) {
	for began := time.Now(); n.Load() < least; time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			log.Fatalf("%d requests in a minute", n.Load())
		}
	}
}

var listening = regexp.MustCompile(`http://([^/ ]+)/`)

// crowd opens 400 idle connections to the listener of a crawl that may have 256 files open.
func crowd(dir string) (before, after int64, code int) {
	server, n := web("<p>bank")
	defer server.Close()
	pipe, err := os.CreateTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.Remove(pipe.Name())
	var said bytes.Buffer
	cmd := focus(dir, server.URL, &said, "ulimit -n 256; exec 2>"+pipe.Name()+";", "--listen", "127.0.0.1:0")
	wait(n, 200)
	text, err := os.ReadFile(pipe.Name())
	if err != nil {
		log.Fatal(err)
	}
	var addr string
	for line := bufio.NewScanner(bytes.NewReader(text)); line.Scan(); {
		if m := listening.FindStringSubmatch(line.Text()); m != nil && strings.Contains(m[1], "127.0.0.1") {
			addr = m[1]
		}
	}
	for range 400 {
		c, err := net.DialTimeout("tcp", addr, time.Second)
		if err != nil {
			continue // the listener takes no more
		}
		defer c.Close()
		_, _ = c.Write([]byte("GET /status HTTP/1.1\r\n")) // and never the rest
	}
	before = n.Load()
	for range 10 {
		time.Sleep(time.Second)
		if cmd.Process.Signal(syscall.Signal(0)) != nil {
			break
		}
	}
	after = n.Load() - before
	_, code = end(cmd, &said)
	if code != 130 {
		text, _ := os.ReadFile(pipe.Name())
		log.Printf("it said: %.2000s", text)
	}
	return before, after, code
}
