package webstats

import (
	"reflect"
	"testing"

	"fossick/store"
)

func TestRenderTable(t *testing.T) {
	dear := store.Quote{Declined: true}
	var stored, others renderCounts
	for _, r := range []store.Rendering{
		{Millis: 1500, Requests: 2, Words: 1, NowWords: 101, Links: 3, NowLinks: 13},
		{Millis: 1500, Requests: 1, NowWords: 50, NowLinks: 1},
		{Millis: 10_000, Requests: 5, Late: true, Words: 20, NowWords: 10},
		{Millis: 900, Failed: "the browser crashed", Words: 7, Links: 7, Quote: &store.Quote{}},
		{Millis: 2000, Quote: &store.Quote{}, NowWords: 4, Turned: true, Won: 3},
		{Millis: 1000, Quote: &store.Quote{Recheck: true}},
		{Words: 7, Quote: &dear},
	} {
		stored.add(&r)
	}
	stored.add(nil)
	others.add(&store.Rendering{Quote: &dear})
	others.add(&store.Rendering{Quote: &dear})
	want := [][]any{
		{"not rendered", "not worth its seconds", int64(3), int64(0), int64(0), int64(0), int64(0), int64(0), int64(0)},
		{"rendered", "always", int64(2), int64(0), int64(0), int64(3), int64(3), int64(150), int64(11)},
		{"failed", "worth its seconds", int64(1), int64(0), int64(0), int64(0), int64(0), int64(0), int64(0)},
		{"not ready in time", "always", int64(1), int64(0), int64(0), int64(10), int64(5), int64(-10), int64(0)},
		{"rendered", "check at random", int64(1), int64(0), int64(0), int64(1), int64(0), int64(0), int64(0)},
		{"rendered", "worth its seconds", int64(1), int64(1), int64(3), int64(2), int64(0), int64(4), int64(0)},
	}
	if got := stored.with(others).table().Rows; !reflect.DeepEqual(got, want) {
		t.Errorf("rows %v, want %v", got, want)
	}
	if none := renderCounts(nil).with(nil).table().Rows; len(none) > 0 {
		t.Errorf("rows %v without a page that has scripts", none)
	}
}
