package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fossick/datasets/web"
	"fossick/internal/testkit"
)

// TestSign: every request of a crawl is signed, also for robots.txt, and a site that knows nothing of
// fossick finds the key where the request says.
func TestSign(t *testing.T) {
	t.Chdir(t.TempDir())
	const pem = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF\n-----END PRIVATE KEY-----\n"
	write(t, "key.pem", pem)
	testkit.Must(t, os.Chmod("key.pem", 0o600))
	var out bytes.Buffer
	if code := run(t.Context(), []string{"identity", "init", "bot.test", "--contact", "me@bot.test"}, &out, &out); code != 0 {
		t.Fatalf("exit code %d\n%s", code, &out)
	}
	directory := testkit.Call(os.ReadFile("identity/site/.well-known/http-message-signatures-directory")).Must(t)
	var mu sync.Mutex // guards the rest
	published := map[string][]byte{
		"https://bot.test/.well-known/http-message-signatures-directory":   directory,
		"https://other.test/.well-known/http-message-signatures-directory": []byte(`{"keys":[{"kty":"OKP","crv":"Ed25519","x":"JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"}]}`),
	}
	nonces, askers := map[string]bool{}, map[string]int{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		var err error
		for from, keys := range published {
			var named, nonce string
			if named, nonce, err = testkit.VerifyBot(r, keys, time.Now()); err == nil && named == from && !nonces[nonce] {
				nonces[nonce] = true
				askers[from]++
				break
			}
			err = cmp.Or(err, errors.New("the key is of another host, or the nonce is not new"))
		}
		if err != nil {
			t.Errorf("%s%s: %v: %v", r.Host, r.URL.Path, err, r.Header)
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<p>gold of %s <a href="http://A.test/1">one</a> <a href="http://b.test:8080/">two</a>`, r.Host)
	}))
	defer srv.Close()
	for _, c := range []struct {
		key, contact string
		code         int
		says         string
	}{
		{"identity/key.json", "me@bot.test", 0, "sites look for the key at https://bot.test/.well-known/http-message-signatures-directory"},
		{"key.pem", "https://other.test/about", 0, `https://other.test/.well-known/http-message-signatures-directory; publish there {"keys":[{"kty":"OKP","crv":"Ed25519","kid":"poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U","x":"JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"`},
		{"key.pem", "me@other.test", exitUsage, "--contact https://HOST"},
		{"none.pem", "me@bot.test", exitUsage, "fossick identity init"},
	} {
		var out bytes.Buffer
		code := run(t.Context(), []string{"focus", "--topic", "gold", "--keywords", "gold", "--proxy", srv.URL, "--seed", "http://a.test/",
			"--delay", "0", "--store", "store-" + filepath.Base(c.key) + c.contact[:2], "--contact", c.contact, "--sign", c.key}, &out, &out)
		if code != c.code || !strings.Contains(out.String(), c.says) {
			t.Errorf("%s, %s: exit code %d, want %q\n%s", c.key, c.contact, code, c.says, &out)
		}
	}
	for from := range published {
		if askers[from] != 5 { // two robots.txt, three pages
			t.Errorf("%d requests verified with the key at %s", askers[from], from)
		}
	}
}

// TestProxyPasswordIsNowhere checks that a proxy's password is in no output, log or file.
func TestProxyPasswordIsNowhere(t *testing.T) {
	const password = "s3cr3t"
	addr, stop, err := serve(t.Context(), "demo", web.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	dir := filepath.Join(t.TempDir(), "crawl")
	fossick := func(want int, args ...string) string {
		t.Helper()
		var out bytes.Buffer
		if code := run(context.Background(), args, &out, &out); code != want {
			t.Errorf("%q: exit code %d, want %d\n%s", args, code, want, out.String())
		}
		if strings.Contains(out.String(), password) {
			t.Errorf("%q: the password is in\n%s", args, out.String())
		}
		return out.String()
	}
	crawl := func(want int, proxy, store string) string {
		t.Helper()
		return fossick(want, "focus", "--topic", "a", "--keywords", "bank", "--threshold", "0", "--seed", "http://moneyroom.test/", "--delay", "0",
			"--max-pages", "5", "--store", store, "--verbose", "--log-format", "json", "--proxy", proxy)
	}
	good := "http://user:" + password + "@" + addr
	crawl(0, good, dir)
	for _, bad := range []string{
		"http://user:" + password + " x@" + addr, "http://user:" + password + "%zz@" + addr, "http://user:" + password + "@[::1", "ftp://user:" + password + "@" + addr,
		"http://user:" + password + "@" + addr + ":x", "http://user:" + password + "@",
	} {
		crawl(2, bad, dir+"2")
	}
	crawl(1, "http://user:"+password+"@127.0.0.1:1", dir+"3") // nothing listens there, so it fetches nothing
	fossick(0, "why", "http://moneyroom.test/", "--store", dir+"3")
	if out := fossick(2, "focus", "--resume", "--store", dir, "--max-pages", "6"); !strings.Contains(out, "give --proxy (or FOSSICK_PROXY) again") {
		t.Errorf("resumed without the password: %s", out)
	}
	fossick(0, "focus", "--resume", "--store", dir, "--max-pages", "6", "--proxy", good)
	t.Setenv("FOSSICK_PROXY", good)
	fossick(0, "focus", "--resume", "--store", dir, "--max-pages", "7")
	err = filepath.WalkDir(filepath.Dir(dir), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := os.ReadFile(path)
		if bytes.Contains(body, []byte(password)) {
			t.Errorf("the password is in %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
