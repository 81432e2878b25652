package hosts

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"fossick/crawler/fetch"
	"fossick/graph/orders"
	"fossick/internal/page"
	"fossick/internal/testkit"
	"fossick/store"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// TestLower: Raise restores a lowered priority. An ordering by links drops it by less than a step.
func TestLower(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for _, name := range orders.Orderings() {
		o := testkit.Call(orders.OrderingByName(name)).Must(t)
		for range 1000 {
			p, c := math.Round(r.Float64()*200-100), .001+.998*r.Float64()
			if orders.ByScore(o) {
				p = r.Float64()*2 - 1
			}
			if low := Lower(o, 0, .5); orders.ByScore(o) && low != 0 {
				t.Fatalf("%s: 0 becomes %g", name, low)
			}
			low, width := Lower(o, p, c), orders.Width(o)
			if low >= p || math.Abs(Raise(o, low, c)-p) > 1e-9*width || !orders.ByScore(o) && low <= p-width || Lower(o, p, 1) != p {
				t.Fatalf("%s: %g at chance %g is %g, and back %g", name, p, c, low, Raise(o, low, c))
			}
		}
	}
}

// TestOutage: a failure without an answer counts once anybody answers, and never if our own
// network was down.
func TestOutage(t *testing.T) {
	const url = "http://a.test/x"
	silent := &fetch.Response{State: fetch.StateConnectTimeout, Start: start}
	answer := &fetch.Response{State: fetch.StateOK, Code: 200, Start: start.Add(time.Minute)}
	for _, down := range []bool{true, false} {
		b, dead, well := NewChances(), &store.Host{Name: "a.test:80"}, &store.Host{Name: "b.test:80"}
		b.Learn(dead, url, silent)
		retry := b.Retry(dead.Name, url, silent, start.Add(time.Minute))
		if retry >= .9 || b.Of(page.Key(url)) != retry {
			t.Errorf("chance %g of a retry, %g of the URL", retry, b.Of(page.Key(url)))
		}
		if down {
			b.TakeBack()
			b.Pardon(page.Key(url))
		}
		b.Learn(well, "http://b.test/", answer)
		visits := func() ([]store.Visit, error) {
			return []store.Visit{{Start: start.UnixMilli(), State: "connect_timeout"}}, nil
		}
		chance, err := b.Revisit(url, visits, start.Add(time.Hour))
		if err != nil || (chance == 1) != down || (b.Of(page.Key(url)) == 1) != down || b.Due(true) == down {
			t.Errorf("network down: %v; chance %g, %v", down, chance, err)
		}
		if down {
			continue
		}
		b.Learn(dead, url, answer)
		if len(dead.Chances) == 0 || well.Chances != nil {
			t.Fatalf("%d bytes of the host that failed, %d of the other", len(dead.Chances), len(well.Chances))
		}
		again := NewChances()
		again.Recall(dead)
		if other, _ := again.Revisit(url, visits, start.Add(time.Hour)); other >= 1 {
			t.Errorf("chance %g after a restart", other)
		}
		// The next visit comes after the last interval; the chance depends on the hour of the
		// failure.
		for _, c := range []struct{ before, next, other time.Duration }{{0, 24 * time.Hour, 12 * time.Hour}, {3 * time.Hour, 3 * time.Hour, 24 * time.Hour}} {
			visits := func() (all []store.Visit, err error) {
				if c.before > 0 {
					all = append(all, store.Visit{Start: start.Add(-c.before).UnixMilli(), State: "ok", Code: 200})
				}
				return append(all, store.Visit{Start: start.UnixMilli(), State: "connect_timeout"}), nil
			}
			next, err := again.Next(url, visits)
			want, _ := again.Revisit(url, visits, start.Add(c.next))
			other, _ := again.Revisit(url, visits, start.Add(c.other))
			if err != nil || next != want || next == other {
				t.Errorf("%+v: chance %g, %v; want %g and not %g", c, next, err, want, other)
			}
		}
		if next, err := again.Next(url, func() ([]store.Visit, error) { return nil, nil }); next != 1 || err != nil {
			t.Errorf("a page without a visit: chance %g, %v", next, err)
		}
		broken := errors.New("broken")
		if _, err := again.Next(url, func() ([]store.Visit, error) { return nil, broken }); !errors.Is(err, broken) {
			t.Errorf("%v", err)
		}
	}
}
