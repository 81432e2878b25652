package store

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fossick/internal/testkit"
)

func TestForgetMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, url string
		want         bool
	}{
		{"a.test", "http://a.test/x", true},
		{"a.test", "https://a.test:8443/", true},
		{"a.test:8443", "https://a.test/", false},
		{"a.test", "http://b.a.test/", false},
		{"a.test", "http://b.test/a.test", false},
		{"//a.test/x", "https://a.test/x", true},
		{"//a.test/x", "http://a.test/xy", false},
		{"//a.test/x*", "http://a.test/xy?z", true},
		{"//a.test/x*", "http://a.test/", false},
	} {
		if got := (Forget{Pattern: c.pattern}).Matches(c.url); got != c.want {
			t.Errorf("%s, %s: %v", c.pattern, c.url, got)
		}
	}
}

const secret = "TOPSECRET "

// unforgotten returns a closed store of three pages. The owner of host a.test will ask to forget
// pages 1 and 3 and a waiting URL. Their content is stored uncompressed.
func unforgotten(t *testing.T) (dir string, kept []byte) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "crawl")
	s := testkit.Call(Create(dir, Info{Topic: "gold", Agent: "00000000000000aa"})).Must(t)
	words := strings.Repeat(secret, 10)
	for i := range 3000 {
		kept = append(kept, byte(i*i*7), byte(i>>3), byte(i*31))
	}
	b := s.Batch()
	b.Replicate(true)
	for i, u := range []string{"http://a.test/1", "http://b.test/", "http://a.test/2", "http://a.test/3", "http://b.test/2"} {
		id := ID(i + 1)
		err := errors.Join(b.PutSeen(HashURL(u), id, false), b.PutDiscovery(id, Discovery{URL: u, Via: ViaSeed}))
		if id > 3 {
			testkit.Must(t, errors.Join(err, b.PutQueued(id, Queued{Priority: .5, Score: .25})))
			continue
		}
		body := s.Compress(kept)
		p := &Page{Number: uint64(id), ID: id, URL: u, ContentType: "text/html", Title: u + words, Rule: words, Checksum: []byte(strings.Repeat(u[7:8], 15) + u[len(u)-1:]), Bytes: int64(len(kept)), Account: []byte(words)}
		if id == 2 {
			p.Title, p.Rule, p.Account = "kept", "", nil
		} else {
			body = append([]byte(words), body...)
		}
		testkit.Must(t, errors.Join(err, b.PutVisit(id, 1, Visit{State: "ok", Code: 200}), b.PutOutcome(id, Outcome{State: "ok", Page: uint64(id)}), b.PutPage(p, body)))
	}
	testkit.Must(t, errors.Join(b.PutCounts(&Counts{URLs: 5, Pages: 3, Bytes: uint64(3 * len(kept)), States: map[string]uint64{"ok": 3}, Parcels: 1}), b.PutLabel(1, Label{Rule: words}), OutboxIn(b).PutChanges(1), b.Commit(), s.Close(),
		os.Mkdir(filepath.Join(dir, Derived), 0o700), os.WriteFile(filepath.Join(dir, Derived, "words"), []byte(words), 0o600)))
	if !onDisk(t, dir, secret) {
		t.Fatal("the test looks for what is not there")
	}
	return dir, kept
}

// forgotten checks that only host a.test is forgotten.
func forgotten(t *testing.T, dir string, kept []byte) {
	t.Helper()
	if onDisk(t, dir, secret) {
		t.Error("it is still on disk")
	}
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if all, err := ForgetsOf(s); err != nil || len(all) != 1 || all[0] != (Forget{Pattern: "a.test", At: 5, Pages: 2}) {
		t.Errorf("kept %+v, %v", all, err)
	}
	if body, err := s.Body(2); err != nil || string(body) != string(kept) {
		t.Errorf("another page: %v", err)
	}
	if life, err := s.URLs().Life("http://a.test/3"); err != nil || life.Outcome == nil || life.Outcome.Reason != ForgottenReason || life.Outcome.Score != .25 {
		t.Errorf("a URL that waited: %+v, %v", life, err)
	}
	for p, err := range OutboxOf(s).Parcels(KeeperPart, 0) {
		t.Errorf("changes %d wait for a replica, and may have it: %v", p.Number, err)
	}
	if n, err := OutboxOf(s).Trimmed(); err != nil || n != 2 {
		t.Errorf("a replica that has all up to %d is good, %v", n, err)
	}
	problems, err := s.Verify(t.Context())
	if err != nil || len(problems) > 0 {
		t.Errorf("verify: %+v, %v", problems, err)
	}
}

// TestForgetLeavesTheDisk: afterwards no file holds the content, other pages are whole, the store
// is sound, and it was locked throughout.
func TestForgetLeavesTheDisk(t *testing.T) {
	dir, kept := unforgotten(t)
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []uint64{2, 0} {
		testkit.Must(t, KeepForget(s, "a.test", 5))
		watch := &countdown{Context: t.Context(), left: 1 << 30, at: func() {
			if other, err := Open(dir); !errors.Is(err, ErrBusy) {
				t.Errorf("another process has it: %v, %v", other, err)
			}
		}}
		var pages map[string]uint64
		if s, pages, err = Fulfil(watch, s); err != nil || pages["a.test"] != want {
			t.Fatalf("%v pages, want %d, %v", pages, want, err)
		}
	}
	testkit.Must(t, s.Close())
	forgotten(t, dir, kept)
}

// TestForgetCutOff: wherever forgetting is interrupted, the next opening continues it, also for a
// reader. Copies made in between hold no forgotten content.
func TestForgetCutOff(t *testing.T) {
	for n := 0; ; n += testkit.Rounds(4, 1) {
		dir, kept := unforgotten(t)
		s, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		testkit.Must(t, KeepForget(s, "a.test", 5))
		if n == 0 {
			leavesNoTrace(t, s)
		}
		s, _, done := Fulfil(&countdown{Context: t.Context(), left: n}, s)
		if s != nil {
			testkit.Must(t, s.Close())
		}
		open := []func(string) (*Store, error){Open, OpenToRead}[n/4%2]
		if s, err = open(dir); err == nil {
			err = s.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		forgotten(t, dir, kept)
		if done == nil {
			t.Logf("cut off at %d places", n)
			return
		}
		if !errors.Is(done, context.Canceled) || t.Failed() {
			t.Fatalf("cut off at the %d. place: %v", n, done)
		}
	}
}

func leavesNoTrace(t *testing.T, s *Store) {
	t.Helper()
	var snapshot bytes.Buffer
	testkit.Must(t, s.Snapshot(t.Context(), &snapshot))
	of := testkit.Call(Receive(s.Dir(), &snapshot)).Must(t)
	defer of.Close()
	for p, err := range of.Pages() {
		if err != nil || strings.Contains(p.Title, secret) || p.Withdrawn != strings.Contains(p.URL, "a.test") {
			t.Errorf("%+v, %v", p, err)
		}
	}
}

// countdown is a context that ends after left calls of Err.
type countdown struct {
	context.Context
	left int
	at   func()
}

func (c *countdown) Err() error {
	if c.at != nil {
		c.at()
	}
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func onDisk(t *testing.T, dir, text string) (found bool) {
	t.Helper()
	testkit.Must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), text) {
			found = true
		}
		return err
	}))
	return found
}
