package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"fossick/crawler"
	"fossick/internal/serving"
	"fossick/store"
)

// A crawl has its store to itself. Other fossick processes that want to know
// something of it, or to tell it something, ask the crawl: by HTTP over a Unix
// socket in the store's folder, which only its owner may use.
//
//	GET  /why?url=URL  whyResult
//	POST /label        labelRequest → labelAnswer
//	GET  /status       crawlStatus
//	GET  /snapshot     all records of the moment, see store.Snapshot
//
// An answer other than 200 is a socketError.

// socketName is the socket's name in the store's folder. A Unix socket's whole path
// has maxSocketPath bytes at most; of a longer one the socket is in a temporary
// folder, and a symbolic link to it in the store's.
const (
	socketName    = "crawl.sock"
	maxSocketPath = 100
)

// errNoCrawl reports a store in use by who does not answer.
var errNoCrawl = errors.New("no crawl answers there")

// socketError says what went wrong at the other end.
type socketError struct {
	Error string `json:"error"`
	Usage bool   `json:"usage"` // the question was wrong
}

// door is a crawl's socket.
type door struct {
	store   *store.Store
	engine  *crawler.Crawler
	explain func(url string) (crawler.Score, bool) // nil when the scorer cannot
	server  *serving.Server
	ending  chan struct{} // closed by shut: copies of the store are not waited for
	remove  []string      // what is left in the file system
}

// openDoor listens until shut is called. The store must be open, so a socket that is
// there already is that of a crawl that was killed.
func openDoor(s *store.Store, engine *crawler.Crawler, scorer crawler.Scorer, m *monitor) (*door, error) {
	d := &door{store: s, engine: engine, ending: make(chan struct{})}
	if e, ok := scorer.(interface {
		Explain(string) (crawler.Score, bool)
	}); ok {
		d.explain = e.Explain
	}
	l, err := d.listen(filepath.Join(s.Dir(), socketName))
	if err != nil {
		return nil, fmt.Errorf("socket of the crawl: %w; check who may write in %s", err, s.Dir())
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /why", d.why)
	mux.HandleFunc("POST /label", d.label)
	mux.HandleFunc("GET /status", m.status)
	mux.HandleFunc("GET /snapshot", d.snapshot)
	d.server = serving.Start(l, mux, serving.Options{Grace: doorGrace})
	return d, nil
}

func (d *door) listen(path string) (net.Listener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	at := path
	if len(path) > maxSocketPath {
		dir, err := os.MkdirTemp("", "fossick-")
		if err != nil {
			return nil, err
		}
		at = filepath.Join(dir, socketName)
		d.remove = append(d.remove, path, dir)
		if err := os.Symlink(at, path); err != nil {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
	}
	return serving.ListenUnix(at)
}

// doorGrace is how long an answer under way may take when the crawl ends: somebody
// waits for it who asked on purpose.
const doorGrace = 10 * time.Second

// shut ends the server and waits for it, and for what it is answering.
func (d *door) shut() error {
	close(d.ending)
	err := d.server.Stop()
	for _, path := range d.remove {
		err = errors.Join(err, os.RemoveAll(path))
	}
	return err
}

// reply writes an answer, or the error instead of it.
func reply(w http.ResponseWriter, answer any, err error) {
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		var usage usageError
		answer = socketError{err.Error(), errors.As(err, &usage)}
		w.WriteHeader(http.StatusUnprocessableEntity)
	}
	_ = json.NewEncoder(w).Encode(answer) // a client that went away needs no answer
}

// askCrawl asks the crawl that has a store, which busy says; question is nil for GET.
func askCrawl(ctx context.Context, dir, path string, question, answer any, busy error) error {
	resp, err := callCrawl(ctx, dir, path, question, busy)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return readAnswer(resp, answer)
}

// callCrawl is askCrawl that leaves the answer to be read.
func callCrawl(ctx context.Context, dir, path string, question any, busy error) (*http.Response, error) {
	socket := filepath.Join(dir, socketName)
	if to, err := os.Readlink(socket); err == nil {
		socket = to
	}
	client := http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		},
		DisableKeepAlives: true,
	}}
	method, body := http.MethodGet, []byte(nil)
	if question != nil {
		var err error
		if body, err = json.Marshal(question); err != nil {
			return nil, fmt.Errorf("question to the crawl: %w", err)
		}
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://crawl"+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("question to the crawl: %w", err)
	}
	resp, err := client.Do(req)
	var refused *net.OpError
	if errors.As(err, &refused) && refused.Op == "dial" {
		return nil, fmt.Errorf("%w, and %w; if one is just starting or ending, try again in a moment, else wait for the other process to end", busy, errNoCrawl)
	}
	if err != nil {
		return nil, fmt.Errorf("the crawl of %s did not answer to the end: %w; try again", dir, err)
	}
	return resp, nil
}

func readAnswer(resp *http.Response, answer any) error {
	dec := json.NewDecoder(resp.Body)
	if resp.StatusCode == http.StatusOK {
		if err := dec.Decode(answer); err != nil {
			return fmt.Errorf("answer of the crawl: %w; try again", err)
		}
		return nil
	}
	var failed socketError
	if err := dec.Decode(&failed); err != nil {
		return fmt.Errorf("the crawl answered %s; is it another version of fossick?", resp.Status)
	}
	if failed.Usage {
		return usageError{errors.New(failed.Error)}
	}
	return errors.New(failed.Error)
}
