package bus

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"fossick/crawler/cluster"
	"fossick/internal/testkit"
)

// BenchmarkMessages measures messages between two agents, on one server and on two of three with
// TLS. Like the protocol's acknowledgements, the receiver lets the sender run 64 messages ahead.
func BenchmarkMessages(b *testing.B) {
	for _, size := range []int{1 << 10, 100 << 10} {
		b.Run(fmt.Sprintf("one/%d", size), func(b *testing.B) {
			s := alone(b, b.TempDir())
			pump(b, opened(b, Options{Agent: agentID(0), Server: s}), opened(b, Options{Agent: agentID(1), Server: s}), size)
		})
		b.Run(fmt.Sprintf("three/%d", size), func(b *testing.B) {
			c := newThree(b)
			ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
			defer cancel()
			deliver(ctx, b, c.agents[0], c.agents[1], agentID(1), []byte("x"))
			deliver(ctx, b, c.agents[1], c.agents[0], agentID(0), []byte("x"))
			pump(b, c.agents[0], c.agents[1], size)
		})
	}
}

func pump(b *testing.B, from, to cluster.Exchange, size int) {
	const ahead = 64
	message := make([]byte, size)
	ctx := b.Context()
	b.SetBytes(int64(size))
	b.ReportAllocs()
	got := make(chan struct{}, ahead)
	done := make(chan error)
	go func() {
		for range b.N {
			if _, err := to.Receive(ctx); err != nil {
				done <- err
				return
			}
			<-got
		}
		done <- nil
	}()
	b.ResetTimer()
	for range b.N {
		got <- struct{}{}
		testkit.Must(b, from.Send(ctx, agentID(1), message))
	}
	if err := <-done; err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
}

// BenchmarkSwap measures one writer of 100-byte values, on one server and on three, with and
// without disk sync.
func BenchmarkSwap(b *testing.B) {
	for _, unsynced := range []bool{false, true} {
		b.Run(fmt.Sprintf("one/unsynced=%v", unsynced), func(b *testing.B) {
			s := testkit.Call(Serve(ServeOptions{Crawl: "bees", Agent: agentID(1000), Dir: b.TempDir(), unsynced: unsynced})).Must(b)
			defer closed(b, s)
			swaps(b, opened(b, Options{Agent: agentID(0), Server: s}))
		})
		b.Run(fmt.Sprintf("three/unsynced=%v", unsynced), func(b *testing.B) { swaps(b, newThreeSynced(b, unsynced).agents[0]) })
	}
}

func swaps(b *testing.B, e *Bus) {
	value := make([]byte, 100)
	var took, reads []time.Duration
	revision := uint64(0)
	for b.Loop() {
		begun := time.Now()
		var err error
		if revision, err = e.Swap(b.Context(), "key", value, revision); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(begun))
		begun = time.Now()
		testkit.Call(e.Values(b.Context())).Must(b)
		reads = append(reads, time.Since(begun))
	}
	for name, all := range map[string][]time.Duration{"swap": took, "values": reads} {
		slices.Sort(all)
		b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, name+"-p50-ms")
		b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, name+"-p99-ms")
	}
}

// BenchmarkServe measures the start of a server until its first value, and its memory.
func BenchmarkServe(b *testing.B) {
	for b.Loop() {
		before := heap()
		s := testkit.Call(Serve(ServeOptions{Crawl: "bees", Agent: agentID(1000), Dir: b.TempDir()})).Must(b)
		e := testkit.Call(Open(b.Context(), Options{Crawl: "bees", Agent: agentID(0), Server: s})).Must(b)
		b.StopTimer()
		b.ReportMetric(float64(heap()-before)/(1<<20), "MiB")
		closed(b, e)
		closed(b, s)
		b.StartTimer()
	}
}

// heap returns the memory in use after a collection.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

// BenchmarkStream measures what messages would cost if servers stored three copies, up to 64
// ahead of their acknowledgements. Delivery to a reader is not included.
func BenchmarkStream(b *testing.B) {
	for _, unsynced := range []bool{false, true} {
		b.Run(fmt.Sprintf("three/unsynced=%v", unsynced), func(b *testing.B) {
			js := testkit.Call(jetstream.New(newThreeSynced(b, unsynced).agents[0].conn, jetstream.WithPublishAsyncMaxPending(64))).Must(b)
			config := jetstream.StreamConfig{Name: "bench", Subjects: []string{"bench.>"}, Replicas: 3, MaxBytes: 64 << 20}
			testkit.Call(js.CreateStream(b.Context(), config)).Must(b)
			message := make([]byte, 1<<10)
			b.SetBytes(1 << 10)
			b.ResetTimer()
			for range b.N {
				testkit.Call(js.PublishAsync("bench.x", message, jetstream.WithStallWait(time.Minute))).Must(b)
			}
			<-js.PublishAsyncComplete()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
		})
	}
}
