package urlfrontier

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fossick/crawler/urlfrontier/api"
	"fossick/internal/testkit"
)

// TestNamesOfCrawls: the number of crawls is bounded, as each costs a scorer.
func TestNamesOfCrawls(t *testing.T) {
	class := testkit.Tries(t, "frontiers without measure")
	var made atomic.Int64
	r := run(t, t.TempDir(), Options{Scorer: func(string) Scorer { made.Add(1); return byHash{} }})
	var items []*api.URLItem
	for i := range maxCrawls + 500 {
		items = append(items, &api.URLItem{Item: &api.URLItem_Discovered{Discovered: &api.DiscoveredURLItem{Info: &api.URLInfo{Url: fmt.Sprintf("http://a.test/%d", i), CrawlID: fmt.Sprint("crawl", i)}}}})
	}
	ok := 0
	for _, ack := range exchange[api.AckMessage](r.client, "PutURLs", items) {
		if ack.GetStatus() == api.AckMessage_OK {
			ok++
		} else if ack.GetStatus() != api.AckMessage_FAIL {
			t.Errorf("%v", ack)
		}
	}
	class.Try(ok == maxCrawls && made.Load() == maxCrawls, "%d of %d names are taken, %d scorers", ok, len(items), made.Load())
}

// TestIdleConnections: silent connections lock no client out.
func TestIdleConnections(t *testing.T) {
	class := testkit.Tries(t, "frontiers without measure")
	r := run(t, t.TempDir(), Options{})
	addr := r.conn.Target()
	for range 2 * maxConnections {
		conn := testkit.Call(net.Dial("tcp", addr)).Must(t)
		defer conn.Close()
	}
	began := time.Now()
	ask[api.Stats](dial(t, addr), "GetStats", &api.QueueWithinCrawlParams{})
	took := time.Since(began)
	class.Try(took < time.Second, "a client waits %v behind %d idle connections", took, 2*maxConnections)
}

// TestBytesInFlight: many streams of large URLs finish, though not all fit in flight, and another
// client is served meanwhile.
func TestBytesInFlight(t *testing.T) {
	class := testkit.Tries(t, "frontiers without measure")
	r := run(t, t.TempDir(), Options{})
	large := map[string]*api.StringList{"x": {Values: []string{strings.Repeat("x", 250<<10)}}}
	done := make(chan struct{})
	var slowest time.Duration
	var watch sync.WaitGroup
	watch.Go(func() {
		good := dial(t, r.conn.Target())
		for {
			began := time.Now()
			ask[api.Stats](good, "GetStats", &api.QueueWithinCrawlParams{})
			slowest = max(slowest, time.Since(began))
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
	var streams sync.WaitGroup
	for s := range 16 {
		streams.Go(func() {
			c := dial(t, r.conn.Target())
			var items []*api.URLItem
			for i := range 100 {
				items = append(items, &api.URLItem{Item: &api.URLItem_Discovered{Discovered: &api.DiscoveredURLItem{Info: &api.URLInfo{Url: fmt.Sprintf("http://a.test/%d/%d", s, i), Metadata: large}}}})
			}
			exchange[api.AckMessage](c, "PutURLs", items)
		})
	}
	streams.Wait()
	close(done)
	watch.Wait()
	class.Try(slowest < 5*time.Second, "another client waits %v", slowest) // one second on an idle machine
}

type closing struct {
	net.Conn
	closed bool
}

func (c *closing) Close() error {
	c.closed = true
	return nil
}

// TestQuietStreams: if no connection is idle, a new one replaces the one silent longest, if for a
// minute or more.
func TestQuietStreams(t *testing.T) {
	now := time.Unix(0, 0)
	c := newCrowd(func() time.Time { return now })
	var all []*closing
	open := func() *closing {
		conn := &closing{}
		all = append(all, conn)
		c.note(conn, http.StateNew)
		if !conn.closed {
			c.note(conn, http.StateActive)
		}
		return conn
	}
	for range maxConnections {
		open()
		now = now.Add(time.Millisecond)
	}
	now = now.Add(idleTime / 2)
	c.said(all[0])
	if late := open(); !late.closed {
		t.Error("a connection came in place of one that spoke lately")
	} else {
		c.note(late, http.StateClosed)
	}
	now = now.Add(idleTime / 2)
	if late := open(); late.closed || !all[1].closed || all[0].closed {
		t.Errorf("after a minute: the new one is closed: %v, the quietest: %v, one that spoke since: %v", late.closed, all[1].closed, all[0].closed)
	}
}

// TestCallsAreHeard: a message of a call counts for its connection.
func TestCallsAreHeard(t *testing.T) {
	now := time.Unix(0, 0)
	c := newCrowd(func() time.Time { return now })
	var spoke []time.Time
	s := httptest.NewUnstartedServer(reachable(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		now = now.Add(time.Hour)
		heard(r.Context())
		for _, at := range c.busy {
			spoke = append(spoke, at)
		}
	})))
	s.Config.ConnState, s.Config.ConnContext = c.note, c.keep
	s.Start()
	defer s.Close()
	r := testkit.Call(http.Get(s.URL)).Must(t)
	_ = r.Body.Close()
	if len(spoke) != 1 || !spoke[0].Equal(now) {
		t.Errorf("the connection spoke at %v, want %v", spoke, now)
	}
}
