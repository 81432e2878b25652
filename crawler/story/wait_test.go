package story

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"fossick/store"
)

// TestWaits: the story tells when and for what a crawl waited, also of one that is running.
func TestWaits(t *testing.T) {
	left := &store.Wait{Since: 1_000_000, Millis: 12_300, Refused: true, Price: 0.21, Best: 0.87, Free: 0.031, Hosts: 3}
	others := &store.Wait{Since: 1_000_000, Millis: 12_300, Refused: true, Price: -7, Free: -12}
	old := &store.Wait{Since: 1_000_000, Millis: 12_300, Refused: true, Price: math.Inf(-1), Free: 0.031} // as agents wrote it once
	awaited := &store.Wait{Since: 1_000_000, Millis: 1900, Price: 0.21, Best: 0.87, Free: 0.031}
	const (
		wasLeft   = "it was free from 00:16:40 on, and the crawl held it back for 12.3s: its priority of 0.031 was below the price of 0.21, because better links waited at 3 hosts, the best with 0.87"
		isLeft    = "it is free from 00:16:40 on, and the crawl held it back for 12.3s: its priority of 0.031 was below the price of 0.21, because better links waited at 3 hosts, the best with 0.87"
		wasTheirs = "it was free from 00:16:40 on, and the crawl held it back for 12.3s: its priority of -12 was below the price of -7, because better links waited with other agents"
		wasOld    = "it was free from 00:16:40 on, and the crawl held it back for 12.3s: its priority of 0.031 was below the price of -Inf, because better links waited with other agents"
		wasBest   = "the crawl waited 1.9s from 00:16:40 on for it or an equally good link: its priority of 0.87 was at least the price of 0.21, and the best free link had 0.031"
	)
	for want, w := range map[string]*store.Wait{wasLeft: left, wasBest: awaited, wasTheirs: others, wasOld: old} {
		r := tell(&store.Life{Visits: []store.Visit{{Start: 1e9, State: "ok", Wait: w}}}, "")
		if all := strings.Join(r.Reasons, "\n"); !strings.Contains(all, want) || r.Visits[0].Wait == nil || r.Visits[0].Wait.Refused != w.Refused {
			t.Errorf("%s\nis not told by %+v:\n%s", want, r.Visits[0].Wait, all)
		}
		if _, err := json.Marshal(r); err != nil {
			t.Errorf("%s: %v", want, err)
		}
	}
	queued := &store.Life{Queued: &store.Queued{Priority: 0.04}}
	now := 0.03
	for _, c := range []struct {
		life  *store.Life
		now   *float64
		price float64
		wait  *store.Wait
		below bool
		want  string // "" when nothing is said
	}{
		{queued, &now, 0.21, left, true, isLeft},
		{queued, nil, 0.21, nil, true, "the crawl waits for better links: its priority of 0.04 is below the price of 0.21 now"},
		{queued, &now, 0.01, nil, false, "its priority of 0.03 is at least the price of 0.01 now: it is fetched in its turn, when its host is free"},
		{queued, &now, math.Inf(-1), nil, false, ""},
	} {
		r := tell(c.life, "")
		told := len(r.Reasons)
		if c.now != nil {
			r.Now = &Score{Value: c.now}
		}
		r.Standing(c.price, c.wait)
		all := strings.Join(r.Reasons, "\n")
		if r.Price == nil || r.Price.Below != c.below || !strings.Contains(all, c.want) || c.want == "" && len(r.Reasons) != told {
			t.Errorf("price %g: %+v\n%s\nwant below: %v, %q", c.price, r.Price, all, c.below, c.want)
		}
		if strings.HasPrefix(r.Verdict, "Waiting in the queue: the crawl waits") != c.below {
			t.Errorf("price %g: verdict %q", c.price, r.Verdict)
		}
	}
	ended := tell(&store.Life{Fate: &store.Fate{State: "ok"}}, "")
	if ended.Standing(0.5, nil); ended.Price != nil {
		t.Errorf("a URL that waits no more: %+v", ended.Price)
	}
}
