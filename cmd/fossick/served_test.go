package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"fossick/datasets"
	"fossick/datasets/web"
)

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

// lines returns how many requests were logged.
func (l *requestLog) lines() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.n
}

// linesWith returns how many of the requests that were logged have a text in their line.
func (l *requestLog) linesWith(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Count(l.buf.Bytes(), []byte(text))
}

// request is one line of the log.
type request struct {
	Start, End time.Time
	Sending    time.Time // the last write of the body began; zero when there was none
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
		if err := dec.Decode(&r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// serve serves a corpus on loopback until the test ends; it returns the address.
func serve(ctx context.Context, corpus string, opt web.Options) (addr string, stop func(), err error) {
	set, err := datasets.Open(corpus, datasets.Options{})
	if err != nil {
		return "", nil, err
	}
	addr, _, stop, err = serveSet(ctx, set, opt)
	return addr, stop, err
}

// serveSet is serve for a set that is open; ca is the file of its authority.
func serveSet(ctx context.Context, set *datasets.Set, opt web.Options) (addr, ca string, stop func(), err error) {
	return serveAt(ctx, "127.0.0.1:0", set, opt)
}

// serveAt is serveSet at an address.
func serveAt(ctx context.Context, at string, set *datasets.Set, opt web.Options) (addr, ca string, stop func(), err error) {
	return serveSets(ctx, at, opt, set)
}

// serveSets is serveAt for several sets.
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
		_ = web.Serve(ctx, l) // ends with ctx; what it could not serve, a test sees
	}()
	return l.Addr().String(), web.CA(), func() { cancel(); <-done; _ = web.Close() }, nil
}

// serveDemo gives each script $PROXY, the demo set as a web.
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
