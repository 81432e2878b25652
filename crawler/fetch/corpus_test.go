package fetch

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"testing"

	"github.com/klauspost/compress/zstd"

	"fossick/internal/fulltest"
)

// TestCorpusServed fetches real pages of real hosts, served on loopback under
// their own names, every other one compressed: each must arrive to the byte.
func TestCorpusServed(t *testing.T) {
	every := fulltest.Rounds(80, 20) // lines: some 690 pages of all hosts
	file, err := os.Open(fulltest.Corpus(t, "debdocs/pages.jsonl.zst"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := zstd.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	served := map[string]string{} // URL → HTML
	hosts := map[string]netip.AddrPort{}
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		html, ok := served["http://"+r.Host+r.RequestURI]
		if !ok {
			t.Errorf("asked for %s%s, which is no page", r.Host, r.RequestURI)
		}
		w.Header().Set("Content-Type", "text/html")
		if len(html)%2 == 0 {
			w.Header().Set("Content-Encoding", "gzip")
			html = gzipped([]byte(html))
		}
		io.WriteString(w, html)
	})
	at := netip.MustParseAddrPort(srv.Listener.Addr().String())
	lines := bufio.NewReader(z)
	for n := 0; ; n++ {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		if n%every != 0 {
			continue
		}
		var row struct{ URL, HTML string }
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(row.URL)
		if err != nil || row.HTML == "" {
			continue
		}
		u.Scheme, u.Fragment = "http", ""
		served[u.String()] = row.HTML
		hosts[u.Hostname()] = at
	}
	f := newTest(t, Options{Hosts: hosts})
	bad := 0
	for u, html := range served {
		resp := f.Fetch(t.Context(), Request{URL: u})
		if resp.State != StateOK || string(resp.Body) != html {
			if bad++; bad < 10 {
				t.Errorf("%s: %s (%v), %d bytes of %d", u, resp.State, resp.Err, len(resp.Body), len(html))
			}
		}
	}
	t.Logf("%d pages of %d hosts, %d bad", len(served), len(hosts), bad)
}
