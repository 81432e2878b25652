package urlfrontier

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"connectrpc.com/connect"
	"golang.org/x/sync/semaphore"

	"fossick/crawler/urlfrontier/api"
)

const (
	maxConnections  = 256
	maxStreams      = 64 // calls at a time of one connection
	idleTime        = time.Minute
	maxMessageBytes = 4 << 20 // as gRPC servers have it
	grace           = 10 * time.Second
	headerTime      = 10 * time.Second
)

// Server answers the calls of the API for a Frontier.
type Server struct {
	f        *Frontier
	log      *slog.Logger
	level    *atomic.Pointer[slog.Level]
	address  string
	stopping chan struct{} // closed when no more is taken in
	inFlight *semaphore.Weighted

	calls sync.RWMutex // held to read by each call under way; guards ended
	ended bool
}

// NewServer returns a server that calls itself by an address, HOST:PORT.
func NewServer(f *Frontier, address string) *Server {
	level := new(atomic.Pointer[slog.Level])
	return &Server{
		f: f, address: address, level: level, stopping: make(chan struct{}), inFlight: semaphore.NewWeighted(bytesInFlight),
		log: slog.New(levelled{f.opt.Logger.Handler(), level}),
	}
}

// Serve answers on a listener, which it closes, until ctx ends. Then what has come is
// committed and acknowledged, streams are told to end, and calls under way may do so for
// ten seconds. It is called once.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	// Web pages cannot speak HTTP/2 without TLS: no script in a browser reaches this server,
	// whatever its name.
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	connections := newCrowd(time.Now)
	server := &http.Server{
		Handler: s.handler(), Protocols: protocols, ReadHeaderTimeout: headerTime,
		IdleTimeout: idleTime, HTTP2: &http.HTTP2Config{MaxConcurrentStreams: maxStreams}, ConnState: connections.note, ConnContext: connections.keep,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		close(s.stopping)
		return s.end(errors.Join(err, server.Close()))
	case <-ctx.Done():
	}
	close(s.stopping)
	// ctx has ended; the calls under way have a time of their own
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	err := server.Shutdown(last)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close()
	}
	if e := <-ended; !errors.Is(e, http.ErrServerClosed) {
		err = errors.Join(err, e)
	}
	return s.end(err)
}

// end waits for the calls that outlived their connections, lets no more begin, and
// returns err.
func (s *Server) end(err error) error {
	s.calls.Lock()
	defer s.calls.Unlock()
	s.ended = true
	return err
}

// counted lets end wait for the calls of h.
func (s *Server) counted(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.calls.RLock()
		defer s.calls.RUnlock()
		if s.ended {
			http.Error(w, errStopped.Error(), http.StatusServiceUnavailable)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// service is how the API's calls are named on the wire.
const service = "/urlfrontier.URLFrontier/"

// handler routes the nineteen calls.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	unary(s, mux, "ListNodes", s.listNodes)
	unary(s, mux, "ListCrawls", s.listCrawls)
	unary(s, mux, "ListQueues", s.listQueues)
	unary(s, mux, "GetStats", s.getStats)
	unary(s, mux, "GetURLStatus", s.getURLStatus)
	unary(s, mux, "CountURLs", s.countURLs)
	unary(s, mux, "DeleteCrawl", s.deleteCrawl)
	unary(s, mux, "DeleteQueue", s.deleteQueue)
	unary(s, mux, "PurgeURLs", s.purgeURLs)
	unary(s, mux, "BlockQueueUntil", s.blockQueueUntil)
	unary(s, mux, "SetDelay", s.setDelay)
	unary(s, mux, "SetCrawlLimit", s.setCrawlLimit)
	unary(s, mux, "SetActive", s.setActive)
	unary(s, mux, "GetActive", s.getActive)
	unary(s, mux, "SetLogLevel", s.setLogLevel)
	streamed(s, mux, "GetURLs", s.getURLs)
	streamed(s, mux, "ListURLs", s.listURLs)
	both(s, mux, "PutURLs", s.putURLs)
	both(s, mux, "PutDiscovered", s.putDiscovered)
	return s.counted(reachable(mux))
}

// options are those of each call. A panic is the answer to one call, not the end of all.
func (s *Server) options(name string) []connect.HandlerOption {
	return []connect.HandlerOption{
		connect.WithReadMaxBytes(maxMessageBytes),
		connect.WithRecover(func(_ context.Context, _ connect.Spec, _ http.Header, r any) error {
			s.log.Error("call panicked", "call", name, "err", fmt.Sprint(r))
			return connect.NewError(connect.CodeInternal, fmt.Errorf("%s: internal error of the frontier; see its log", name))
		}),
	}
}

func unary[In, Out any](s *Server, mux *http.ServeMux, name string, do func(context.Context, *In) (*Out, error)) {
	mux.Handle(service+name, connect.NewUnaryHandler(service+name, func(ctx context.Context, r *connect.Request[In]) (*connect.Response[Out], error) {
		out, err := do(ctx, r.Msg)
		s.log.Debug("call", "call", name, "err", err)
		if err != nil {
			return nil, coded(err)
		}
		return connect.NewResponse(out), nil
	}, s.options(name)...))
}

func streamed[In, Out any](s *Server, mux *http.ServeMux, name string, do func(context.Context, *In, func(*Out) error) error) {
	mux.Handle(service+name, connect.NewServerStreamHandler(service+name, func(ctx context.Context, r *connect.Request[In], to *connect.ServerStream[Out]) error {
		err := do(ctx, r.Msg, to.Send)
		s.log.Debug("call", "call", name, "err", err)
		return coded(err)
	}, s.options(name)...))
}

func both[In, Out any](s *Server, mux *http.ServeMux, name string, do func(context.Context, *connect.BidiStream[In, Out]) error) {
	mux.Handle(service+name, connect.NewBidiStreamHandler(service+name, func(ctx context.Context, stream *connect.BidiStream[In, Out]) error {
		err := do(ctx, stream)
		s.log.Debug("call", "call", name, "err", err)
		return coded(err)
	}, s.options(name)...))
}

// coded gives an error the code by which clients tell what to do.
func coded(err error) error {
	var has *connect.Error
	switch {
	case err == nil, errors.As(err, &has):
		return err
	case errors.Is(err, errStopped):
		return connect.NewError(connect.CodeUnavailable, err)
	}
	return connect.NewError(connect.CodeInternal, err)
}

// notFound is the answer about what there is not.
func notFound(format string, args ...any) error {
	return connect.NewError(connect.CodeNotFound, fmt.Errorf(format, args...))
}

var empty = new(api.Empty)
