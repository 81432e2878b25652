package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fossick/store"
)

// TestRepairSaysWhatIsLost: where URLs are gone whose names nothing tells, repair leaves a
// sound store and ends with exit code 1, once.
func TestRepairSaysWhatIsLost(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "crawl")
	s, err := store.Create(dir, store.Info{Topic: "x"})
	if err != nil {
		t.Fatal(err)
	}
	b := s.Batch()
	err = errors.Join(b.PutBirth(1, store.Birth{URL: "http://a.test/", Via: store.ViaSeed}), b.PutQueued(1, store.Queued{Priority: 1}),
		b.PutQueued(2, store.Queued{Priority: 1, Parent: 1}), b.PutCounts(&store.Counts{URLs: 2}), b.Commit(), s.Close())
	if err != nil {
		t.Fatal(err)
	}
	code, text := said(t, "repair", dir, "--json")
	var r verifyResult
	if err := json.Unmarshal([]byte(text[:strings.Index(text, "\n")]), &r); err != nil || len(r.Errors) == 0 {
		t.Fatalf("%v: %s", err, text)
	}
	wantRefusal(t, "repair", code, text, "1 URLs", "--resume")
	verifies(t, dir)
	if code, text := said(t, "repair", dir); code != exitDone || !strings.Contains(text, "is sound") {
		t.Errorf("a second repair: exit code %d: %s", code, text)
	}
	tables, err := filepath.Glob(filepath.Join(dir, "db", "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatalf("%v tables, %v", tables, err)
	}
	if err := os.Remove(tables[len(tables)-1]); err != nil {
		t.Fatal(err)
	}
	code, text = said(t, "repair", dir)
	wantRefusal(t, "repair after a table is gone", code, text, "but it is missing")
	verifies(t, dir)
}
