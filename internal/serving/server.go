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

// Options say what a Server allows. The zero value is for a person and a few programs
// that look on.
type Options struct {
	// Connections is how many there may be at a time, those that say nothing included;
	// 0 is 32. Others wait until one ends.
	Connections int
	// AnswerTime is how long an answer may take to be written; 0 has no limit, which is
	// for handlers that set their own.
	AnswerTime time.Duration
	// Grace is how long Stop lets answers under way go on, and how long it waits for
	// their handlers afterwards; 0 is one second.
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

	mu    sync.Mutex            // guards what follows
	fresh map[net.Conn]struct{} // connections that have not asked for anything yet
	busy  int                   // handlers at work
	idle  chan struct{}         // closed when the last handler ends after Stop; nil before Stop
}

// Start answers requests on l, which it closes, until Stop.
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

// counted is h, of which is known how often it is at work.
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

// note keeps the set of connections that have not asked for anything.
func (s *Server) note(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state == http.StateNew {
		s.fresh[c] = struct{}{}
	} else {
		delete(s.fresh, c)
	}
}

// Stop ends the server: answers under way have the grace of Options, then they are cut
// off. That somebody was cut off is no error. Handlers have returned when Stop does,
// but for one that goes on for another grace after its connection has gone.
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

// dropFresh closes connections that have not asked for anything: Shutdown would wait
// for their first request for five seconds.
func (s *Server) dropFresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.fresh {
		c.Close() // nothing was promised on it
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
