package serving

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/net/netutil"
)

// Options limit a Server. The zero value suits one person and a few programs.
type Options struct {
	// Connections bounds simultaneous connections, silent ones included; 0 means 32. Others wait.
	Connections int
	// AnswerTime bounds the writing of an answer; 0 means no limit.
	AnswerTime time.Duration
	// Grace is how long Stop waits for answers, then for their handlers; 0 means one second.
	Grace time.Duration
}

const (
	defaultConnections = 32
	defaultGrace       = time.Second
	headerTime         = 5 * time.Second
	requestTime        = 10 * time.Second // header and body
	idleTime           = 30 * time.Second // between two requests
	headerBytes        = 16 << 10
	bodyBytes          = 1 << 20
)

// Server answers on one listener.
type Server struct {
	http  *http.Server
	grace time.Duration
	done  chan error

	mu    sync.Mutex            // guards the fields below
	fresh map[net.Conn]struct{} // connections without a request so far
	busy  int                   // running handlers
	idle  chan struct{}         // closed when the last handler ends after Stop; nil before Stop
}

// Start answers requests on l until Stop, which closes l.
func Start(l net.Listener, h http.Handler, opt Options) *Server {
	if opt.Connections == 0 {
		opt.Connections = defaultConnections
	}
	if opt.Grace == 0 {
		opt.Grace = defaultGrace
	}
	s := &Server{grace: opt.Grace, done: make(chan error, 1), fresh: map[net.Conn]struct{}{}}
	s.http = &http.Server{
		Handler: s.counted(h), ConnState: s.note,
		ReadHeaderTimeout: headerTime, ReadTimeout: requestTime, IdleTimeout: idleTime, WriteTimeout: opt.AnswerTime,
		MaxHeaderBytes: headerBytes,
	}
	go func() { s.done <- s.http.Serve(netutil.LimitListener(l, opt.Connections)) }()
	return s
}

// counted wraps h to count its running calls.
func (s *Server) counted(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.busy++
		s.mu.Unlock()
		defer s.handled()
		r.Body = http.MaxBytesReader(w, r.Body, bodyBytes)
		h.ServeHTTP(w, r)
	})
}

func (s *Server) handled() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy--; s.busy == 0 && s.idle != nil {
		close(s.idle)
		s.idle = nil
	}
}

// note tracks the connections without a request.
func (s *Server) note(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state == http.StateNew {
		s.fresh[c] = struct{}{}
	} else {
		delete(s.fresh, c)
	}
}

// Stop ends the server: answers in progress get Options.Grace, then are cut off, which is no error.
// All handlers have returned by then, except one that runs for another Grace after its connection
// closed.
func (s *Server) Stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), s.grace)
	defer cancel()
	s.dropFresh()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close()
	}
	s.awaitHandlers()
	if served := <-s.done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// dropFresh closes connections without a request, for which Shutdown would wait five seconds.
func (s *Server) dropFresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.fresh {
		c.Close() // no request is lost
	}
}

func (s *Server) awaitHandlers() {
	s.mu.Lock()
	var idle chan struct{}
	if s.busy > 0 {
		idle = make(chan struct{})
		s.idle = idle
	}
	s.mu.Unlock()
	if idle == nil {
		return
	}
	late := time.NewTimer(s.grace)
	defer late.Stop()
	select {
	case <-idle:
	case <-late.C:
	}
}
