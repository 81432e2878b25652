package monitor

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"reflect"
	"testing"

	"fossick/crawler"
	"fossick/store"
)

// TestStarts: each failure is reported once; Failed and /status list all in seed order.
func TestStarts(t *testing.T) {
	s, err := store.Create(t.TempDir(), store.Info{Topic: "x"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const pages = startsATime + 10
	var seeds []string
	for i := range pages {
		seeds = append(seeds, fmt.Sprintf("http://h%d.test/", i))
	}
	b := s.Batch()
	defer b.Cancel()
	for i, u := range seeds {
		if err := errors.Join(b.PutDiscovery(store.ID(i+1), store.Discovery{URL: u, Via: store.ViaSeed}), b.PutSeen(store.HashURL(u), store.ID(i+1), false)); err != nil {
			t.Fatal(err)
		}
	}
	end := func(i int, state string) {
		if err := b.PutOutcome(store.ID(i+1), store.Outcome{State: state, Reason: "for a reason"}); err != nil {
			t.Fatal(err)
		}
	}
	starts := WatchStarts(seeds, s)
	end(pages-1, "code")
	end(1, "no_ip")
	end(2, "ok")
	end(3, "duplicate")
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	p := crawler.Progress{Counts: store.Counts{States: map[string]uint64{"ok": 1, "duplicate": 1, "code": 1, "no_ip": 1}}}
	var told []Failure
	for range 3 {
		told = append(told, starts.Show(p)...)
	}
	first, last := Failure{seeds[1], "no_ip", "for a reason"}, Failure{seeds[pages-1], "code", "for a reason"}
	want := []Failure{first, last}
	if !reflect.DeepEqual(told, want) {
		t.Errorf("told of %v, want %v", told, want)
	}
	if got := starts.Failed(); !reflect.DeepEqual(got, want) {
		t.Errorf("failed are %v, want %v", got, want)
	}
	m := &Server{}
	for _, want := range [][]Failure{{}, want} {
		w := httptest.NewRecorder()
		m.ServeStatus(w, httptest.NewRequest("GET", "/status", nil))
		var got Status
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || !reflect.DeepEqual(got.SeedsFailed, want) {
			t.Errorf("/status has %v, %v; want %v", got.SeedsFailed, err, want)
		}
		m.ShowFailed(starts.Known())
	}
}
