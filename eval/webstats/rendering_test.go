package webstats

import (
	"reflect"
	"testing"

	"fossick/store"
)

func TestRenderTable(t *testing.T) {
	var c pageCounts
	for _, r := range []store.Rendering{
		{Millis: 1500, Requests: 2, Words: 1, NowWords: 101, Links: 3, NowLinks: 13},
		{Millis: 1500, Requests: 1, NowWords: 50, NowLinks: 1},
		{Millis: 10_000, Requests: 5, Late: true, Words: 20, NowWords: 10},
		{Millis: 900, Failed: "the browser crashed", Words: 7, Links: 7},
	} {
		c.rendered[renderedKind(&r)].add(&r)
	}
	want := [][]any{
		{"rendered", int64(2), int64(3), int64(3), int64(150), int64(11)},
		{"not ready in time", int64(1), int64(10), int64(5), int64(-10), int64(0)},
		{"failed", int64(1), int64(0), int64(0), int64(0), int64(0)},
	}
	if got := c.renderTable().Rows; !reflect.DeepEqual(got, want) {
		t.Errorf("rows %v, want %v", got, want)
	}
	if none := (&pageCounts{}).renderTable().Rows; len(none) > 0 {
		t.Errorf("rows %v without a rendered page", none)
	}
}
