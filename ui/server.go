package ui

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"fossick/crawler"
	"fossick/crawler/control"
	"fossick/internal/cli"
	"fossick/internal/serving"
	"fossick/store"
)

// Options configure a Server.
type Options struct {
	Addr     string   // HOST:PORT; without HOST on loopback
	Password string   // "": a token in the address, and loopback only
	Dirs     []string // folders of stores
	Start    *Start   // nil: the page starts nothing
	Rest              // for stores without a running crawl
}

// Server serves the page and the interface.
type Server struct {
	access  *access
	server  *serving.Server
	addr    net.Addr
	rest    Rest
	start   *Start
	jobs    jobs
	opening chan struct{} // has a token for each store that is opened for the list

	mu     sync.Mutex // guards stores
	stores []*stored  // only grows, so that an index stays
}

// all returns the stores.
func (s *Server) all() []*stored {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.stores)
}

// stored returns the store with an index; nil if there is none.
func (s *Server) stored(n int) *stored {
	all := s.all()
	if n >= len(all) {
		s.look() // a command may just have made it
		all = s.all()
	}
	if n < 0 || n >= len(all) {
		return nil
	}
	return all[n]
}

// add adds the stores that are not there yet.
func (s *Server) add(dirs []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, dir := range dirs {
		if slices.ContainsFunc(s.stores, func(one *stored) bool { return one.dir == dir }) {
			continue
		}
		one := &stored{name: nameOf(dir), dir: dir, rest: atRest(dir, s.rest)}
		one.proxy = proxyTo(one)
		s.stores = append(s.stores, one)
	}
}

// look finds the stores that commands have made.
func (s *Server) look() {
	if s.start != nil {
		s.add(s.start.Stores())
	}
}

// stored is a store of the server.
type stored struct {
	name, dir string
	rest      *Interface // when no crawl runs
	proxy     *httputil.ReverseProxy

	mu    sync.Mutex // guards the fields below, held while they are read
	row   summary    // in the list
	files string     // of the store when row was read; "" without one
}

//go:embed openapi.yaml
var openAPI []byte

// Open serves until Stop.
func Open(opt Options) (*Server, error) {
	if err := checkAddr(opt.Addr, opt.Password); err != nil {
		return nil, err
	}
	l, err := serving.Listen(opt.Addr)
	if err != nil {
		return nil, cli.Usagef("--addr: %w; give a free HOST:PORT such as 127.0.0.1:8080", err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	s := &Server{access: newAccess(opt.Password, port), addr: l.Addr(), rest: opt.Rest, start: opt.Start, opening: make(chan struct{}, mostOpening)}
	s.add(opt.Dirs)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/stores", answering(s.list))
	mux.HandleFunc("/api/stores/{n}", s.one)
	mux.HandleFunc("/api/stores/{n}/{what}", s.one)
	if s.start != nil {
		mux.HandleFunc("GET /api/start", answering(s.listJobs))
		mux.HandleFunc("POST /api/start", answering(s.startJob))
		mux.HandleFunc("POST /api/start/{id}/stop", answering(s.stopJob))
		mux.HandleFunc("POST /api/examples", answering(s.examples))
	}
	mux.HandleFunc("GET /api/openapi.yaml", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/yaml")
		_, _ = w.Write(openAPI)
	})
	mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		fail(w, http.StatusNotFound, "there is no such question; see /api/openapi.yaml")
	})
	mux.Handle("/", files())
	s.server = serving.Start(l, serving.OwnNames(opt.Addr, s.access.guard(mux)), serving.Options{})
	return s, nil
}

// Address returns the address for a browser, with the token unless there is a password.
func (s *Server) Address() string {
	at := "http://" + s.addr.String() + "/"
	if s.access.password != "" {
		return at
	}
	return at + "?token=" + s.access.token
}

// Addr returns the address without the token.
func (s *Server) Addr() string { return s.addr.String() }

// Stop ends the server and the commands that its page started, and waits for them.
func (s *Server) Stop() error {
	s.jobs.end(stopTime, func(dir string) {
		if s.start.Ended != nil {
			s.start.Ended(resumes(dir))
		}
	})
	for _, one := range s.all() {
		one.rest.stop()
	}
	err := s.server.Stop()
	for _, one := range s.all() {
		err = errors.Join(err, one.rest.Close())
	}
	return err
}

// files serves the page.
func files() http.Handler {
	fsys, ok := Files()
	if !ok {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			_, _ = io.WriteString(w, "This build of fossick has no page for browsers. Its interface for programs is described at /api/openapi.yaml.\n")
		})
	}
	server := http.FileServerFS(fsys)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name := strings.TrimPrefix(r.URL.Path, "/"); name != "" {
			if _, err := fs.Stat(fsys, name); err != nil {
				http.Redirect(w, r, "/", http.StatusFound) // the page's files have relative addresses
				return
			}
		}
		server.ServeHTTP(w, r)
	})
}

// one passes a question to whoever answers for a store now.
func (s *Server) one(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.PathValue("n"))
	one := s.stored(n)
	if err != nil || one == nil {
		fail(w, http.StatusNotFound, "there is no such store; see /api/stores")
		return
	}
	r = r.Clone(r.Context())
	r.URL.Path, r.URL.RawPath = "/"+r.PathValue("what"), ""
	w.Header().Set("Content-Security-Policy", answerCSP)
	one.ServeHTTP(w, r)
}

func (s *stored) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !control.HasSocket(s.dir) {
		s.rest.ServeHTTP(w, r)
		return
	}
	if r.URL.Path == "/snapshot" {
		w.Header().Set("Content-Security-Policy", snapshotCSP)
	}
	s.proxy.ServeHTTP(w, r)
}

// answerTime bounds the wait for the beginning of an answer. The first search of a large store takes long.
const answerTime = 2 * time.Minute

// passed are the headers of a crawl's answers that reach the browser; the server adds its own.
var passed = []string{"Content-Type", "Content-Length", "Content-Disposition", "X-Accel-Buffering"}

// proxyTo passes requests on to the crawl that runs in the store's folder. If it has just ended, the
// store at rest answers.
func proxyTo(s *stored) *httputil.ReverseProxy {
	transport := control.Transport(s.dir)
	transport.ResponseHeaderTimeout = answerTime
	return &httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: "crawl", Path: "/ui"})
			for _, name := range []string{"Cookie", "Authorization"} {
				r.Out.Header.Del(name)
			}
		},
		ModifyResponse: func(r *http.Response) error { // the store may come from a stranger
			for name := range r.Header {
				if !slices.Contains(passed, name) {
					r.Header.Del(name)
				}
			}
			return nil
		},
		FlushInterval: -1,
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			var dial *net.OpError
			if errors.As(err, &dial) && dial.Op == "dial" {
				r.URL.Path = strings.TrimPrefix(r.URL.Path, "/ui")
				s.rest.ServeHTTP(w, r)
				return
			}
			fail(w, http.StatusServiceUnavailable, "the crawl has just ended, or does not answer; ask again")
		},
	}
}

// summary is a store in the list.
type summary struct {
	Name     string     `json:"name"`
	Dir      string     `json:"dir"`
	Topic    string     `json:"topic"`
	Topics   []string   `json:"topics"`
	Running  bool       `json:"running"`
	Pages    uint64     `json:"pages"`
	Relevant uint64     `json:"relevant"`
	Harvest  *float64   `json:"harvest"`
	Updated  *time.Time `json:"updated"`         // when the last page was stored; null without pages
	Error    string     `json:"error,omitempty"` // why there are no figures
}

// list answers GET /api/stores. A store that cannot be opened is there without figures.
func (s *Server) list(r *http.Request) (any, error) {
	ctx, cancel := context.WithTimeout(r.Context(), listTime)
	defer cancel()
	s.look()
	stores := s.all()
	all := struct {
		Stores []summary `json:"stores"`
		Starts bool      `json:"starts"` // the page may start commands
	}{make([]summary, len(stores)), s.start != nil}
	var asking sync.WaitGroup
	for i, one := range stores {
		asking.Go(func() { all.Stores[i] = one.listed(r.Clone(ctx), s.opening, len(stores) > mostOpening) })
	}
	asking.Wait()
	return all, nil
}

// listTime bounds the wait for a crawl that does not answer.
const listTime = 2 * time.Second

// mostOpening is how many stores at rest are open for the list at once.
const mostOpening = 2

// listed is summary, which a store at rest answers from memory until it changes. One of many is closed
// at once.
func (s *stored) listed(r *http.Request, opening chan struct{}, many bool) summary {
	rest, ok := s.rest.source.(*resting)
	if !ok || control.HasSocket(s.dir) {
		return s.summary(r)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if files := filesOf(s.dir); files != "" && files == s.files {
		return s.row
	}
	select {
	case opening <- struct{}{}:
		defer func() { <-opening }()
	case <-r.Context().Done():
		return summary{Name: s.name, Dir: s.dir, Topics: []string{}, Error: errLate.Error()}
	}
	row := s.summary(r)
	if many {
		rest.release(false)
	}
	if s.files = ""; row.Error == "" {
		s.row, s.files = row, filesOf(s.dir)
	}
	return row
}

// errLate stands for an answer that was not ready in time.
var errLate = errors.New("the store is being read; its figures come in a moment")

// errPaused stands for an answer that the end of a session broke off.
var errPaused = errors.New("the crawl pauses or ends; ask again in a moment")

func (s *stored) summary(r *http.Request) (row summary) {
	var got answer
	defer func() {
		if recover() != nil || got.status != http.StatusOK || json.Unmarshal(got.Bytes(), &row) != nil { // the proxy panics at an answer cut off
			row = summary{Topics: []string{}, Error: "the crawl did not answer; ask again"}
			var failed struct{ Error string }
			if json.Unmarshal(got.Bytes(), &failed) == nil && failed.Error != "" {
				row.Error = failed.Error
			}
		}
		row.Name, row.Dir = s.name, s.dir
	}()
	r.URL = &url.URL{Path: "/"}
	s.ServeHTTP(&got, r)
	return row
}

// answer keeps what a handler answers.
type answer struct {
	bytes.Buffer
	header http.Header
	status int
}

func (a *answer) Header() http.Header {
	if a.header == nil {
		a.header = http.Header{}
	}
	return a.header
}

func (a *answer) WriteHeader(status int) { a.status = status }

func (a *answer) Write(b []byte) (int, error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	return a.Buffer.Write(b)
}

// answering turns a function into a handler that answers in JSON.
func answering(f func(r *http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := f(r)
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			err = errLate
		case errors.Is(err, context.Canceled):
			err = errPaused
		}
		if err != nil {
			fail(w, statusOf(err), err.Error())
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v) // a client that left needs no answer; < and > are escaped
	}
}

// fail answers with an error.
func fail(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": text})
}

func statusOf(err error) int {
	var mistake cli.UsageError
	switch {
	case errors.As(err, &mistake):
		return http.StatusBadRequest
	case errors.Is(err, store.ErrUnknown), errors.Is(err, store.ErrNoPage), errors.Is(err, store.ErrNone):
		return http.StatusNotFound
	case errors.Is(err, store.ErrBusy), errors.Is(err, crawler.ErrEnded), errors.Is(err, errIncomplete), errors.Is(err, errLate), errors.Is(err, errPaused), errors.Is(err, errSilent):
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}
