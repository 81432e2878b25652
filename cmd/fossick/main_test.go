package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"

	"fossick/datasets"
	"fossick/datasets/web"
	"fossick/internal/testkit"
)

// beMain makes the test binary behave as fossick, for tests that kill it.
const beMain = "FOSSICK_TEST_BE_MAIN"

func TestMain(m *testing.M) {
	if text := os.Getenv(beBroker); text != "" {
		beBrokerAsTold(text)
	}
	if os.Getenv(beMain) != "" {
		main()
		return
	}
	// Keep the agents' keys of tests apart from the developer's own.
	if err := os.Setenv("XDG_CACHE_HOME", filepath.Join(os.TempDir(), fmt.Sprintf("fossick-test-%d", os.Getuid()))); err != nil {
		panic(err)
	}
	// Most runs are short and small, and would spend a tenth of their time on garbage collection.
	debug.SetGCPercent(400)
	// These tests wait for three quarters of their time, so run four for each processor, unless -parallel is set.
	if err := flag.Set("test.parallel", strconv.Itoa(4*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){"fossick": main})
}

// TestScripts runs testdata/script: the command line as users and programs see it, one behaviour a
// file. Lines that begin with [full] run only in full tests.
func TestScripts(t *testing.T) {
	// Under nohup, every fossick would inherit an ignored SIGHUP.
	hangUps := make(chan os.Signal, 1)
	signal.Notify(hangUps, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(hangUps) })
	full := testkit.Asked()
	isFull := func(condition string) (bool, error) {
		if condition != "full" {
			return false, fmt.Errorf("unknown condition [%s]", condition)
		}
		return full, nil
	}
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Setup: serveDemo, Condition: isFull, Cmds: map[string]func(*testscript.TestScript, bool, []string){
		"serveset": serveSetCmd, "pack": pack, "damage": damage, "losebody": loseBody, "misuse": misuse,
		"bucket": bucketCmd, "fetchobjects": fetchCmd, "sameobjects": sameObjectsCmd,
	}})
}

// misuse ARGUMENT... checks that fossick refuses a command line with exitUsage. It runs in this process:
// there are a hundred such lines, and starting a process takes thirty times as long as the refusal.
func misuse(ts *testscript.TestScript, neg bool, args []string) {
	if code := run(context.Background(), args, ts.Stdout(), ts.Stderr()); neg || code != exitUsage {
		ts.Fatalf("fossick %s ended with %d, want %d", strings.Join(args, " "), code, exitUsage)
	}
}

// pack FILE NAME.gz|NAME.zst compresses a file.
func pack(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: pack FILE NAME.gz|NAME.zst")
	}
	body, to := []byte(ts.ReadFile(args[0])), ts.MkAbs(args[1])
	var packed bytes.Buffer
	var w io.WriteCloser = gzip.NewWriter(&packed)
	if strings.HasSuffix(to, ".zst") {
		z, err := zstd.NewWriter(&packed, zstd.WithEncoderCRC(true))
		ts.Check(err)
		w = z
	}
	_, err := w.Write(body)
	ts.Check(err)
	ts.Check(w.Close())
	ts.Check(os.WriteFile(to, packed.Bytes(), 0o644))
}

// damage FILE cut N keeps the first N percent of a file; damage FILE flip N inverts the byte there.
func damage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: damage FILE cut|flip PERCENT")
	}
	body := []byte(ts.ReadFile(args[0]))
	percent, err := strconv.Atoi(args[2])
	ts.Check(err)
	at := len(body) * percent / 100
	switch args[1] {
	case "cut":
		body = body[:at]
	case "flip":
		body[at] ^= 0xff
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), body, 0o644))
}

// serveSetCmd SET [FAULTS|SHARE] serves a set of the script's folder until the script ends, and sets $PROXY to
// it. It serves faults, or that share of the pages as documents.
func serveSetCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: serveset SET [FAULTS|SHARE]")
	}
	var opt web.Options
	var err error
	if len(args) == 2 {
		if opt.Documents, err = strconv.ParseFloat(args[1], 64); err != nil {
			opt.Faults, err = web.ParseFaults(args[1])
		}
		ts.Check(err)
	}
	addr, stop, err := serve(context.Background(), ts.MkAbs(args[0]), opt)
	ts.Check(err)
	ts.Defer(stop)
	ts.Setenv("PROXY", "http://"+addr)
}

// requestLog collects what a served corpus logs; safe for concurrent use.
type requestLog struct {
	mu  sync.Mutex // guards the rest
	buf bytes.Buffer
	n   int // lines: each is one Write
}

func (l *requestLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n++
	return l.buf.Write(b)
}

func (l *requestLog) lines() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.n
}

func (l *requestLog) linesWith(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Count(l.buf.Bytes(), []byte(text))
}

// request is one line of the log.
type request struct {
	Start, End time.Time
	Sending    time.Time // when the last write of the body began; zero without a body
	Host, Path string
	URL        string
	Status     int
	Fault      string
	After      string `json:"retry_after"`
	Agent      string `json:"user_agent"`
}

func (l *requestLog) requests(t *testing.T) []request {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []request
	for dec := json.NewDecoder(bytes.NewReader(l.buf.Bytes())); dec.More(); {
		var r request
		testkit.Must(t, dec.Decode(&r))
		all = append(all, r)
	}
	return all
}

// serve serves a corpus on loopback until stop.
func serve(ctx context.Context, corpus string, opt web.Options) (addr string, stop func(), err error) {
	set, err := datasets.Open(corpus, datasets.Options{})
	if err != nil {
		return "", nil, err
	}
	addr, _, stop, err = serveSet(ctx, set, opt)
	return addr, stop, err
}

// serveSet is serve for an open set; ca is the file of its certificate authority.
func serveSet(ctx context.Context, set *datasets.Set, opt web.Options) (addr, ca string, stop func(), err error) {
	return serveAt(ctx, "127.0.0.1:0", set, opt)
}

func serveAt(ctx context.Context, at string, set *datasets.Set, opt web.Options) (addr, ca string, stop func(), err error) {
	return serveSets(ctx, at, opt, set)
}

func serveSets(ctx context.Context, at string, opt web.Options, sets ...*datasets.Set) (addr, ca string, stop func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	web, err := web.New(ctx, opt, sets...)
	if err != nil {
		cancel()
		return "", "", nil, err
	}
	l, err := net.Listen("tcp", at)
	if err != nil {
		cancel()
		return "", "", nil, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = web.Serve(ctx, l) // ends with ctx; a test notices other errors
	}()
	return l.Addr().String(), web.CA(), func() { cancel(); <-done; _ = web.Close() }, nil
}

// served serves a set on loopback until the test ends.
func served(t *testing.T, set *datasets.Set, opt web.Options) (addr, ca string) {
	t.Helper()
	addr, ca, stop, err := serveSet(context.WithoutCancel(t.Context()), set, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return addr, ca
}

func demoSet(t *testing.T) *datasets.Set {
	t.Helper()
	set := testkit.Call(datasets.Open("demo", datasets.Options{})).Must(t)
	return set
}

// serveDemo serves the demo set to a script, and sets $PROXY to it.
func serveDemo(env *testscript.Env) error {
	addr, stop, err := serve(context.Background(), "demo", web.Options{})
	if err != nil {
		return err
	}
	env.Defer(stop)
	env.Setenv("PROXY", "http://"+addr)
	env.Setenv("HOME", env.WorkDir)
	return nil
}

// linkedWeb is a web whose pages can all be reached from http://h0.test/0. Each page links to the next
// two of its host, the first of the next host, and three random ones. Every tenth has a nofollow link
// to a page that no other links to; every eleventh forbids following its links. All contents differ.
func linkedWeb(hosts, pages int) *datasets.Set {
	return datasets.FromSeq("linked", func(yield func(*datasets.Example, error) bool) {
		rng := rand.New(rand.NewPCG(uint64(hosts), uint64(pages)))
		for h := range hosts {
			for p := range pages {
				if !yield(linkedPage(rng, h, p, hosts, pages), nil) {
					return
				}
				if p%10 == 5 && !yield(&datasets.Example{URL: fmt.Sprintf("http://h%d.test/secret/%d", h, p), HTML: "<title>Secret</title>"}, nil) {
					return
				}
			}
		}
	}, datasets.Options{})
}

func linkedPage(rng *rand.Rand, h, p, hosts, pages int) *datasets.Example {
	var b strings.Builder
	fmt.Fprintf(&b, "<!DOCTYPE html><title>Page %d of host %d</title>", p, h)
	if p%11 == 7 && p+1 < pages { // not on the last page, which may be the only way to others
		b.WriteString("<meta name=robots content=nofollow>")
		fmt.Fprintf(&b, "<a href=/hidden/%d>hidden</a>", p)
	}
	fmt.Fprintf(&b, "<p>This is the page with the number %d of the host with the number %d. Word%d word%d.", p, h, rng.IntN(1e6), h*pages+p)
	link := func(h, p int) { fmt.Fprintf(&b, "\n<a href=\"http://h%d.test/%d\">the page %d</a>", h, p, p) }
	link((h+1)%hosts, 0)
	// Two steps ahead, so that a nofollow page hides nothing.
	link(h, (p+1)%pages)
	link(h, (p+2)%pages)
	for range 3 {
		link(rng.IntN(hosts), rng.IntN(pages))
	}
	if p%10 == 5 {
		fmt.Fprintf(&b, "\n<a rel=nofollow href=/secret/%d>secret</a>", p)
	}
	return &datasets.Example{URL: fmt.Sprintf("http://h%d.test/%d", h, p), HTML: b.String()}
}

// linkedSecret says whether only nofollow links lead to a path of linkedWeb.
func linkedSecret(path string) bool {
	return strings.HasPrefix(path, "/secret/") || strings.HasPrefix(path, "/hidden/")
}
