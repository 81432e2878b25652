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
)

// BenchmarkMessages: from one agent to another, by one server, or two of three with TLS
// between them. The receiver's word lets the sender run 64 messages ahead, as the protocol's
// acknowledgements do.
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
		if err := from.Send(ctx, agentID(1), message); err != nil {
			b.Fatal(err)
		}
	}
	if err := <-done; err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
}

// BenchmarkSwap: one writer, of a value of 100 bytes, on one server and three, with and
// without the disk.
func BenchmarkSwap(b *testing.B) {
	for _, unsynced := range []bool{false, true} {
		b.Run(fmt.Sprintf("one/unsynced=%v", unsynced), func(b *testing.B) {
			s, err := Serve(ServeOptions{Crawl: "bees", Agent: agentID(1000), Dir: b.TempDir(), unsynced: unsynced})
			if err != nil {
				b.Fatal(err)
			}
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
		if _, err := e.Values(b.Context()); err != nil {
			b.Fatal(err)
		}
		reads = append(reads, time.Since(begun))
	}
	for name, all := range map[string][]time.Duration{"swap": took, "values": reads} {
		slices.Sort(all)
		b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, name+"-p50-ms")
		b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, name+"-p99-ms")
	}
}

// BenchmarkServe: a server alone, from nothing to its first value, and the memory that it
// takes: the heap after a collection, less what there was.
func BenchmarkServe(b *testing.B) {
	for b.Loop() {
		before := heap()
		s, err := Serve(ServeOptions{Crawl: "bees", Agent: agentID(1000), Dir: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		e, err := Open(b.Context(), Options{Crawl: "bees", Agent: agentID(0), Server: s})
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		b.ReportMetric(float64(heap()-before)/(1<<20), "MiB")
		closed(b, e)
		closed(b, s)
		b.StartTimer()
	}
}

// heap is what is in use after a collection.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

// BenchmarkStream: what messages would cost if the servers kept them: three copies, 64
// messages ahead of their acknowledgements, without their way to a reader.
func BenchmarkStream(b *testing.B) {
	for _, unsynced := range []bool{false, true} {
		b.Run(fmt.Sprintf("three/unsynced=%v", unsynced), func(b *testing.B) {
			js, err := jetstream.New(newThreeSynced(b, unsynced).agents[0].conn, jetstream.WithPublishAsyncMaxPending(64))
			if err != nil {
				b.Fatal(err)
			}
			config := jetstream.StreamConfig{Name: "bench", Subjects: []string{"bench.>"}, Replicas: 3, MaxBytes: 64 << 20}
			if _, err := js.CreateStream(b.Context(), config); err != nil {
				b.Fatal(err)
			}
			message := make([]byte, 1<<10)
			b.SetBytes(1 << 10)
			b.ResetTimer()
			for range b.N {
				if _, err := js.PublishAsync("bench.x", message, jetstream.WithStallWait(time.Minute)); err != nil {
					b.Fatal(err)
				}
			}
			<-js.PublishAsyncComplete()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
		})
	}
}
