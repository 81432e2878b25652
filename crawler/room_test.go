package crawler

import (
	"errors"
	"testing"
	"time"

	"fossick/crawler/fetch"
)

// TestRoom: the slowest exchange gives its place, by what came since it has that; none
// does that has just come; memory is bounded as well as places.
func TestRoom(t *testing.T) {
	now := time.Unix(0, 0)
	r := newRoom(time.Second, 2, func() time.Time { return now })
	ended := map[string]bool{}
	enter := func(name string) (*job, bool) {
		e := &job{}
		e.cancel = func(cause error) { ended[name] = errors.Is(cause, fetch.ErrPlaceWanted) }
		return e, r.enter(e)
	}
	quick, ok1 := enter("quick")
	slow, ok2 := enter("slow")
	third, ok := enter("third")
	if !ok1 || !ok2 || ok || len(ended) > 0 {
		t.Fatalf("two places: %v %v %v, ended %v", ok1, ok2, ok, ended)
	}
	now = now.Add(leastStay)
	r.taken[quick] = stay{r.taken[quick].since, -1000} // a thousand bytes since
	if r.enter(third) || !ended["slow"] || ended["quick"] {
		t.Errorf("ended %v, want the slow one", ended)
	}
	if r.enter(third) || ended["quick"] {
		t.Error("a second one was ended for the same that waits")
	}
	r.leave(slow)
	if !r.enter(third) || len(r.waiting) > 0 {
		t.Error("a place that is free was not given")
	}
}
