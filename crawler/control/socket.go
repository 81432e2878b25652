package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"fossick/crawler"
	"fossick/internal/page"
	"fossick/internal/serving"
	"fossick/internal/usage"
	"fossick/store"
)

// socketName is the socket's name in the store's folder. A Unix socket's whole path has
// maxSocketPath bytes at most. For a longer one the socket is in a temporary folder,
// and the store's has a link to it.
const (
	socketName    = "crawl.sock"
	maxSocketPath = 100
)

// failure says what went wrong at the other end.
type failure struct {
	Error string `json:"error"`
	Usage bool   `json:"usage"` // the question was wrong
}

// Options are what a crawl answers from.
type Options struct {
	Store  *store.Store
	URLs   *page.Normalizer // by which the crawl knows its URLs
	Engine Engine           // told of labels and of pages to forget
	Scorer crawler.Scorer   // the crawl's
	Status http.HandlerFunc
}

// Engine is a running crawl.
type Engine interface {
	// Mark takes in what a person says of URLs. moves says whether the scores follow.
	Mark(ctx context.Context, marks []crawler.Mark) (moves bool, err error)
	// Forget keeps a request that pages be forgotten, and ends the session for it.
	Forget(ctx context.Context, pattern string) error
}

// Socket is the control socket of a crawl.
type Socket struct {
	Options // for who answers, under session
	server  *serving.Server
	ending  chan struct{} // closed by Close: copies of the store are not waited for
	remove  []string      // what is left in the file system

	session sync.RWMutex  // locked for writing between two sessions of the crawl
	pausing chan struct{} // closed when a session is about to end; under session

	mu         sync.Mutex
	forgetting []forgetting // that are waited for; under mu
}

// Open listens until Close is called. The store must be open, so a socket that is
// there already is that of a crawl that was killed.
func Open(opt Options) (*Socket, error) {
	c := &Socket{Options: opt, ending: make(chan struct{}), pausing: make(chan struct{})}
	dir := opt.Store.Dir()
	l, err := c.listen(filepath.Join(dir, socketName))
	if err != nil {
		return nil, fmt.Errorf("control socket of the crawl: %w; check the permissions of %s", err, dir)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /why", c.answering(c.why))
	mux.HandleFunc("POST /label", c.answering(c.label))
	mux.HandleFunc("POST /forget", c.forget)
	mux.HandleFunc("GET /ask", c.answering(c.ask))
	mux.HandleFunc("GET /status", opt.Status)
	mux.HandleFunc("GET /snapshot", c.answering(c.snapshot))
	c.server = serving.Start(l, mux, serving.Options{Grace: grace})
	return c, nil
}

func (c *Socket) listen(path string) (net.Listener, error) {
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
		c.remove = append(c.remove, path, dir)
		if err := os.Symlink(at, path); err != nil {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
	}
	return serving.ListenUnix(at)
}

// grace is how long an answer under way may take when the crawl ends: somebody
// waits for it who asked on purpose.
const grace = 10 * time.Second

// Close ends the server and waits for it, and for what it is answering.
func (c *Socket) Close() error {
	close(c.ending)
	err := c.server.Stop()
	for _, path := range c.remove {
		err = errors.Join(err, os.RemoveAll(path))
	}
	return err
}

// reply writes an answer, or the error instead of it.
func reply(w http.ResponseWriter, answer any, err error) {
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		var mistake usage.Error
		answer = failure{err.Error(), errors.As(err, &mistake)}
		w.WriteHeader(http.StatusUnprocessableEntity)
	}
	_ = json.NewEncoder(w).Encode(answer) // a client that went away needs no answer
}
