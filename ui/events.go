package ui

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"fossick/crawler/control"
	"fossick/store"
)

// The stream of events. Each client has its goroutine, that of its request, which looks every tick for
// what is new and sends the latest. So a slow client misses what lies between, holds up nobody, and
// the crawl's owner does nothing for any of them.
const (
	tick        = 250 * time.Millisecond
	statusEvery = 500 * time.Millisecond
	restEvery   = time.Second
	restsShare  = 400              // reading the hosts takes at most one part in so many of the time
	alive       = 15 * time.Second // between two signs of life
	restWatch   = time.Second      // between two looks whether a crawl has begun

	rowsAtOnce = 25
	restsShown = 50
	stallsIn   = 10 * time.Second // a write to a client that does not read
)

// stream is what all clients share: each part is made at most once per interval.
type stream struct {
	mu sync.Mutex // guards the fields below, held while one is made

	status   []byte
	statusAt time.Time

	rows   []numberedRow // of the last numbers, the newest last
	until  uint64
	rowsAt time.Time

	rests    []restingHost
	restsAt  time.Time
	restsFor time.Duration // how long they took to read
}

// numberedRow is what a number of pages shows: nothing, if it is of a copy.
type numberedRow struct {
	number uint64
	row    *Row
}

// restingHost is a host that rests longer than every host does.
type restingHost struct {
	Host  string    `json:"host"`
	Until time.Time `json:"until"`
	Why   string    `json:"why"`
}

// events answers GET /events.
func (f *Interface) events(w http.ResponseWriter, r *http.Request) {
	c := client{w: w, control: http.NewResponseController(w)}
	_ = c.control.SetReadDeadline(time.Time{}) // the server's limit is for the request
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	c.write(": fossick\n\n")
	if f.crawl == nil {
		f.restEvents(r.Context(), &c)
	} else {
		f.crawlEvents(r.Context(), &c)
	}
}

// client is one reader of events.
type client struct {
	w       http.ResponseWriter
	control *http.ResponseController
	failed  bool
	wrote   time.Time
}

func (c *client) write(text string) {
	if c.failed {
		return
	}
	_ = c.control.SetWriteDeadline(time.Now().Add(stallsIn))
	_, err := c.w.Write([]byte(text))
	if err == nil {
		err = c.control.Flush()
	}
	c.failed, c.wrote = err != nil, time.Now()
}

func (c *client) send(name string, v any) {
	text, ok := v.([]byte)
	if !ok {
		var err error
		if text, err = json.Marshal(v); err != nil {
			return // our own types
		}
	}
	c.write(fmt.Sprintf("event: %s\ndata: %s\n\n", name, text))
}

func (c *client) sign() {
	if time.Since(c.wrote) >= alive {
		c.write(": \n\n")
	}
}

// restEvents sends the state of a store at rest once, and ends when a crawl begins, so that the client
// comes again and reaches the crawl.
func (f *Interface) restEvents(ctx context.Context, c *client) {
	ticks := time.NewTicker(restWatch)
	defer ticks.Stop()
	for sent := false; !c.failed && !control.HasSocket(f.dir); {
		if !sent { // another command may have the store
			sent = f.sendRest(ctx, c)
		}
		if !f.wait(ctx, ticks) {
			return
		}
		c.sign()
	}
}

// wait waits for a tick. It returns false if the client, the interface or the crawl ends before.
func (f *Interface) wait(ctx context.Context, ticks *time.Ticker) bool {
	select {
	case <-ctx.Done():
		return false
	case <-f.ctx.Done():
		return false
	case <-f.Ended():
		return false
	case <-ticks.C:
		return true
	}
}

func (f *Interface) sendRest(ctx context.Context, c *client) bool {
	relevant, err := f.relevant(ctx)
	if err != nil {
		return false
	}
	status, err := f.statusNow(ctx, relevant)
	if err != nil {
		return false
	}
	c.send("status", status)
	return true
}

// crawlEvents sends what a running crawl does, until it ends or the client leaves.
func (f *Interface) crawlEvents(ctx context.Context, c *client) {
	ticks := time.NewTicker(tick)
	defer ticks.Stop()
	sent := f.lastPage(ctx)
	var statusAt, restsAt time.Time
	for !c.failed {
		if time.Since(statusAt) >= statusEvery {
			statusAt = time.Now()
			c.send("status", f.stream.statusOf(ctx, f.crawl))
		}
		if rows, until := f.latest(ctx); until > sent {
			if event := newer(rows, sent, until); len(event.Pages)+event.Skipped > 0 {
				c.send("pages", event)
			}
			sent = until
		}
		if time.Since(restsAt) >= restEvery {
			restsAt = time.Now()
			c.send("rest", restEvent{f.resting(ctx)})
		}
		c.sign()
		if !f.wait(ctx, ticks) {
			return
		}
	}
}

type pagesEvent struct {
	Pages   []Row `json:"pages"`
	Skipped int   `json:"skipped"` // pages that came meanwhile and are not here
}

// newer returns the pages after the number sent.
func newer(rows []numberedRow, sent, until uint64) pagesEvent {
	e := pagesEvent{[]Row{}, int(until - sent)}
	for _, r := range rows {
		if r.number > sent {
			if e.Skipped--; r.row != nil {
				e.Pages = append(e.Pages, *r.row)
			}
		}
	}
	return e
}

type restEvent struct {
	Hosts []restingHost `json:"hosts"`
}

func (t *stream) statusOf(ctx context.Context, c *Crawl) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	if time.Since(t.statusAt) >= statusEvery-tick/2 {
		t.status, _ = json.Marshal(c.status(ctx)) // our own type
		t.statusAt = time.Now()
	}
	return t.status
}

// lastPage returns the number of the page that was stored last; 0 if the store cannot tell now.
func (f *Interface) lastPage(ctx context.Context) uint64 {
	s, done, err := f.Open(ctx)
	if err != nil {
		return 0
	}
	defer done()
	counts, err := s.Counts()
	if err != nil {
		return 0
	}
	return counts.LastPage()
}

// latest returns the pages stored last, at most rowsAtOnce, and the number of the last one.
func (f *Interface) latest(ctx context.Context) ([]numberedRow, uint64) {
	t := &f.stream
	t.mu.Lock()
	defer t.mu.Unlock()
	if time.Since(t.rowsAt) < tick-tick/8 {
		return t.rows, t.until
	}
	t.rowsAt = time.Now()
	s, done, err := f.Open(ctx)
	if err != nil {
		return t.rows, t.until // between two sessions
	}
	defer done()
	counts, err := s.Counts()
	if err != nil {
		return t.rows, t.until
	}
	last := counts.LastPage()
	from := max(t.until, last-min(last, rowsAtOnce))
	if from == last {
		return t.rows, t.until
	}
	rows := slices.Clone(t.rows)
	sc := scan{x: &f.index, topic: s.Info().Topic}
	for n := from + 1; n <= last; n++ {
		one := numberedRow{number: n}
		if p, err := s.Page(n); err == nil && !p.Withdrawn && p.SameAs == "" {
			row := f.shownPage(sc.row(p, nil), p)
			one.row = &row
		}
		rows = append(rows, one)
	}
	t.rows, t.until = rows[max(0, len(rows)-rowsAtOnce):], last
	return t.rows, t.until
}

// resting returns the hosts that rest for a reason of their own, the longest rest first. It reads all
// hosts, so that it is repeated the less often the more there are.
func (f *Interface) resting(ctx context.Context) []restingHost {
	t := &f.stream
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.restsAt.IsZero() && time.Since(t.restsAt) < max(restEvery-tick/2, restsShare*t.restsFor) {
		return t.rests
	}
	s, done, err := f.Open(ctx)
	if err != nil {
		return t.rests
	}
	defer done()
	began := time.Now()
	if rests, err := restsOf(ctx, s, began); err == nil {
		t.rests = rests
	}
	t.restsAt, t.restsFor = time.Now(), time.Since(began)
	return t.rests
}

func restsOf(ctx context.Context, s *store.Store, now time.Time) ([]restingHost, error) {
	rests := []restingHost{}
	for h, err := range s.Hosts() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		if until, why := restOf(h, now); until != nil && h.RestFor != "" {
			rests = append(rests, restingHost{h.Name, *until, *why})
		}
	}
	slices.SortFunc(rests, func(a, b restingHost) int { return b.Until.Compare(a.Until) })
	return rests[:min(restsShown, len(rests))], nil
}
