package crawler

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"fossick/crawler/hosts"
)

// TestGraceEnds: what workers hand in until the end of the grace is kept. Pages
// that come later are to be fetched again, however long the owner was at work
// meanwhile.
func TestGraceEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opt := workersOptions{Workers: 4, Grace: 5 * time.Second, Now: time.Now}
		p := newPool(opt, nil, hosts.Rules{}, newInbox())
		ctx, stop := context.WithCancel(t.Context())
		p.begin(ctx)
		defer p.End(true)
		stop()
		if e := p.Wait(time.Time{}); e.What != interrupt {
			t.Fatalf("event %d, want an interrupt", e.What)
		}
		for range 4 {
			p.outcomes <- &outcome{workJob: &workJob{task: workPage}}
		}
		next := func() *outcome {
			for {
				if e := p.Wait(time.Time{}); e.What == jobEnded {
					return e.Outcome
				}
			}
		}
		time.Sleep(opt.Grace - 1)
		if next().Aborted || p.Ready().Aborted {
			t.Error("a page is broken off before the grace is over")
		}
		time.Sleep(time.Nanosecond)
		if o := p.Ready(); !o.Aborted {
			t.Error("ready: a page that comes after the grace is not broken off")
		}
		if !next().Aborted {
			t.Error("wait: a page that comes after the grace is not broken off")
		}
	})
}
