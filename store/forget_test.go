package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
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

// TestForgetLeavesTheDisk: what a page held is in no file afterwards; other pages are whole,
// the store is sound, and a request that was cut off is finished by the same again.
func TestForgetLeavesTheDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "crawl")
	s, err := Create(dir, Info{Topic: "gold"})
	if err != nil {
		t.Fatal(err)
	}
	secret := strings.Repeat("TOPSECRET ", 10)
	noise := make([]byte, 0, 9000)
	for i := range 3000 {
		noise = append(noise, byte(i*i*7), byte(i>>3), byte(i*31))
	}
	b := s.Batch()
	urls := []string{"http://a.test/1", "http://b.test/", "http://a.test/2"}
	for i, u := range urls {
		id := ID(i + 1)
		body := s.Compress(noise)
		p := &Page{Number: uint64(id), ID: id, URL: u, ContentType: "text/html", Title: u + secret, Rule: secret, Checksum: []byte(strings.Repeat(u[7:8], 15) + u[len(u)-1:]), Bytes: int64(len(noise)), Account: []byte(secret)}
		if u == urls[1] {
			p.Title, p.Rule, p.Account = "kept", "", nil
		} else {
			body = append([]byte(secret), body...) // as a body that stands in the clear
		}
		if err := errors.Join(b.PutSeen(HashURL(u), id, false), b.PutBirth(id, Birth{URL: u, Via: ViaSeed}), b.PutVisit(id, 1, Visit{State: "ok", Code: 200}),
			b.PutFate(id, Fate{State: "ok", Page: uint64(id)}), b.PutPage(p, body)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(b.PutCounts(&Counts{URLs: 3, Pages: 3, Bytes: uint64(3 * len(noise)), States: map[string]uint64{"ok": 3}}), b.PutLabel(1, Label{Rule: secret}), b.Commit(), s.Close()); err != nil {
		t.Fatal(err)
	}
	if !onDisk(t, dir, "TOPSECRET") {
		t.Fatal("the test looks for what is not there")
	}
	if s, err = Open(dir); err != nil {
		t.Fatal(err)
	}
	gone, stop := context.WithCancel(t.Context())
	stop()
	if _, err := ForgetPages(gone, s, "a.test", 5); !errors.Is(err, context.Canceled) {
		t.Errorf("cut off: %v", err)
	}
	if n, err := ForgetPages(t.Context(), s, "a.test", 9); n != 2 || err != nil {
		t.Errorf("%d pages, %v", n, err)
	}
	if n, err := ForgetPages(t.Context(), s, "a.test", 9); n != 0 || err != nil {
		t.Errorf("again: %d pages, %v", n, err)
	}
	if all, err := ForgetsOf(s); err != nil || len(all) != 1 || all[0] != (Forget{"a.test", 5, 2}) {
		t.Errorf("kept %+v, %v", all, err)
	}
	if err := errors.Join(s.Close(), Purge(t.Context(), dir)); err != nil {
		t.Fatal(err)
	}
	if onDisk(t, dir, "TOPSECRET") {
		t.Error("it is still on disk")
	}
	if s, err = Open(dir); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if body, err := s.Body(2); err != nil || string(body) != string(noise) {
		t.Errorf("another page: %v", err)
	}
	problems, err := s.Verify(t.Context())
	if err != nil || len(problems) > 0 {
		t.Errorf("verify: %+v, %v", problems, err)
	}
}

// onDisk says whether any file below a folder has a text.
func onDisk(t *testing.T, dir, text string) (found bool) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), text) {
			found = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
