package crawler

import (
	"fmt"
	"testing"
	"time"

	"fossick/crawler/fetch"
)

func TestAfterAnswer(t *testing.T) {
	days := func(n float64) time.Duration { return time.Duration(n * float64(Day)) }
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
		if got := afterAnswer(&tc.r, tc.depth); (got - tc.want).Abs() > time.Second {
			t.Errorf("%s %d at depth %d: after %v, want %v", tc.r.State, tc.r.Code, tc.depth, got, tc.want)
		}
	}
}
