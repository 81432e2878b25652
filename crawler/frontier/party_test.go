package frontier

import (
	"testing"
	"time"
)

// atOne returns a frontier with a URL of each of the hosts a (the best), b and c at one address.
func atOne(t *testing.T) *Frontier {
	f := newFrontier(t, Options{})
	for i, name := range []string{"a:80", "b:80", "c:80"} {
		f.Push(Item{ID: ID(i + 1), Host: f.Host(name), Priority: 0.9 - float64(i)/10})
		f.Push(Item{ID: ID(i + 11), Host: f.Host(name), Priority: 0.5 - float64(i)/10})
		f.Join(f.Host(name), "192.0.2.1")
	}
	return f
}

// TestRestOfAHost: a host's own rest binds no other host at its address; the address's rest binds
// all.
func TestRestOfAHost(t *testing.T) {
	f := atOne(t)
	year := start.Add(365 * 24 * time.Hour)
	f.Next(start)
	f.Done(f.Host("a:80"), start.Add(2*time.Second))
	f.Rest(f.Host("a:80"), year)
	for i, id := range []ID{2, 3, 12, 13} {
		now := start.Add(time.Duration(2*i+2) * time.Second)
		if it, ok := f.Next(now.Add(-time.Nanosecond)); ok {
			t.Fatalf("got %v while the address rests", it)
		}
		it, ok := f.Next(now)
		if !ok || it.ID != id {
			t.Fatalf("got %v %v, want URL %d", it, ok, id)
		}
		if other, ok := f.Next(now); ok {
			t.Fatalf("got %v while the address is in use", other)
		}
		f.Done(it.Host, now.Add(2*time.Second))
	}
	last := start.Add(time.Hour)
	if it, ok := f.Next(last); ok {
		t.Fatalf("got %v of a host that rests for a year", it)
	}
	if at, ok := f.Wake(); !ok || !at.Equal(year) || !f.Until(f.Host("a:80")).Equal(year) {
		t.Errorf("Wake = %v %v, a rests until %v, want a year", at, ok, f.Until(f.Host("a:80")))
	}
	if f.Claim(f.Host("a:80"), last) || f.Take(f.Host("a:80"), f.Host("b:80"), last) {
		t.Error("a host that rests was given beside the queue")
	}
	if it, ok := f.Next(year); !ok || it.ID != 11 {
		t.Errorf("got %v %v after a year, want URL 11", it, ok)
	}
}

// TestRestMovesWithItsHost: a host that moves to another address keeps its own rest, and the old
// address keeps none of it.
func TestRestMovesWithItsHost(t *testing.T) {
	f := atOne(t)
	a, b := f.Host("a:80"), f.Host("b:80")
	until := start.Add(time.Minute)
	f.Rest(a, until)
	f.Join(b, "192.0.2.2")
	f.Join(a, "192.0.2.2")
	if it, ok := f.Next(start); !ok || it.ID != 2 {
		t.Fatalf("got %v %v, want URL 2 of b, which does not rest", it, ok)
	}
	f.Done(b, time.Time{})
	f.Leave(a)
	if f.Claim(a, start) || !f.Claim(a, until) || !f.Claim(b, until) {
		t.Error("a's own rest ended, or b has it")
	}
}

// TestMoved: when a host moves, its parked URLs wait for the old address and then the new one.
func TestMoved(t *testing.T) {
	f := atOne(t)
	a, c, d := f.Host("a:80"), f.Host("c:80"), f.Host("d:80")
	f.Next(start)
	f.Next(start) // parks the others
	f.Done(a, start.Add(time.Second))
	f.Join(c, "192.0.2.2")
	f.Join(d, "192.0.2.2")
	if !f.Claim(d, start) {
		t.Fatal("d is not free")
	}
	f.Join(f.Host("b:80"), "192.0.2.3")
	now := start.Add(time.Second)
	var got []ID
	for {
		it, ok := f.Next(now)
		if !ok {
			break
		}
		got = append(got, it.ID)
		if it.Host == c {
			t.Fatalf("got %v while its address is in use", it)
		}
	}
	if len(got) != 2 || got[0] != 2 || got[1] != 11 {
		t.Errorf("got URLs %v, want 2 of b, which is elsewhere, and 11 of a", got)
	}
	f.Done(d, now.Add(time.Second))
	if it, ok := f.Next(now); ok {
		t.Errorf("got %v while its address rests", it)
	}
	if it, ok := f.Next(now.Add(time.Second)); !ok || it.ID != 3 {
		t.Errorf("got %v %v, want URL 3 of c", it, ok)
	}
}

// oneAddress takes URLs of many hosts at one address. It returns the peak number of parties.
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
		// The crawler resolves the host first: the URL goes back and the host joins.
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

// TestOneAddress: an address with any number of hosts takes one party in memory.
func TestOneAddress(t *testing.T) {
	if most := oneAddress(t, 5000); most > 2 {
		t.Errorf("%d parties in memory, want one", most)
	}
}

// BenchmarkOneAddress takes URLs of hosts at one address; ns/URL must not grow with the hosts.
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
