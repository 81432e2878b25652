package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"fossick/internal/testkit"
)

// server is a fake S3 server with the bucket "bbb"; before may intercept requests.
type server struct {
	s3Settings
	client *s3Client
	before atomic.Pointer[func(w http.ResponseWriter, r *http.Request) (answered bool)]
}

func newServer(t *testing.T) *server {
	t.Helper()
	backend := s3mem.New()
	testkit.Must(t, backend.CreateBucket("bbb"))
	s, fake := &server{}, gofakes3.New(backend).Server()
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if before := s.before.Load(); before == nil || !(*before)(w, r) {
			fake.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(h.Close)
	s.s3Settings = s3Settings{endpoint: h.URL, region: "us-east-1", id: "id", secret: "secret"}
	var err error
	if s.client, err = newS3Client("bbb", s.s3Settings); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *server) answer(before func(w http.ResponseWriter, r *http.Request) (answered bool)) {
	s.before.Store(&before)
}

func (s *server) open(t *testing.T, key string, single bool) *bucketPlace {
	t.Helper()
	p := testkit.Call(openBucket(t.Context(), s3Address{"bbb", key}, single, s.s3Settings)).Must(t)
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
	for o := range testkit.All(t, s.client.below(t.Context(), "")) {
		body, err := s.client.open(t.Context(), o.Key)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(body)
		testkit.Must(t, errors.Join(err, body.Close()))
		all[o.Key] = string(text)
	}
	return all
}

func (s *server) uploads(t *testing.T) int {
	t.Helper()
	n := 0
	for range testkit.All(t, s.client.uploads(t.Context(), "")) {
		n++
	}
	return n
}

func upload(p *bucketPlace, files map[string]string) error {
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

// TestBucketObject: an object appears only at Commit; a second export compares it and sends nothing.
func TestBucketObject(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "text", long()} {
		s := newServer(t)
		for run := range 2 {
			p := s.open(t, "a/out", true)
			testkit.Must(t, upload(p, map[string]string{"x": text}))
			if run == 0 {
				want(t, s.content(t), nil)
			}
			testkit.Must(t, p.Commit())
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
			if err := errors.Join(upload(p, map[string]string{"x": other}), p.Commit()); !errors.Is(err, ErrThere) {
				t.Errorf("other bytes: %v", err)
			}
		}
		want(t, s.content(t), map[string]string{"a/out": text})
	}
}

// TestBucketPrefix: the list is written last; the same export sends nothing, any other is refused.
func TestBucketPrefix(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	files := map[string]string{"pages.jsonl": long(), "a b/ü.txt": "text", "empty": ""}
	p := s.open(t, "out", false)
	testkit.Must(t, upload(p, files))
	for key := range s.content(t) {
		if key == "out/"+listName || key == "out/pages.jsonl" {
			t.Errorf("before Commit there is %s", key)
		}
	}
	testkit.Must(t, p.Commit())
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
		return errors.Join(upload(p, files), p.Commit())
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
	if _, err := openBucket(t.Context(), s3Address{"bbb", "out/a b"}, false, s.s3Settings); !errors.Is(err, ErrThere) {
		t.Errorf("where there are objects of others: %v", err)
	}
	if _, err := openBucket(t.Context(), s3Address{"ccc", "out"}, false, s.s3Settings); err == nil || !strings.Contains(err.Error(), "make the bucket first") {
		t.Errorf("no bucket: %v", err)
	}
}

// TestBucketRemains: the next export removes what a killed one left, and nothing else.
func TestBucketRemains(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	testkit.Call(s.client.put(t.Context(), "outer", []byte("of others"))).Must(t)
	for _, single := range []bool{false, true} {
		killed := testkit.Call(openBucket(t.Context(), s3Address{"bbb", "out"}, single, s.s3Settings)).Must(t)
		files := map[string]string{"x": long()}
		if !single {
			files["y"] = "small"
		}
		testkit.Must(t, upload(killed, files))
		killed.stop() // like a kill: nothing is cleaned up
		_ = killed.group.Wait()
		if s.uploads(t) == 0 {
			t.Fatal("no upload was begun")
		}
		p := s.open(t, "out", single)
		if n := s.uploads(t); n != 0 {
			t.Errorf("%d uploads are left", n)
		}
		testkit.Must(t, errors.Join(upload(p, map[string]string{"z": "text"}), p.Commit()))
		got := s.content(t)
		delete(got, "out/"+listName)
		name := map[bool]string{false: "out/z", true: "out"}[single]
		want(t, got, map[string]string{"outer": "of others", name: "text"})
		testkit.Must(t, s.client.removeAll(t.Context(), func(yield func(string) bool) { _ = yield(name) && yield("out/"+listName) }))
	}
}

// TestBucketFailures: a busy server is retried; a refusal ends the export with its reason and leaves nothing.
func TestBucketFailures(t *testing.T) {
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
	if err := errors.Join(upload(p, files), p.Commit()); err != nil {
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
		err := upload(p, files)
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

// TestBucketInterruptedWhileBegun: an upload whose id arrives during an interrupt is aborted too.
func TestBucketInterruptedWhileBegun(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	ctx, interrupt := context.WithCancel(t.Context())
	s.answer(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost && r.URL.Query().Has("uploads") {
			interrupt()
		}
		return false
	})
	p := testkit.Call(openBucket(ctx, s3Address{"bbb", "out"}, false, s.s3Settings)).Must(t)
	if err := upload(p, map[string]string{"b": long()}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	if err := p.Discard(); err != nil || s.uploads(t) != 0 {
		t.Errorf("%d uploads are left, %v", s.uploads(t), err)
	}
}

// TestBucketInterrupted: Discard cleans up after the run's context has ended.
func TestBucketInterrupted(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	ctx, interrupt := context.WithCancel(t.Context())
	p := testkit.Call(openBucket(ctx, s3Address{"bbb", "out"}, false, s.s3Settings)).Must(t)
	testkit.Must(t, upload(p, map[string]string{"a": "small", "b": long()}))
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

// TestBucketTwoAtOnce: when others change objects, no list is written and their objects stay.
func TestBucketTwoAtOnce(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	p := s.open(t, "out", false)
	testkit.Must(t, upload(p, map[string]string{"a": "small"}))
	testkit.Call(s.client.put(t.Context(), "out/mine", []byte("of a person"))).Must(t)
	if err := p.Commit(); err == nil || !strings.Contains(err.Error(), "check that no one else writes there") {
		t.Errorf("objects of others: %v", err)
	}
	if err := p.Discard(); err != nil {
		t.Error(err)
	}
	want(t, s.content(t), map[string]string{"out/mine": "of a person", "out/" + markName: markText})
}

// TestS3Address: addresses are parsed, and errors never show credentials in them.
func TestS3Address(t *testing.T) {
	for text, want := range map[string]string{
		"s3://b": "s3://b/", "s3://b/": "s3://b/", "s3://b/a": "s3://b/a", "s3://b/a b/c?.jsonl.gz": "s3://b/a b/c?.jsonl.gz", "s3://b/x@y": "s3://b/x@y",
		"s3://": "", "s3:///a": "", "s3://b//a": "", "http://b/a": "", "s3://id:secret@b/a": "",
	} {
		at, err := parseS3(text)
		if got := at.String(); (err == nil) != (want != "") || err == nil && got != want || err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
}

// TestS3Redirect: objects and signatures do not follow a redirect to another host.
func TestS3Redirect(t *testing.T) {
	for _, code := range []int{301, 302, 303, 307, 308} {
		var reached atomic.Int64
		other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { reached.Add(1) }))
		s := newServer(t)
		p := s.open(t, "pages", false)
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, other.URL+r.URL.Path, code)
			return true
		})
		err := errors.Join(upload(p, map[string]string{"a": "text"}), p.Commit())
		if err == nil || reached.Load() != 0 {
			t.Errorf("a redirect of %d: %v, and the other host was asked %d times", code, err, reached.Load())
		}
		s.answer(func(http.ResponseWriter, *http.Request) bool { return false })
		other.Close()
	}
}

func TestS3FromEnvironment(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		testkit.Must(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	t.Setenv("HOME", dir)
	t.Setenv("AWS_CONFIG_FILE", write("config", "[default]\nregion = here\n[profile p]\nregion = there\nendpoint_url = http://h:9000\n"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", write("credentials", "[p]\naws_access_key_id = fileid\naws_secret_access_key = filesecret\n"))
	for _, test := range []struct{ set, want string }{
		{"AWS_ACCESS_KEY_ID=id AWS_SECRET_ACCESS_KEY=secret", " here id"},
		{"AWS_ACCESS_KEY_ID=id AWS_SECRET_ACCESS_KEY=secret AWS_REGION=r AWS_ENDPOINT_URL=https://e AWS_ENDPOINT_URL_S3=https://s", "https://s r id"},
		{"AWS_PROFILE=p", "http://h:9000 there fileid"},
		{"AWS_ACCESS_KEY_ID=id", "both keys for the server are missing"},
		{"", "both keys for the server are missing"},
		{"AWS_PROFILE=q", "both keys for the server are missing"},
	} {
		t.Run(test.set, func(t *testing.T) {
			for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"} {
				t.Setenv(name, "")
			}
			for _, pair := range strings.Fields(test.set) {
				name, value, _ := strings.Cut(pair, "=")
				t.Setenv(name, value)
			}
			s, err := s3FromEnvironment(os.Getenv)
			if err != nil {
				if !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "filesecret") {
					t.Error(err)
				}
				return
			}
			if got := s.endpoint + " " + s.region + " " + s.id; got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
	for _, endpoint := range []string{"h:9000", "ftp://h", "https://id:secret@h", "https://h/path"} {
		if _, err := newS3Client("bbb", s3Settings{endpoint: endpoint}); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", endpoint, err)
		}
	}
}
