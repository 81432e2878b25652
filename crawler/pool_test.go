package crawler

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"fossick/crawler/sitemaps"
)

// TestGraceEnds: what workers hand in until the end of the grace is kept. Pages
// that come later are to be fetched again, however long the owner was at work
// meanwhile.
func TestGraceEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opt := Options{Workers: 4, Grace: 5 * time.Second, Now: time.Now}
		p := newPool(&opt, nil, sitemaps.Rules{}, newInbox())
		ctx, stop := context.WithCancel(t.Context())
		p.begin(ctx)
		defer p.end(true)
		stop()
		if e := p.wait(time.Time{}); e.what != interrupt {
			t.Fatalf("event %d, want an interrupt", e.what)
		}
		for range 4 {
			p.outcomes <- &outcome{job: &job{task: taskPage}}
		}
		next := func() *outcome {
			for {
				if e := p.wait(time.Time{}); e.what == jobEnded {
					return e.outcome
				}
			}
		}
		time.Sleep(opt.Grace - 1)
		if next().aborted || p.ready().aborted {
			t.Error("a page is broken off before the grace is over")
		}
		time.Sleep(time.Nanosecond)
		if o := p.ready(); !o.aborted {
			t.Error("ready: a page that comes after the grace is not broken off")
		}
		if !next().aborted {
			t.Error("wait: a page that comes after the grace is not broken off")
		}
	})
}
