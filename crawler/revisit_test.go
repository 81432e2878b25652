package crawler

import (
	"fmt"
	"testing"
	"time"

	"fossick/fetch"
)

func TestAnswerAfter(t *testing.T) {
	days := func(n float64) time.Duration { return time.Duration(n * float64(day)) }
	for _, tc := range []struct {
		r     fetch.Response
		depth int
		want  time.Duration
	}{
		{fetch.Response{State: fetch.StateOK}, 0, days(7.66)},
		{fetch.Response{State: fetch.StateOK}, 9, days(3.77)},
		{fetch.Response{State: fetch.StateOK}, 90, days(3.77)},
		{fetch.Response{State: fetch.StateRedirect, Code: 302}, 0, days(7.66)},
		{fetch.Response{State: fetch.StateRedirect, Code: 301}, 0, days(30)},
		{fetch.Response{State: fetch.StateCode, Code: 404}, 3, days(30)},
		{fetch.Response{State: fetch.StateCode, Code: 410}, 3, 0},
		{fetch.Response{State: fetch.StateCode, Code: 500}, 3, days(1)},
		{fetch.Response{State: fetch.StateCode, Code: 503, RetryAfter: days(9)}, 3, days(9)},
		{fetch.Response{State: fetch.StateConnectTimeout}, 1, days(2)},
		{fetch.Response{State: fetch.StateNoIP}, 1, days(2)},
		{fetch.Response{State: fetch.StateNoIP, Err: fmt.Errorf("a: %w", fetch.ErrNoSuchHost)}, 1, days(30)},
		{fetch.Response{State: fetch.StateGuardDenied}, 1, 0},
		{fetch.Response{State: fetch.StateTooLarge}, 1, days(30)},
	} {
		if got := answerAfter(&tc.r, tc.depth); (got - tc.want).Abs() > time.Second {
			t.Errorf("%s %d at depth %d: after %v, want %v", tc.r.State, tc.r.Code, tc.depth, got, tc.want)
		}
	}
}

// TestNextVisitIsKept: each URL that ended has its estimate in the journal.
func TestNextVisitIsKept(t *testing.T) {
	w := &fakeWeb{pages: map[string]string{
		"http://a.test/robots.txt": "User-agent: *\nDisallow: /no\n",
		"http://a.test/":           html("gold", "/gone", "/no", "http://b.test/", "/moved"),
		"http://a.test/moved":      "→http://a.test/",
	}, fail: map[string][]fetch.Response{"http://a.test/gone": {{State: fetch.StateCode, Code: 410}}}}
	opt := newOptions(t, w, "http://a.test/")
	crawl(t, opt)
	for url, want := range map[string]time.Duration{
		"http://a.test/": changeInterval(0), "http://a.test/gone": 0, "http://a.test/no": day,
		"http://b.test/": 30 * day, "http://a.test/moved": 30 * day,
	} {
		f := life(t, opt.Store, url).Fate
		got := time.Duration(0)
		if f.Next != 0 {
			got = time.UnixMilli(f.Next).Sub(time.UnixMilli(f.At))
		}
		if (got - want).Abs() > time.Minute {
			t.Errorf("%s, %s: next visit after %v, want %v", url, f.State, got, want)
		}
	}
}
