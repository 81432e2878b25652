package urlfrontier

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"connectrpc.com/connect"
	"golang.org/x/sync/semaphore"
	"google.golang.org/protobuf/proto"

	"fossick/crawler/urlfrontier/api"
)

const (
	maxConnections  = 256
	maxStreams      = 64 // concurrent calls of a connection
	idleTime        = time.Minute
	maxMessageBytes = 4 << 20 // the default of gRPC servers
	grace           = 10 * time.Second
	headerTime      = 10 * time.Second
)

// Server serves the API for a Frontier.
type Server struct {
	f        *Frontier
	log      *slog.Logger
	level    *atomic.Pointer[slog.Level]
	address  string
	stopping chan struct{} // closed when the server accepts nothing more
	inFlight *semaphore.Weighted

	calls sync.RWMutex // read-locked by each call; guards ended
	ended bool
}

// NewServer returns a server that reports address, HOST:PORT, as its own.
func NewServer(f *Frontier, address string) *Server {
	level := new(atomic.Pointer[slog.Level])
	return &Server{
		f: f, address: address, level: level, stopping: make(chan struct{}), inFlight: semaphore.NewWeighted(bytesInFlight),
		log: slog.New(levelled{f.opt.Logger.Handler(), level}),
	}
}

// Serve serves on a listener until ctx ends. It then commits and acknowledges what has arrived,
// ends streams, and gives calls ten seconds. Call it once.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	// No web page can use HTTP/2 without TLS, so no script in a browser reaches this server.
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

// end waits for calls that survived their connections, allows no more, and returns err.
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

const service = "/urlfrontier.URLFrontier/"

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

// options returns the options of each call. A panic fails only its own call.
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

// coded adds the gRPC code by which clients know what to do.
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

func notFound(format string, args ...any) error {
	return connect.NewError(connect.CodeNotFound, fmt.Errorf(format, args...))
}

var empty = new(api.Empty)

// These calls ignore the parameter local, as there is only one node.

func (s *Server) listNodes(_ context.Context, _ *api.Empty) (*api.StringList, error) {
	return &api.StringList{Values: []string{s.address}}, nil
}

func (s *Server) listCrawls(_ context.Context, _ *api.Local) (*api.StringList, error) {
	return &api.StringList{Values: s.f.crawls()}, nil
}

func (s *Server) listQueues(_ context.Context, r *api.Pagination) (*api.QueueList, error) {
	crawl := crawlOf(r.GetCrawlID())
	keys, total := s.f.listQueues(crawl, int(r.GetStart()), int(cmp.Or(r.GetSize(), defaultPage)), r.GetIncludeInactive())
	return &api.QueueList{Values: keys, Total: uint64(total), Start: r.GetStart(), Size: uint32(len(keys)), CrawlID: crawl}, nil
}

func (s *Server) getStats(_ context.Context, r *api.QueueWithinCrawlParams) (*api.Stats, error) {
	crawl := crawlOf(r.GetCrawlID())
	n, err := s.f.stats(crawl, r.GetKey())
	if err != nil {
		return nil, err
	}
	return &api.Stats{
		Size: uint64(n.Waiting), InProcess: uint32(n.HandedOut), NumberOfQueues: uint64(n.Queues), CrawlID: crawl,
		Counts: map[string]uint64{"completed": uint64(n.Completed), "active_queues": uint64(n.Active)},
	}, nil
}

func (s *Server) getURLStatus(_ context.Context, r *api.URLStatusRequest) (*api.URLItem, error) {
	crawl, key := crawlOf(r.GetCrawlID()), cmp.Or(r.GetKey(), keyOf(r.GetUrl()))
	if key == "" {
		return nil, connect.NewError(connect.CodeInvalidArgument, fmt.Errorf("%q has no host; give its key", r.GetUrl()))
	}
	item, err := s.f.find(crawl, key, r.GetUrl())
	if err == nil && item == nil {
		err = notFound("%s is not in queue %s of crawl %s", r.GetUrl(), key, crawl)
	}
	return item, err
}

func (s *Server) countURLs(ctx context.Context, r *api.CountUrlParams) (*api.Long, error) {
	n := uint64(0)
	err := s.f.walk(ctx, crawlOf(r.GetCrawlID()), r.GetKey(), r.GetFilter(), r.GetIgnoreCase(), func([]byte, header, *api.URLInfo) error {
		n++
		return nil
	})
	return &api.Long{Value: n}, err
}

func (s *Server) deleteCrawl(_ context.Context, r *api.DeleteCrawlMessage) (*api.Long, error) {
	n, err := s.f.deleteQueues(crawlOf(r.GetValue()), "", true)
	return &api.Long{Value: uint64(n)}, err
}

func (s *Server) deleteQueue(_ context.Context, r *api.QueueWithinCrawlParams) (*api.Long, error) {
	n, err := s.f.deleteQueues(crawlOf(r.GetCrawlID()), r.GetKey(), false)
	return &api.Long{Value: uint64(n)}, err
}

const secondsOfDay = 24 * 60 * 60

func (s *Server) purgeURLs(_ context.Context, r *api.PurgeUrlParams) (*api.Long, error) {
	n, err := s.f.purge(crawlOf(r.GetCrawlID()), r.GetKey(), s.f.now()-int64(r.GetDays())*secondsOfDay)
	return &api.Long{Value: uint64(n)}, err
}

// Settings of a missing queue are no error, as in other implementations.

func (s *Server) blockQueueUntil(_ context.Context, r *api.BlockQueueParams) (*api.Empty, error) {
	_, err := s.f.setQueue(crawlOf(r.GetCrawlID()), r.GetKey(), func(q *queueSettings) { q.Blocked = seconds(r.GetTime()) })
	return empty, err
}

func (s *Server) setDelay(_ context.Context, r *api.QueueDelayParams) (*api.Empty, error) {
	if r.GetKey() == "" {
		return empty, s.f.setDelay(r.GetDelayRequestable())
	}
	_, err := s.f.setQueue(crawlOf(r.GetCrawlID()), r.GetKey(), func(q *queueSettings) { q.Delay = int64(r.GetDelayRequestable()) })
	return empty, err
}

func (s *Server) setCrawlLimit(_ context.Context, r *api.CrawlLimitParams) (*api.Empty, error) {
	crawl := crawlOf(r.GetCrawlID())
	found, err := s.f.setQueue(crawl, r.GetKey(), func(q *queueSettings) { q.Limit = int(r.GetLimit()) })
	if err == nil && !found {
		err = notFound("crawl %s has no queue %s; a limit is set after its first URL", crawl, r.GetKey())
	}
	return empty, err
}

func (s *Server) setActive(_ context.Context, r *api.Active) (*api.Empty, error) {
	s.f.setActive(r.GetState())
	return empty, nil
}

func (s *Server) getActive(_ context.Context, _ *api.Local) (*api.Boolean, error) {
	return &api.Boolean{State: s.f.active()}, nil
}

func (s *Server) setLogLevel(_ context.Context, r *api.LogLevelParams) (*api.Empty, error) {
	level, ok := levels[r.GetLevel()]
	if !ok {
		return nil, connect.NewError(connect.CodeInvalidArgument, fmt.Errorf("level %d: want 0 (TRACE) to 4 (ERROR)", r.GetLevel()))
	}
	s.level.Store(&level)
	return empty, nil
}

func (s *Server) getURLs(_ context.Context, r *api.GetParams, send func(*api.URLInfo) error) error {
	select {
	case <-s.stopping:
		return nil
	default:
	}
	n, err := s.f.take(r, send)
	s.log.Info("URLs handed out", "urls", n)
	return err
}

func (s *Server) listURLs(ctx context.Context, r *api.ListUrlParams, send func(*api.URLItem) error) error {
	at, last := uint64(0), uint64(r.GetStart())+uint64(cmp.Or(r.GetSize(), defaultPage))
	return s.f.walk(ctx, crawlOf(r.GetCrawlID()), r.GetKey(), r.GetFilter(), r.GetIgnoreCase(), func(_ []byte, h header, info *api.URLInfo) error {
		at++
		if at <= uint64(r.GetStart()) {
			return nil
		}
		if err := send(itemOf(h, info)); err != nil {
			return err
		}
		if at == last {
			return errEnough
		}
		return nil
	})
}

// Beyond these bounds of a stream's items that wait for the disk, the client must wait.
const (
	urlsInFlight    = 1024
	batchesInFlight = 16
	bytesInFlight   = 32 << 20 // of all streams, first come first served
)

func (s *Server) putURLs(ctx context.Context, stream *connect.BidiStream[api.URLItem, api.AckMessage]) error {
	return pump(ctx, s, stream, urlsInFlight, func(item *api.URLItem) *job {
		p, name := s.f.readItem(item)
		return &job{name: name, puts: []put{p}}
	}, func(j *job) *api.AckMessage {
		return &api.AckMessage{ID: j.name, Status: j.puts[0].status}
	})
}

func (s *Server) putDiscovered(ctx context.Context, stream *connect.BidiStream[api.DiscoveredBatch, api.BatchAck]) error {
	return pump(ctx, s, stream, batchesInFlight, func(b *api.DiscoveredBatch) *job {
		j := &job{name: b.GetID(), puts: make([]put, 0, len(b.GetItems()))}
		for _, info := range b.GetItems() {
			j.puts = append(j.puts, s.f.read(info, false, 0))
		}
		return j
	}, func(j *job) *api.BatchAck {
		return &api.BatchAck{ID: j.name, Statuses: j.statuses()}
	})
}

// pump passes a stream's items to the writer, and answers each in order once it is on disk.
func pump[In, Out any](ctx context.Context, s *Server, stream *connect.BidiStream[In, Out], room int, read func(*In) *job, answer func(*job) *Out) error {
	done := make(chan *job, room) // room for all items in flight, so that the writer never blocks
	slots := make(chan struct{}, room)
	type end struct {
		jobs int
		err  error
	}
	ended := make(chan end, 1)
	go func() {
		var e end
		defer func() {
			if r := recover(); r != nil {
				s.log.Error("stream panicked", "err", fmt.Sprint(r))
				e.err = connect.NewError(connect.CodeInternal, errors.New("internal error of the frontier; see its log"))
			}
			ended <- e
		}()
		e.err = receive(ctx, s, stream, slots, done, &e.jobs, read)
	}()
	stopping, all, answered := s.stopping, -1, 0
	var result, failed error
	for all < 0 || answered < all && failed == nil {
		select {
		case j := <-done:
			answered++
			<-slots
			if failed == nil {
				if failed = stream.Send(answer(j)); failed != nil {
					interrupt(ctx) // nobody receives the answers
				}
			}
		case e := <-ended:
			all, result = e.jobs, e.err
		case <-stopping:
			stopping = nil
			interrupt(ctx)
		}
	}
	if failed != nil {
		return failed
	}
	return result
}

// receive reads a stream to its end, and counts the jobs passed to the writer.
func receive[In, Out any](ctx context.Context, s *Server, stream *connect.BidiStream[In, Out], slots chan<- struct{}, done chan<- *job, jobs *int, read func(*In) *job) error {
	for {
		item, err := stream.Receive()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			select {
			case <-s.stopping:
				err = errStopped
			default:
			}
			return err
		}
		heard(ctx)
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		size := itemBytes + int64(proto.Size(any(item).(proto.Message)))
		if err := s.inFlight.Acquire(ctx, size); err != nil {
			return err
		}
		j := read(item)
		j.reply, j.free = done, func() { s.inFlight.Release(size) }
		if err := s.f.submit(j); err != nil {
			j.free()
			return err
		}
		*jobs++
	}
}

// itemBytes is the approximate overhead of an item in memory.
const itemBytes = 1 << 10

// reach is the context key of a request's http.ResponseController.
type reach struct{}

// reachable lets interrupt stop the reading of requests to h.
func reachable(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		heard(r.Context())
		h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), reach{}, http.NewResponseController(w))))
	})
}

// interrupt makes all reading of a stream's request fail from now on.
func interrupt(ctx context.Context) {
	if c, ok := ctx.Value(reach{}).(*http.ResponseController); ok {
		_ = c.SetReadDeadline(time.Unix(1, 0)) // an error only means that the request has ended
	}
}

// crowd limits the number of connections. A new one beyond the limit replaces the one idle
// longest, or else the one silent longest, if for idleTime or more. So silent connections lock
// nobody out, but a quiet stream stays while there is room. Safe for concurrent use.
type crowd struct {
	now func() time.Time

	mu   sync.Mutex // guards the rest
	all  int
	idle map[net.Conn]time.Time // idle since
	busy map[net.Conn]time.Time // with calls under way; time of the last message
}

func newCrowd(now func() time.Time) *crowd {
	return &crowd{now: now, idle: map[net.Conn]time.Time{}, busy: map[net.Conn]time.Time{}}
}

func (c *crowd) note(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateNew:
		c.all++
		if c.all > maxConnections {
			c.evict(conn)
		}
		c.idle[conn] = c.now()
	case http.StateIdle:
		delete(c.busy, conn)
		c.idle[conn] = c.now()
	case http.StateActive:
		delete(c.idle, conn)
		c.busy[conn] = c.now()
	case http.StateClosed, http.StateHijacked:
		delete(c.idle, conn)
		delete(c.busy, conn)
		c.all--
	}
}

func (c *crowd) said(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, in := c.busy[conn]; in {
		c.busy[conn] = c.now()
	}
}

// evict closes the connection idle longest, else silent longest, else the new one.
func (c *crowd) evict(conn net.Conn) {
	out := longest(c.idle, conn, c.now())
	if out == conn {
		out = longest(c.busy, conn, c.now().Add(-idleTime))
	}
	delete(c.idle, out) // later state changes must not count it again
	delete(c.busy, out)
	_ = out.Close()
}

// longest returns the connection that has waited longest, if since before at; else otherwise.
func longest(waiting map[net.Conn]time.Time, otherwise net.Conn, at time.Time) net.Conn {
	found := otherwise
	for conn, since := range waiting {
		if since.Before(at) {
			found, at = conn, since
		}
	}
	return found
}

// connection is the context key and value for a call's connection.
type connection struct {
	crowd *crowd
	conn  net.Conn
}

func (c *crowd) keep(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connection{}, &connection{c, conn})
}

func heard(ctx context.Context) {
	if c, ok := ctx.Value(connection{}).(*connection); ok {
		c.crowd.said(c.conn)
	}
}

// levelled is a log handler whose level clients may set.
type levelled struct {
	slog.Handler
	level *atomic.Pointer[slog.Level]
}

func (h levelled) Enabled(ctx context.Context, level slog.Level) bool {
	if least := h.level.Load(); least != nil {
		return level >= *least
	}
	return h.Handler.Enabled(ctx, level)
}

var levels = map[api.LogLevelParams_Level]slog.Level{
	api.LogLevelParams_TRACE: slog.LevelDebug - 4,
	api.LogLevelParams_DEBUG: slog.LevelDebug,
	api.LogLevelParams_INFO:  slog.LevelInfo,
	api.LogLevelParams_WARN:  slog.LevelWarn,
	api.LogLevelParams_ERROR: slog.LevelError,
}
