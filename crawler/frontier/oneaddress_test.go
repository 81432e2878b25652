package frontier

import (
	"testing"
	"time"
)

// oneAddress pushes so many URLs, of a host each, and takes them; all hosts turn out
// to be at one address. It returns the most parties that were in memory.
func oneAddress(tb testing.TB, hosts int) (most int) {
	f, err := New(Options{Dir: tb.TempDir()})
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	now := time.Unix(1e9, 0)
	f.Join(1, "203.0.113.1")
	for i := range hosts {
		f.Push(Item{ID: ID(i + 1), Host: Host(i + 1), Priority: 1})
	}
	for taken := 0; taken < hosts; {
		it, ok := f.Next(now)
		if !ok {
			now = now.Add(time.Second)
			continue
		}
		// The crawler looks the address up first: the URL goes back, the host joins.
		if !f.OneParty(it.Host, 1) {
			f.Push(it)
			f.Done(it.Host, time.Time{})
			f.Join(it.Host, "203.0.113.1")
			continue
		}
		taken++
		f.Done(it.Host, now.Add(time.Second))
		most = max(most, len(f.hosts.parties)+len(f.hosts.own))
	}
	if err := f.Err(); err != nil {
		tb.Fatal(err)
	}
	return most
}

// TestOneAddress: however many hosts an address has, one party is in memory.
func TestOneAddress(t *testing.T) {
	if most := oneAddress(t, 5000); most > 2 {
		t.Errorf("%d parties in memory, want one", most)
	}
}

// BenchmarkOneAddress takes URLs of hosts that share an address; ns/URL must not grow
// with the hosts.
func BenchmarkOneAddress(b *testing.B) {
	for _, hosts := range []int{5_000, 50_000, 500_000} {
		b.Run("", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				oneAddress(b, hosts)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*hosts), "ns/URL")
			b.ReportMetric(float64(hosts), "hosts")
		})
	}
}
