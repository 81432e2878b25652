package control

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
	"sync"
	"syscall"
	"time"

	"fossick/crawler"
	"fossick/internal/cli"
	"fossick/internal/page"
	"fossick/internal/serving"
	"fossick/store"
)

// socketName is the socket's name in the store's folder. A Unix socket's path has at most
// maxSocketPath bytes; a longer one becomes a link to a socket in a temporary folder.
const (
	socketName    = "crawl.sock"
	maxSocketPath = 100
)

// failure is an error answer.
type failure struct {
	Error string `json:"error"`
	Usage bool   `json:"usage"` // the question was wrong
}

// Options are the sources of a crawl's answers.
type Options struct {
	Store  *store.Store
	URLs   *page.Normalizer // the crawl's normal form of URLs
	Engine engine           // receives labels and pages to forget
	Scorer crawler.Scorer   // the crawl's
	Status http.HandlerFunc

	// Page returns what answers below /ui/, for the page in the browser; nil for none.
	Page func(*Socket) Page
}

// Page answers for the page in the browser, until Close.
type Page interface {
	http.Handler
	Close() error
}

// engine is a running crawl.
type engine interface {
	// Mark records people's labels. moves reports whether the scores change.
	Mark(ctx context.Context, marks []crawler.Mark) (moves bool, err error)
	// Forget stores a request to forget pages, and ends the session for it.
	Forget(ctx context.Context, pattern string) error
}

// Socket is the control socket of a crawl.
type Socket struct {
	Options // for handlers, under session
	server  *serving.Server
	page    Page          // nil without Options.Page
	ending  chan struct{} // closed by Close, to cut off copies of the store
	remove  []string      // files to remove at the end

	session sync.RWMutex  // write-locked between two sessions of the crawl
	pausing chan struct{} // closed when a session is about to end; under session

	mu         sync.Mutex
	forgetting []forgetting // with waiting clients; under mu
}

// Open listens until Close is called. The store must be open, so an existing socket is left
// from a killed crawl.
func Open(opt Options) (*Socket, error) {
	c := &Socket{Options: opt, ending: make(chan struct{}), pausing: make(chan struct{})}
	dir := opt.Store.Dir()
	l, err := c.listen(filepath.Join(dir, socketName))
	if err != nil {
		return nil, fmt.Errorf("control socket of the crawl: %w; check the permissions of %s", err, dir)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /why", c.why)
	mux.HandleFunc("POST /label", c.label)
	mux.HandleFunc("POST /forget", c.forget)
	mux.HandleFunc("GET /ask", c.ask)
	mux.HandleFunc("GET /status", opt.Status)
	mux.HandleFunc("GET /snapshot", c.snapshot)
	if opt.Page != nil {
		c.page = opt.Page(c)
		mux.Handle("/ui/", http.StripPrefix("/ui", c.page))
		mux.Handle("GET /ui/export", http.StripPrefix("/ui", c.whileOpen(c.page)))
	}
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

// grace bounds an answer in progress when the crawl ends.
const grace = 10 * time.Second

// Close stops the server and waits for its answers.
func (c *Socket) Close() error {
	close(c.ending)
	var err error
	if c.page != nil {
		err = c.page.Close()
	}
	err = errors.Join(err, c.server.Stop())
	for _, path := range c.remove {
		err = errors.Join(err, os.RemoveAll(path))
	}
	return err
}

// reply writes an answer, or its error.
func reply(w http.ResponseWriter, answer any, err error) {
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		var mistake cli.UsageError
		answer = failure{err.Error(), errors.As(err, &mistake)}
		w.WriteHeader(http.StatusUnprocessableEntity)
	}
	_ = json.NewEncoder(w).Encode(answer) // a client that left needs no answer
}

// errNoCrawl reports a store in use by a process that does not answer.
var errNoCrawl = errors.New("no running crawl answers")

// Ask asks the crawl that holds a store, as busy reports; question is nil for GET.
func Ask(ctx context.Context, dir, path string, question, answer any, busy error) error {
	resp, err := call(ctx, dir, path, question, busy)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return readAnswer(resp, answer)
}

// Transport reaches the crawl that runs in a store's folder, whatever the host of the request.
func Transport(dir string) *http.Transport {
	return &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socketOf(dir))
		},
		DisableKeepAlives: true,
	}
}

// HasSocket reports whether a crawl of ours answers at the socket in a store's folder. A killed crawl
// leaves its socket; and another user who made the folder may have a program there.
func HasSocket(dir string) bool {
	info, err := os.Stat(socketOf(dir))
	if err != nil {
		return false
	}
	if of, ok := info.Sys().(*syscall.Stat_t); !ok || int(of.Uid) != os.Getuid() {
		return false
	}
	c, err := net.DialTimeout("unix", socketOf(dir), dialTime)
	return err == nil && c.Close() == nil
}

// dialTime bounds the wait for a crawl that does not take connections.
const dialTime = time.Second

func socketOf(dir string) string {
	socket := filepath.Join(dir, socketName)
	if to, err := os.Readlink(socket); err == nil {
		return to
	}
	return socket
}

// call is Ask without reading the answer.
func call(ctx context.Context, dir, path string, question any, busy error) (*http.Response, error) {
	client := http.Client{Transport: Transport(dir)}
	method, body := http.MethodGet, []byte(nil)
	if question != nil {
		var err error
		if body, err = json.Marshal(question); err != nil {
			return nil, fmt.Errorf("send a question to the crawl: %w", err)
		}
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://crawl"+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("send a question to the crawl: %w", err)
	}
	resp, err := client.Do(req)
	var refused *net.OpError
	if errors.As(err, &refused) && refused.Op == "dial" {
		return nil, fmt.Errorf("%w, and %w; if a crawl is just starting or ending, try again in a moment; otherwise wait until the other process ends", busy, errNoCrawl)
	}
	if err != nil {
		return nil, fmt.Errorf("the crawl of %s stopped in the middle of its answer: %w; try again", dir, err)
	}
	return resp, nil
}

func readAnswer(resp *http.Response, answer any) error {
	dec := json.NewDecoder(resp.Body)
	if resp.StatusCode == http.StatusOK {
		if err := dec.Decode(answer); err != nil {
			return fmt.Errorf("the answer of the crawl cannot be read: %w; try again", err)
		}
		return nil
	}
	var failed failure
	if err := dec.Decode(&failed); err != nil {
		return fmt.Errorf("the crawl answered %s; use the version of fossick that runs the crawl", resp.Status)
	}
	if failed.Usage {
		return cli.Usage(errors.New(failed.Error))
	}
	return errors.New(failed.Error)
}

// stallsAfter bounds the pause of a snapshot's reader.
const stallsAfter = 30 * time.Second

// snapshot answers GET /snapshot. A reader that leaves or stalls does not delay the crawl or
// its end.
func (c *Socket) snapshot(w http.ResponseWriter, req *http.Request) {
	s, done, err := c.Open(req.Context())
	if err != nil {
		reply(w, nil, err)
		return
	}
	defer done()
	ctx, cancel := c.untilPause(req.Context(), c.pausing)
	defer cancel()
	w.Header().Set("Content-Type", "application/octet-stream")
	// The reader notices a missing end.
	_ = s.Snapshot(ctx, patient{w, http.NewResponseController(w)})
}

// untilPause returns a context that ends with the session, or with the crawl.
func (c *Socket) untilPause(ctx context.Context, pausing <-chan struct{}) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-c.ending:
			cancel()
		case <-pausing:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// whileOpen cuts off long answers, so that they do not delay the end of a session.
func (c *Socket) whileOpen(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		c.session.RLock()
		pausing := c.pausing
		c.session.RUnlock()
		ctx, cancel := c.untilPause(req.Context(), pausing)
		defer cancel()
		h.ServeHTTP(w, req.WithContext(ctx))
	})
}

// patient gives each part of an answer its own time limit.
type patient struct {
	http.ResponseWriter
	control *http.ResponseController
}

func (p patient) Write(b []byte) (int, error) {
	if err := p.control.SetWriteDeadline(time.Now().Add(stallsAfter)); err != nil {
		return 0, err
	}
	return p.ResponseWriter.Write(b)
}

// Tries to open a store in use without a crawl that answers: five seconds in all.
const (
	readTries = 100
	readPause = 50 * time.Millisecond
)

// Stores opens stores for reading. It copies a store in use by a crawl once, so that all reads
// see one moment. For one goroutine.
type Stores struct {
	Say func(format string, args ...any) // reports that a copy is read

	copies map[string]*store.Store
}

// Open opens a store. The caller calls done, not Close.
func (r *Stores) Open(ctx context.Context, dir string) (s *store.Store, done func() error, err error) {
	keep := func() error { return nil } // a copy stays until Close
	if s := r.copies[dir]; s != nil {
		return s, keep, nil
	}
	for range readTries {
		if s, err = store.OpenToRead(dir); err == nil {
			return s, func() error { return errors.Join(s.Damaged(), s.Close()) }, nil
		}
		if !errors.Is(err, store.ErrBusy) {
			return nil, nil, err
		}
		if s, err = r.copyOf(ctx, dir, err); !errors.Is(err, store.ErrCutOff) && !errors.Is(err, errNoCrawl) {
			break
		}
		select { // a crawl that begins or ends holds its store briefly without answering
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-time.After(readPause):
		}
	}
	if err != nil {
		return nil, nil, err
	}
	if r.copies == nil {
		r.copies = map[string]*store.Store{}
	}
	r.copies[dir] = s
	return s, keep, nil
}

// copyOf copies the store that a crawl holds, as busy reports.
func (r *Stores) copyOf(ctx context.Context, dir string, busy error) (*store.Store, error) {
	resp, err := call(ctx, dir, "/snapshot", nil, busy)
	switch {
	case err == nil:
	case errors.Is(err, errNoCrawl) || ctx.Err() != nil:
		return nil, err
	default: // it ended after the question was sent
		return nil, fmt.Errorf("%w: %w", store.ErrCutOff, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, readAnswer(resp, nil)
	}
	r.Say("a crawl is writing %s: reading a snapshot of it", dir)
	s, err := store.Receive(dir, resp.Body)
	if ctx.Err() != nil {
		if s != nil {
			return nil, errors.Join(ctx.Err(), s.Close())
		}
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: snapshot of the running crawl: %w", dir, err)
	}
	return s, nil
}

// Close deletes the copies.
func (r *Stores) Close() error {
	var err error
	for _, s := range r.copies {
		err = errors.Join(err, s.Close())
	}
	return err
}
