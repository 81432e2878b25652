package frontier

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"fossick/internal/testkit"
)

// benchSizes returns numbers of URLs and hosts; FOSSICK_BENCH_URLS adds the largest.
func benchSizes() [][2]int {
	sizes := [][2]int{{1_000_000, 10_000}, {5_000_000, 50_000}}
	if n, err := strconv.Atoi(os.Getenv("FOSSICK_BENCH_URLS")); err == nil {
		sizes = [][2]int{{n, n / 100}}
	}
	return sizes
}

// BenchmarkInOut pushes URLs of random hosts and priorities and takes them all, on disk. A host
// rests for a hundred times the mean time of a URL.
func BenchmarkInOut(b *testing.B) {
	for _, size := range benchSizes() {
		b.Run(fmt.Sprintf("urls=%d/hosts=%d", size[0], size[1]), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				inOut(b, size[0], size[1], time.Millisecond)
			}
			b.ReportMetric(float64(size[0])*float64(b.N)/b.Elapsed().Seconds(), "URLs/s")
			b.ReportMetric(residentMiB(b), "MiB-resident")
		})
	}
}

// inOut takes a URL every 10 µs of the benchmark's own clock.
func inOut(b *testing.B, urls, hosts int, rest time.Duration) {
	f := newFrontier(b, Options{Dir: b.TempDir()})
	rng := rand.New(rand.NewPCG(1, 1))
	for id := range urls {
		f.Push(Item{ID: ID(id + 1), Host: Host(rng.IntN(hosts)), Priority: rng.Float64()})
	}
	const tick = 10 * time.Microsecond
	now, out := start, 0
	for f.Len() > 0 {
		it, ok := f.Next(now)
		if !ok {
			now, _ = f.Wake()
			continue
		}
		out++
		f.Done(it.Host, now.Add(rest))
		now = now.Add(tick)
	}
	if out != urls || f.Err() != nil {
		b.Fatalf("%d of %d URLs came out, %v", out, urls, f.Err())
	}
}

// BenchmarkSteady: each URL taken adds one, and every fourth raises the priority of another.
func BenchmarkSteady(b *testing.B) {
	for _, size := range benchSizes() {
		b.Run(fmt.Sprintf("urls=%d/hosts=%d", size[0], size[1]), func(b *testing.B) {
			f := newFrontier(b, Options{Dir: b.TempDir()})
			rng := rand.New(rand.NewPCG(1, 1))
			id := 0
			push := func() {
				id++
				f.Push(Item{ID: ID(id), Host: Host(id % size[1]), Priority: rng.Float64()})
			}
			for id < size[0] {
				push()
			}
			now := start
			b.ReportAllocs()
			for b.Loop() {
				it, ok := f.Next(now)
				if !ok {
					b.Fatal("nothing to take")
				}
				f.Done(it.Host, now.Add(time.Millisecond))
				now = now.Add(10 * time.Microsecond)
				push()
				if id%4 == 0 {
					again := 1 + rng.IntN(id)
					if f.Queued(ID(again)) {
						f.Raise(Item{ID: ID(again), Host: Host(again % size[1]), Priority: rng.Float64()})
					}
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "URLs/s")
			b.ReportMetric(residentMiB(b), "MiB-resident")
		})
	}
}

// residentMiB returns the peak resident memory of this process.
func residentMiB(b *testing.B) float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Skip("resident memory is read from /proc: ", err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib := testkit.Call(strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))).Must(b)
			return float64(kib) / 1024
		}
	}
	b.Fatal("/proc/self/status has no VmHWM")
	return 0
}

// BenchmarkSurvey surveys after two URLs taken and twenty found.
func BenchmarkSurvey(b *testing.B) {
	const urls, hosts, best = 50_000, 200, 1024
	f := newFrontier(b, Options{})
	rng := rand.New(rand.NewPCG(1, 1))
	now, id, room := start, ID(0), []Waiting(nil)
	push := func(n int) {
		for range n {
			id++
			f.Push(Item{ID: id, Host: Host(rng.IntN(hosts)), Priority: rng.Float64() * rng.Float64()})
		}
	}
	push(urls)
	b.ReportAllocs()
	for b.Loop() {
		for range 2 {
			now = now.Add(10 * time.Millisecond)
			if it, ok := f.Next(now); ok {
				f.Done(it.Host, now.Add(500*time.Millisecond))
			}
		}
		push(20)
		if room = f.Survey(room[:0], best, now.Add(time.Minute)); len(room) != best {
			b.Fatalf("%d of %d", len(room), best)
		}
	}
}
