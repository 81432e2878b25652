package frontier

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkTurns is the work of a crawl's owner on a long queue, in turns of ten pages with 20
// links each. "longest" is the processor time of the longest turn. Phases: push the queue; rest
// its hosts, so that all is parked; take and push URLs while rescoring.
func BenchmarkTurns(b *testing.B) {
	urls := benchSizes()[len(benchSizes())-1][0]
	for _, hosts := range []int{500, 5000, urls / 100} {
		b.Run(fmt.Sprintf("urls=%d/hosts=%d", urls, hosts), func(b *testing.B) { turns(b, urls, hosts) })
	}
}

func turns(b *testing.B, urls, hosts int) {
	const pages, links, renewed = 10, 20, 500 // as crawler.rescoreAPage
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for b.Loop() {
		f := newFrontier(b, Options{Dir: b.TempDir()})
		rng := rand.New(rand.NewPCG(1, 1))
		now, id := start, 0
		push := func() {
			id++
			f.Push(Item{ID: ID(id), Host: Host(id % hosts), Priority: rng.Float64(), Key: uint64(id)})
		}
		longest := func(what string, turn func() bool) {
			var most, all time.Duration
			for more := true; more; {
				began := threadTime(b)
				more = turn()
				took := threadTime(b) - began
				most, all = max(most, took), all+took
			}
			b.ReportMetric(most.Seconds()*1000, "longest-ms/"+what)
			b.ReportMetric(all.Seconds(), "s/"+what)
		}
		longest("push", func() bool {
			for range pages * links {
				push()
			}
			return id < urls
		})
		for h := range hosts {
			f.Rest(Host(h), now.Add(time.Hour))
		}
		longest("park", func() bool {
			f.Next(now)
			return f.tail.len() > 0
		})
		now = now.Add(2 * time.Hour)
		turns, done := 0, false
		longest("crawl", func() bool {
			for range pages {
				if it, ok := f.Next(now); ok {
					f.Done(it.Host, now.Add(time.Second))
				}
				for range links {
					push()
				}
				for range links / 2 {
					if again := 1 + rng.IntN(id); f.Queued(ID(again)) {
						f.Raise(Item{ID: ID(again), Host: Host(again % hosts), Priority: rng.Float64(), Key: uint64(again)})
					}
				}
				now = now.Add(time.Millisecond)
			}
			done = f.Renew(pages*renewed, func(key uint64, _ float64) (float64, bool) { return float64(key*7919%1000) / 1000, key%8 == 0 })
			turns++
			return !done
		})
		if f.Err() != nil {
			b.Fatal(f.Err())
		}
		b.ReportMetric(float64(turns), "turns/crawl")
	}
	b.ReportMetric(residentMiB(b), "MiB-resident")
}

// threadTime returns the processor time of this thread.
func threadTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(unix.RUSAGE_THREAD, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
