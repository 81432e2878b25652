package urlfrontier

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"fossick/crawler/urlfrontier/api"
)

// How much of a stream may wait for the disk, before no more is read from it: the client
// then waits too.
const (
	urlsInFlight    = 1024
	batchesInFlight = 16
	bytesInFlight   = 32 << 20 // of all streams, in the order in which they came
)

// putURLs takes in URLs one by one.
func (s *Server) putURLs(ctx context.Context, stream *connect.BidiStream[api.URLItem, api.AckMessage]) error {
	return pump(ctx, s, stream, urlsInFlight, func(item *api.URLItem) *job {
		p, name := s.f.readItem(item)
		return &job{name: name, puts: []put{p}}
	}, func(j *job) *api.AckMessage {
		return &api.AckMessage{ID: j.name, Status: j.puts[0].status}
	})
}

// putDiscovered takes in batches.
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

// pump hands what a stream says to the writer, and answers when it is on disk, in the
// order in which it came. It returns when the goroutine that reads has ended.
func pump[In, Out any](ctx context.Context, s *Server, stream *connect.BidiStream[In, Out], room int, read func(*In) *job, answer func(*job) *Out) error {
	done := make(chan *job, room) // has room for all that is in flight: the writer never waits
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
					interrupt(ctx) // nobody hears the answers
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

// receive reads a stream to its end, and counts the jobs that the writer has of it.
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

// itemBytes is about what a message takes beside its own bytes.
const itemBytes = 1 << 10

// reach is how the goroutine that reads a stream is reached.
type reach struct{}

// reachable lets interrupt end the reading of requests of h.
func reachable(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		heard(r.Context())
		h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), reach{}, http.NewResponseController(w))))
	})
}

// interrupt has the reading of a stream's request fail, now and from now on.
func interrupt(ctx context.Context) {
	if c, ok := ctx.Value(reach{}).(*http.ResponseController); ok {
		_ = c.SetReadDeadline(time.Unix(1, 0)) // of a request that has ended it does not matter
	}
}
