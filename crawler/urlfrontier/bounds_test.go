package urlfrontier

import (
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fossick/crawler/urlfrontier/api"
	"fossick/internal/tries"
)

// TestNamesOfCrawls: names of crawls are few, as each costs a scorer.
func TestNamesOfCrawls(t *testing.T) {
	class := tries.Of(t, "frontiers without measure")
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

// TestIdleConnections: connections that say nothing keep no client out, nor waiting.
func TestIdleConnections(t *testing.T) {
	class := tries.Of(t, "frontiers without measure")
	r := run(t, t.TempDir(), Options{})
	addr := r.conn.Target()
	for range 2 * maxConnections {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	began := time.Now()
	ask[api.Stats](dial(t, addr), "GetStats", &api.QueueWithinCrawlParams{})
	took := time.Since(began)
	class.Try(took < time.Second, "a client waits %v behind %d idle connections", took, 2*maxConnections)
}

// TestBytesInFlight: many streams of large URLs come to their end, though not all of them may
// be in flight, and another client is heard meanwhile.
func TestBytesInFlight(t *testing.T) {
	class := tries.Of(t, "frontiers without measure")
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
	class.Try(slowest < 5*time.Second, "another client waits %v", slowest) // a second, where nothing else is at work
}
