package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"fossick/crawler/fetch"
)

// TestSign: every request of a crawl, also for robots.txt, is signed with the key that the crawl says to
// publish.
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
