package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"fossick/crawler/fetch"
	"fossick/datasets/web"
)

// TestSign: every request of a crawl is signed, also for robots.txt, with the
// key that the crawl says to publish.
func TestSign(t *testing.T) {
	t.Chdir(t.TempDir())
	const pem = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF\n-----END PRIVATE KEY-----\n"
	if err := os.WriteFile("key.pem", []byte(pem), 0o600); err != nil {
		t.Fatal(err)
	}
	key, err := fetch.ReadKey([]byte(pem))
	if err != nil {
		t.Fatal(err)
	}
	signed := regexp.MustCompile(`^sig1=\("@authority" "signature-agent"\);created=\d+;expires=\d+;keyid="` + key.Name() + `";alg="ed25519";nonce="([^"]+)";tag="web-bot-auth"$`)
	var mu sync.Mutex
	nonces := map[string]bool{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		input := signed.FindStringSubmatch(r.Header.Get("Signature-Input"))
		if input == nil || nonces[input[1]] || r.Header.Get("Signature") == "" || r.Header.Get("Signature-Agent") != `"https://bot.test"` {
			t.Errorf("%s%s: %v", r.Host, r.URL.Path, r.Header)
		} else {
			nonces[input[1]] = true
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<p>gold of %s <a href="http://A.test/1">one</a> <a href="http://b.test:8080/">two</a>`, r.Host)
	}))
	defer srv.Close()
	crawl := func(key string) (int, string) {
		var out, errOut bytes.Buffer
		code := run(t.Context(), []string{"focus", "--topic", "gold", "--keywords", "gold", "--proxy", srv.URL, "--seed", "http://a.test/",
			"--delay", "0", "--store", "store-" + key, "--contact", "https://bot.test/about", "--sign", key}, &out, &errOut)
		return code, out.String() + errOut.String()
	}
	if code, said := crawl("key.pem"); code != 0 || !strings.Contains(said, key.Directory()) {
		t.Errorf("exit code %d\n%s", code, said)
	}
	if len(nonces) != 5 { // two robots.txt, three pages
		t.Errorf("%d signed requests", len(nonces))
	}
	if code, said := crawl("none.pem"); code != exitUsage || !strings.Contains(said, "openssl genpkey") {
		t.Errorf("without a key: exit code %d\n%s", code, said)
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
