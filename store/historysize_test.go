package store

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"fossick/internal/fulltest"
	"fossick/store/change"
)

// TestHistorySize measures what histories cost on disk: ten visits to each of some pages, in
// rounds, with the keys and all that the database adds, once it is compacted. A third of them
// found a change, and has when that was.
func TestHistorySize(t *testing.T) {
	const visits, day = 10, 24 * 3600 * 1000
	pages := ID(fulltest.Rounds(1000, 20_000))
	rng := rand.New(rand.NewPCG(1, 19))
	size := func(visits int, dated bool) int64 {
		s, err := Create(filepath.Join(t.TempDir(), "s"), Info{})
		must(t, err)
		bs := batches{s: s}
		for n := range visits {
			for id := range pages {
				took := 50 + rng.Int64N(2000)
				v := Visit{Start: 1.7e12 + int64(n)*2*day + rng.Int64N(day), Millis: took, Rest: max(2000, 10*took), State: "not_modified", Code: 304}
				if rng.IntN(3) == 0 {
					v.State, v.Code, v.Change = "ok", 200, change.Text
					if dated {
						v.Modified = v.Start/1000 - rng.Int64N(2*day/1000)
					}
				}
				must(t, bs.add(func(b *Batch) error { return PutRevisit(b, id+1, n+2, v) }))
			}
		}
		must(t, bs.flush())
		dir := s.Dir()
		must(t, s.Close())
		c, err := Compact(t.Context(), dir)
		must(t, err)
		return c.After
	}
	empty := size(0, false)
	each := func(dated bool) float64 { return float64(size(visits, dated)-empty) / float64(int(pages)*visits) }
	with, without := each(true), each(false)
	t.Logf("%.2f bytes a visit on disk, %.2f without Last-Modified", with, without)
	if with > 16 {
		t.Errorf("%.2f bytes a visit, want at most 16", with)
	}
}
