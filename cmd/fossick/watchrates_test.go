package main

import (
	"reflect"
	"testing"

	"fossick/store/change"
)

// TestLooks: an age is that of the last Last-Modified told, and unknown after a change
// without one.
func TestLooks(t *testing.T) {
	const day = millisADay
	visits := []change.Visit{
		{At: 1 * day, State: "ok"},
		{At: 2 * day, State: "not_modified"},
		{At: 3 * day, State: "ok", Change: change.Text, Modified: 2.5 * day / 1000},
		{At: 4 * day, State: "code", Code: 503},
		{At: 5 * day, State: "not_modified"},
		{At: 6 * day, State: "ok", Change: change.Content, Modified: 5.75 * day / 1000},
		{At: 7 * day, State: "ok", Change: change.Unsure},
		{At: 8 * day, State: "not_modified"},
	}
	want := []change.Interval{
		{Days: 1},
		{Days: 1, Changed: true, Age: .5, Told: true},
		{Days: 2, Age: 2.5, Told: true},
		{Days: 1, Age: .25, Told: true}, // contradicts the text, as it is the advert's
		{Days: 1, Changed: true},
		{Days: 1},
	}
	if got := looksOf(nil, visits); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}
