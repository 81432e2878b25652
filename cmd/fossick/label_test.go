package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fossick/crawler"
	"fossick/store"
)

// FuzzLabels: what readLabels reads, written again, it reads as the same.
func FuzzLabels(f *testing.F) {
	for _, s := range []string{"http://a.test/\tyes\n", "# x\n\nhttp://a.test/\tno\r\nhttp://b.test/ \t yes ", "http://a.test/ yes", "\tyes", "a\tmaybe", "a\tb\tyes"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		labels, err := readLabels(strings.NewReader(text), "x")
		if err != nil {
			var usage usageError
			if !errors.As(err, &usage) || len(err.Error()) > 1000 {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		var b strings.Builder
		for _, l := range labels {
			if l.Label != "yes" && l.Label != "no" || l.URL == "" {
				t.Fatalf("%q: %+v", text, l)
			}
			fmt.Fprintf(&b, "%s\t%s\n", l.URL, l.Label)
		}
		again, err := readLabels(strings.NewReader(b.String()), "x")
		if err != nil || fmt.Sprint(again) != fmt.Sprint(labels) {
			t.Fatalf("%q: %v, %v; want %v", b.String(), again, err, labels)
		}
	})
}

// TestDoor: the socket answers from a folder with a path too long for one, and where
// a killed crawl left its own; only the owner may use it, and nothing of it stays.
func TestDoor(t *testing.T) {
	for _, name := range []string{"s", strings.Repeat("long", 40)} {
		dir := filepath.Join(t.TempDir(), name)
		s, err := store.Create(dir, store.Info{Topic: "x"})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		socket := filepath.Join(dir, socketName)
		if err := os.WriteFile(socket, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		busy := errors.New("busy")
		if err := askCrawl(t.Context(), dir, "/status", nil, &crawlStatus{}, busy); !errors.Is(err, busy) {
			t.Errorf("nobody is there: %v", err)
		}
		d, err := openDoor(s, nil, &paperScorer{}, &monitor{topic: "x"})
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(socket); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
		var status crawlStatus
		if err := askCrawl(t.Context(), dir, "/status", nil, &status, busy); err != nil || status.Topic != "x" {
			t.Errorf("%+v, %v", status, err)
		}
		var usage usageError
		if err := askCrawl(t.Context(), dir, "/why?url=nonsense", nil, &whyResult{}, busy); !errors.As(err, &usage) {
			t.Errorf("a bad question: %v", err)
		}
		if err := askCrawl(t.Context(), dir, "/other", nil, &whyResult{}, busy); err == nil || !strings.Contains(err.Error(), "another version of fossick") {
			t.Errorf("an unknown question: %v", err)
		}
		link, _ := os.Readlink(socket)
		if err := d.shut(); err != nil {
			t.Error(err)
		}
		for _, left := range []string{socket, link} {
			if _, err := os.Lstat(left); left != "" && !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s is left: %v", left, err)
			}
		}
	}
}

var _ crawler.Marker = (*learnedScorer)(nil)
