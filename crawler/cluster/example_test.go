package cluster_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"fossick/crawler/cluster"
)

// board is an exchange of one agent; cluster/local and cluster/bus have real ones.
type board struct {
	mu     sync.Mutex
	values map[string]cluster.Value
	last   uint64
	box    chan []byte
}

func (b *board) Send(ctx context.Context, to cluster.AgentID, message []byte) error {
	select {
	case b.box <- message:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (b *board) Receive(ctx context.Context) ([]byte, error) {
	select {
	case message := <-b.box:
		return message, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (b *board) Swap(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.values[key].Revision != revision {
		return 0, cluster.ErrRevision
	}
	b.last++
	b.values[key] = cluster.Value{Bytes: value, Revision: b.last}
	return b.last, nil
}

func (b *board) Values(ctx context.Context, keys ...string) (map[string]cluster.Value, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	some := map[string]cluster.Value{}
	for key, v := range b.values {
		if len(keys) == 0 || slices.Contains(keys, key) {
			some[key] = v
		}
	}
	return some, nil
}

func (b *board) Close() error { return nil }

// onePage is an engine whose web is one page with one link.
type onePage struct {
	agent  *cluster.Agent
	report cluster.Report
	parcel []cluster.Parcel
	ended  chan string
}

var home, away = cluster.PartitionOf("home.example"), cluster.PartitionOf("away.example")

func (e *onePage) Recover() (cluster.Recovered, error) { return cluster.Recovered{}, nil }
func (e *onePage) Report() cluster.Report              { return e.report }

// Own fetches the page as soon as its partition is there, and queues its link. That partition
// is the same agent's, but nobody else knows yet that it has its state, so the link is a parcel.
func (e *onePage) Own(gained []cluster.Holding, lost, passed []cluster.Partition) {
	for _, g := range gained {
		e.report.Epoch = max(e.report.Epoch, g.Epoch)
		if g.Partition == home {
			fmt.Println("home is ours; does its link stay here?", e.agent.Ours(away))
			e.report.Pages, e.report.Outbox, e.report.Moves = 1, 1, 1
			e.parcel = []cluster.Parcel{{Number: 1, Bytes: []byte("away.example")}}
			e.agent.Queued(away, 1)
		}
	}
}

func (e *onePage) Release(p cluster.Partition, epoch uint64) { e.agent.Released(p, epoch) }

func (e *onePage) Outbox(p cluster.Partition, after uint64, bytes int) ([]cluster.Parcel, error) {
	if p != away || after > 0 {
		return nil, nil
	}
	return e.parcel, nil
}

func (e *onePage) Trim(p cluster.Partition, upto uint64) {
	fmt.Println("acknowledged")
	e.report.Outbox = 0
}

func (e *onePage) Take(d cluster.Delivery) {
	if e.report.Moves == 1 {
		fmt.Printf("a link to %s, and it may be fetched: ", d.Parcels[0].Bytes)
		_, ok := e.agent.May(d.Partition)
		fmt.Println(ok)
		e.report.Moves++
		e.report.Pages++
	}
	e.agent.Taken(d, true)
}

func (e *onePage) Allow(pages int64, price float64) { e.report.Allowed = pages }
func (e *onePage) Keeper(cluster.AgentID)           {}
func (e *onePage) Outlive(cluster.AgentID)          {}
func (e *onePage) Hear(cluster.AgentID, []byte)     {}
func (e *onePage) End(why string)                   { e.ended <- why }

// One agent makes a crawl of two pages, and finds that there is no more.
func ExampleNewAgent() {
	engine := &onePage{ended: make(chan string, 1)}
	engine.agent = cluster.NewAgent(cluster.Options{
		ID: "00000000000000a1", Lease: 300 * time.Millisecond, Resend: 50 * time.Millisecond, Fresh: true,
	}, &board{values: map[string]cluster.Value{}, box: make(chan []byte, 100)}, engine)
	if err := engine.agent.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
	fmt.Println("ended:", <-engine.ended == cluster.EndedEmpty)
	// Output:
	// home is ours; does its link stay here? false
	// a link to away.example, and it may be fetched: true
	// acknowledged
	// ended: true
}
