package bucket

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"fossick/export"
)

// server is a fake S3 server with the bucket "bbb"; before may intercept requests.
type server struct {
	settings
	client *client
	before atomic.Pointer[func(w http.ResponseWriter, r *http.Request) (answered bool)]
}

func newServer(t *testing.T) *server {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("bbb"); err != nil {
		t.Fatal(err)
	}
	s, fake := &server{}, gofakes3.New(backend).Server()
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if before := s.before.Load(); before == nil || !(*before)(w, r) {
			fake.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(h.Close)
	s.settings = settings{endpoint: h.URL, region: "us-east-1", id: "id", secret: "secret"}
	var err error
	if s.client, err = newClient("bbb", s.settings); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *server) answer(before func(w http.ResponseWriter, r *http.Request) (answered bool)) {
	s.before.Store(&before)
}

func (s *server) open(t *testing.T, key string, single bool) *Place {
	t.Helper()
	p, err := open(t.Context(), address{"bbb", key}, single, s.settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Discard(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func (s *server) content(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for o, err := range s.client.below(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		body, err := s.client.open(t.Context(), o.Key)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(body)
		if err := errors.Join(err, body.Close()); err != nil {
			t.Fatal(err)
		}
		all[o.Key] = string(text)
	}
	return all
}

func (s *server) uploads(t *testing.T) int {
	t.Helper()
	n := 0
	for _, err := range s.client.uploads(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

func fill(p *Place, files map[string]string) error {
	for name, text := range files {
		w, err := p.Create(name)
		if err != nil {
			return err
		}
		_, err = io.Copy(w, strings.NewReader(text))
		if err := errors.Join(err, w.Close()); err != nil {
			return err
		}
	}
	return nil
}

func long() string {
	b := make([]byte, 2*firstPart+1000)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(b)
	return string(b)
}

func want(t *testing.T, got, want map[string]string) {
	t.Helper()
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s has %d bytes, not its %d", name, len(got[name]), len(text))
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("there is %s", name)
		}
	}
}

// TestObject: an object appears only at Commit; a second export compares it and sends nothing.
func TestObject(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "text", long()} {
		s := newServer(t)
		for run := range 2 {
			p := s.open(t, "a/out", true)
			if err := fill(p, map[string]string{"x": text}); err != nil {
				t.Fatal(err)
			}
			if run == 0 {
				want(t, s.content(t), nil)
			}
			if err := p.Commit(); err != nil {
				t.Fatal(err)
			}
			want(t, s.content(t), map[string]string{"a/out": text})
			if files, bytes := p.Made(); files != 1 || bytes != int64(len(text)) {
				t.Errorf("made %d files of %d bytes", files, bytes)
			}
			s.answer(func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method == http.MethodPut || r.Method == http.MethodPost {
					t.Errorf("the same again: %s %s", r.Method, r.URL)
				}
				return false
			})
		}
		for _, other := range []string{text + "more", text[:len(text)/2], strings.ToUpper(text)} {
			if other == text {
				continue
			}
			p := s.open(t, "a/out", true)
			if err := errors.Join(fill(p, map[string]string{"x": other}), p.Commit()); !errors.Is(err, export.ErrThere) {
				t.Errorf("other bytes: %v", err)
			}
		}
		want(t, s.content(t), map[string]string{"a/out": text})
	}
}

// TestPrefix: the list is written last; the same export sends nothing, any other is refused.
func TestPrefix(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	files := map[string]string{"pages.jsonl": long(), "a b/ü.txt": "text", "empty": ""}
	p := s.open(t, "out", false)
	if err := fill(p, files); err != nil {
		t.Fatal(err)
	}
	for key := range s.content(t) {
		if key == "out/"+listName || key == "out/pages.jsonl" {
			t.Errorf("before Commit there is %s", key)
		}
	}
	if err := p.Commit(); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"out/" + listName: fmt.Sprintf(`{"version":1,"files":[
{"name":"a b/ü.txt","bytes":4,"sha256":%q},
{"name":"empty","bytes":0,"sha256":%q},
{"name":"pages.jsonl","bytes":%d,"sha256":%q}
]}
`, sumOf([]byte("text")), sumOf(nil), len(long()), sumOf([]byte(long())))}
	for name, text := range files {
		all["out/"+name] = text
	}
	want(t, s.content(t), all)
	again := func(files map[string]string) error {
		p := s.open(t, "out", false)
		return errors.Join(fill(p, files), p.Commit())
	}
	if err := again(files); err != nil {
		t.Errorf("the same again: %v", err)
	}
	for what, other := range map[string]map[string]string{
		"other bytes": {"pages.jsonl": long(), "a b/ü.txt": "Text", "empty": ""}, "one less": {"pages.jsonl": long(), "empty": ""},
		"one more": {"pages.jsonl": long(), "a b/ü.txt": "text", "empty": "", "x": ""},
	} {
		if err := again(other); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	want(t, s.content(t), all)
	if _, err := open(t.Context(), address{"bbb", "out/a b"}, false, s.settings); !errors.Is(err, export.ErrThere) {
		t.Errorf("where there are objects of others: %v", err)
	}
	if _, err := open(t.Context(), address{"ccc", "out"}, false, s.settings); err == nil || !strings.Contains(err.Error(), "make the bucket first") {
		t.Errorf("no bucket: %v", err)
	}
}

// TestRemains: the next export removes what a killed one left, and nothing else.
func TestRemains(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	if _, err := s.client.put(t.Context(), "outer", []byte("of others")); err != nil {
		t.Fatal(err)
	}
	for _, single := range []bool{false, true} {
		killed, err := open(t.Context(), address{"bbb", "out"}, single, s.settings)
		if err != nil {
			t.Fatal(err)
		}
		files := map[string]string{"x": long()}
		if !single {
			files["y"] = "small"
		}
		if err := fill(killed, files); err != nil {
			t.Fatal(err)
		}
		killed.transfers.stop() // like a kill: nothing is cleaned up
		if s.uploads(t) == 0 {
			t.Fatal("no upload was begun")
		}
		p := s.open(t, "out", single)
		if n := s.uploads(t); n != 0 {
			t.Errorf("%d uploads are left", n)
		}
		if err := errors.Join(fill(p, map[string]string{"z": "text"}), p.Commit()); err != nil {
			t.Fatal(err)
		}
		got := s.content(t)
		delete(got, "out/"+listName)
		name := map[bool]string{false: "out/z", true: "out"}[single]
		want(t, got, map[string]string{"outer": "of others", name: "text"})
		if err := s.client.removeAll(t.Context(), func(yield func(string) bool) { _ = yield(name) && yield("out/"+listName) }); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFailures: a busy server is retried; a refusal ends the export with its reason and leaves nothing.
func TestFailures(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a": "small", "b": long()}
	s := newServer(t)
	busy := atomic.Int32{}
	s.answer(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPut || busy.Add(1) > 2 {
			return false
		}
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	})
	p := s.open(t, "out", false)
	if err := errors.Join(fill(p, files), p.Commit()); err != nil {
		t.Errorf("a busy server: %v", err)
	}
	for what, refused := range map[string]func(r *http.Request) bool{
		"begin":    func(r *http.Request) bool { return r.Method == http.MethodPost && r.URL.Query().Has("uploads") },
		"part":     func(r *http.Request) bool { return r.URL.Query().Get("partNumber") == "2" },
		"complete": func(r *http.Request) bool { return r.Method == http.MethodPost && r.URL.Query().Has("uploadId") },
		"small":    func(r *http.Request) bool { return r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/a") },
		"list": func(r *http.Request) bool {
			return r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, listName)
		},
	} {
		s := newServer(t)
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			if !refused(r) {
				return false
			}
			_, _ = io.Copy(io.Discard, r.Body)
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, "<Error><Code>AccessDenied</Code><Message>no</Message></Error>")
			return true
		})
		p := s.open(t, "out", false)
		err := fill(p, files)
		if err == nil {
			err = p.Commit()
		}
		if err == nil || !strings.Contains(err.Error(), "the keys in use do not allow that") {
			t.Errorf("%s is refused: %v", what, err)
		}
		if err := p.Discard(); err != nil {
			t.Errorf("%s is refused, then: %v", what, err)
		}
		if n := s.uploads(t); n != 0 {
			t.Errorf("%s is refused: %d uploads are left", what, n)
		}
		want(t, s.content(t), nil)
	}
}

// TestInterruptedWhileBegun: an upload whose id arrives during an interrupt is aborted too.
func TestInterruptedWhileBegun(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	ctx, interrupt := context.WithCancel(t.Context())
	s.answer(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost && r.URL.Query().Has("uploads") {
			interrupt()
		}
		return false
	})
	p, err := open(ctx, address{"bbb", "out"}, false, s.settings)
	if err != nil {
		t.Fatal(err)
	}
	if err := fill(p, map[string]string{"b": long()}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	if err := p.Discard(); err != nil || s.uploads(t) != 0 {
		t.Errorf("%d uploads are left, %v", s.uploads(t), err)
	}
}

// TestInterrupted: Discard cleans up after the run's context has ended.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	ctx, interrupt := context.WithCancel(t.Context())
	p, err := open(ctx, address{"bbb", "out"}, false, s.settings)
	if err != nil {
		t.Fatal(err)
	}
	if err := fill(p, map[string]string{"a": "small", "b": long()}); err != nil {
		t.Fatal(err)
	}
	interrupt()
	if err := p.Commit(); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	if err := p.Discard(); err != nil || s.uploads(t) != 0 {
		t.Errorf("%d uploads are left, %v", s.uploads(t), err)
	}
	for key := range s.content(t) { // objects in flight may exist, but are marked as unfinished
		if _, marked := s.content(t)["out/"+markName]; !marked {
			t.Errorf("there is %s", key)
		}
	}
}

// TestTwoAtOnce: when others change objects, no list is written and their objects stay.
func TestTwoAtOnce(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	p := s.open(t, "out", false)
	if err := fill(p, map[string]string{"a": "small"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.client.put(t.Context(), "out/mine", []byte("of a person")); err != nil {
		t.Fatal(err)
	}
	if err := p.Commit(); err == nil || !strings.Contains(err.Error(), "check that no one else writes there") {
		t.Errorf("objects of others: %v", err)
	}
	if err := p.Discard(); err != nil {
		t.Error(err)
	}
	want(t, s.content(t), map[string]string{"out/mine": "of a person", "out/" + markName: markText})
}

func TestPacked(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	p := s.open(t, "out", false)
	if err := errors.Join(fill(p, map[string]string{"a.gz": strings.Repeat("text", 1000)}), p.Commit()); err != nil {
		t.Fatal(err)
	}
	if text := s.content(t)["out/a.gz"]; len(text) > 200 || !bytes.HasPrefix([]byte(text), []byte{0x1f, 0x8b}) {
		t.Errorf("%d bytes", len(text))
	}
}

// TestParse: addresses are parsed, and errors never show credentials in them.
func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"s3://b": "s3://b/", "s3://b/": "s3://b/", "s3://b/a": "s3://b/a", "s3://b/a b/c?.jsonl.gz": "s3://b/a b/c?.jsonl.gz", "s3://b/x@y": "s3://b/x@y",
		"s3://": "", "s3:///a": "", "s3://b//a": "", "http://b/a": "", "s3://id:secret@b/a": "",
	} {
		at, err := parse(text)
		if got := at.String(); (err == nil) != (want != "") || err == nil && got != want || err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
}

// TestRedirect: objects and signatures do not follow a redirect to another host.
func TestRedirect(t *testing.T) {
	for _, code := range []int{301, 302, 303, 307, 308} {
		var reached atomic.Int64
		other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { reached.Add(1) }))
		s := newServer(t)
		p := s.open(t, "pages", false)
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, other.URL+r.URL.Path, code)
			return true
		})
		err := errors.Join(fill(p, map[string]string{"a": "text"}), p.Commit())
		if err == nil || reached.Load() != 0 {
			t.Errorf("a redirect of %d: %v, and the other host was asked %d times", code, err, reached.Load())
		}
		s.answer(func(http.ResponseWriter, *http.Request) bool { return false })
		other.Close()
	}
}
