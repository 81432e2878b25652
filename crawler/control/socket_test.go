package control

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fossick/crawler/story"
	"fossick/internal/cli"
	"fossick/internal/page"
	"fossick/internal/testkit"
	"fossick/store"
)

// TestSocket: the socket answers from a folder with a path too long for one,
// and where a killed crawl left its own. Only the owner may use it, and nothing
// of it stays.
func TestSocket(t *testing.T) {
	for _, name := range []string{"s", strings.Repeat("long", 40)} {
		dir := filepath.Join(t.TempDir(), name)
		s := testkit.Call(store.Create(dir, store.Info{Topic: "x"})).Must(t)
		defer s.Close()
		socket := filepath.Join(dir, socketName)
		testkit.Must(t, os.WriteFile(socket, nil, 0o600))
		busy := errors.New("busy")
		if err := Ask(t.Context(), dir, "/status", nil, &status{}, busy); !errors.Is(err, busy) {
			t.Errorf("nobody is there: %v", err)
		}
		d := testkit.Call(Open(Options{Store: s, URLs: page.NewNormalizer(nil), Status: func(w http.ResponseWriter, _ *http.Request) { reply(w, status{"x"}, nil) }})).Must(t)
		if info, err := os.Stat(socket); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
		var got status
		if err := Ask(t.Context(), dir, "/status", nil, &got, busy); err != nil || got.Topic != "x" {
			t.Errorf("%+v, %v", got, err)
		}
		var mistake cli.UsageError
		if err := Ask(t.Context(), dir, "/why?url=nonsense", nil, &story.Story{}, busy); !errors.As(err, &mistake) {
			t.Errorf("a bad question: %v", err)
		}
		if err := Ask(t.Context(), dir, "/other", nil, &story.Story{}, busy); err == nil || !strings.Contains(err.Error(), "use the version of fossick that runs the crawl") {
			t.Errorf("an unknown question: %v", err)
		}
		link, _ := os.Readlink(socket)
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		for _, left := range []string{socket, link} {
			if _, err := os.Lstat(left); left != "" && !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s is left: %v", left, err)
			}
		}
	}
}

type status struct {
	Topic string `json:"topic"`
}

// TestCrawlEndsAtTheQuestion: a crawl that takes a reader's question and ends without a word
// has given its store back, which is read then.
func TestCrawlEndsAtTheQuestion(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Create(dir, store.Info{Topic: "x"})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, socketName))
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan error, 1)
	go func() {
		c, err := l.Accept()
		if err == nil {
			err = errors.Join(l.Close(), c.Close(), s.Close())
		}
		asked <- err
	}()
	r := Stores{Say: t.Logf}
	_, done, err := r.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(done(), <-asked); err != nil {
		t.Error(err)
	}
}

// FuzzLabels: what ReadLabels reads, written again, it reads as the same.
func FuzzLabels(f *testing.F) {
	for _, s := range []string{"http://a.test/\tyes\n", "# x\n\nhttp://a.test/\tno\r\nhttp://b.test/ \t yes ", "http://a.test/ yes", "\tyes", "a\tmaybe", "a\tb\tyes"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		labels, err := ReadLabels(strings.NewReader(text), "x")
		if err != nil {
			var mistake cli.UsageError
			if !errors.As(err, &mistake) || len(err.Error()) > 1000 {
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
		again, err := ReadLabels(strings.NewReader(b.String()), "x")
		if err != nil || fmt.Sprint(again) != fmt.Sprint(labels) {
			t.Fatalf("%q: %v, %v; want %v", b.String(), again, err, labels)
		}
	})
}
