package member

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"fossick/crawler"
	"fossick/crawler/cluster"
	"fossick/crawler/cluster/local"
	"fossick/graph/orders"
	"fossick/store"
)

// counted is an exchange that counts what is sent.
type counted struct {
	cluster.Exchange
	bytes *atomic.Int64
}

func (c counted) Send(ctx context.Context, to cluster.AgentID, message []byte) error {
	c.bytes.Add(int64(len(message)))
	return c.Exchange.Send(ctx, to, message)
}

// BenchmarkReplicate crawls 20,000 pages by two agents in a process, which share its cores:
// what a replica costs them, and what it takes of the network.
func BenchmarkReplicate(b *testing.B) {
	const sites, pages = 100, 200
	for _, c := range []struct {
		name              string
		replicate, bodies bool
	}{{"none", false, false}, {"state", true, false}, {"bodies", true, true}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				var sent atomic.Int64
				hub, began := local.New(), time.Now()
				done := make(chan error)
				total := 0
				var stores []*store.Store
				for _, id := range []cluster.AgentID{"aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb"} {
					s, err := store.Create(b.TempDir(), store.Info{Agent: string(id)})
					if err != nil {
						b.Fatal(err)
					}
					stores = append(stores, s)
					order, err := orders.OrderingByName("relevance")
					if err != nil {
						b.Fatal(err)
					}
					exchange, err := hub.Open(id)
					if err != nil {
						b.Fatal(err)
					}
					m, err := New(Options{
						Crawl: crawler.Options{Store: s, Fetcher: &web{sites: sites, pages: pages, quick: true}, Scorer: alike{}, Ordering: order,
							Seeds: []string{"http://s0.test/0"}, Workers: 16, Delay: crawler.Delay{Fixed: true},
							Replicate: c.replicate, ReplicateBodies: c.bodies},
						Protocol: cluster.Options{ID: id, Fresh: true, Lease: 3 * time.Second, Longest: time.Second},
						Exchange: counted{exchange, &sent},
					})
					if err != nil {
						b.Fatal(err)
					}
					go func() {
						_, err := m.Run(b.Context())
						done <- err
					}()
				}
				b.ReportMetric(0, "ns/op")
				if err := errors.Join(<-done, <-done); err != nil {
					b.Fatal(err)
				}
				took := time.Since(began)
				for _, s := range stores {
					n, err := s.Counts()
					if err = errors.Join(err, s.Close()); err != nil {
						b.Fatal(err)
					}
					total += int(n.Pages)
				}
				if total != sites*pages {
					b.Fatal(fmt.Errorf("%d pages", total))
				}
				b.ReportMetric(float64(total)/took.Seconds(), "pages/s")
				b.ReportMetric(float64(sent.Load())/float64(total), "B/page")
			}
		})
	}
}
