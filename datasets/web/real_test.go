package web

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"fossick/datasets"
	"fossick/internal/testkit"
)

func corpus(t testing.TB, name string) *datasets.Set {
	t.Helper()
	s, err := datasets.Open(testkit.Corpus(t, name), datasets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestRealCorpora serves each corpus and requests every 97th page.
func TestRealCorpora(t *testing.T) {
	tests := []struct {
		name                             string
		hosts, pages, repeated, unserved int
	}{
		{"wikispeedia", 238, 4598, 0, 0},
		{"webkb", 0, 0, 0, 0},
		{"uci_ics", 88, 0, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name != "webkb" {
				testkit.Only(t, "serves a large corpus")
			}
			s, before := corpus(t, tt.name), time.Now()
			w, _, client := start(t, Options{}, s)
			took := time.Since(before)
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			st := w.Stats()
			t.Logf("%+v in %v; %d MiB of heap from the system", st, took, m.HeapSys>>20)
			n, asked := 0, 0
			for e, err := range s.Examples() {
				if err != nil {
					t.Fatal(err)
				}
				n++
				if n%97 != 0 || strings.Contains(e.URL, "#") || !strings.HasPrefix(e.URL, "http") {
					continue
				}
				asked++
				resp, body := get(t, client, e.URL)
				if want := e.HTML + e.Text; resp.StatusCode != 200 || (body != want && st.Repeated == 0) {
					t.Errorf("%s: %d, %d bytes; want 200 and %d bytes", e.URL, resp.StatusCode, len(body), len(want))
				}
			}
			if st.Pages+st.Repeated+st.Unserved != n {
				t.Errorf("%+v do not add up to the %d rows", st, n)
			}
			if tt.hosts > 0 && st.Hosts != tt.hosts || tt.pages > 0 && st.Pages != tt.pages {
				t.Errorf("%d hosts, %d pages; want %d, %d", st.Hosts, st.Pages, tt.hosts, tt.pages)
			}
			t.Logf("asked for %d pages", asked)
		})
	}
}

// BenchmarkServe keeps four connections busy and parses only response headers, so the server dominates.
func BenchmarkServe(b *testing.B) {
	for _, size := range []int{500, 21 << 10} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			page := &datasets.Example{URL: "http://a.test/p", HTML: strings.Repeat("x", size)}
			_, server, _ := start(b, Options{}, set(page))
			b.ReportAllocs()
			b.SetBytes(int64(size))
			b.SetParallelism(2)
			b.RunParallel(func(pb *testing.PB) {
				conn, err := net.Dial("tcp", server.Listener.Addr().String())
				if err != nil {
					b.Error(err)
					return
				}
				defer conn.Close()
				r := bufio.NewReader(conn)
				for pb.Next() {
					if _, err := io.WriteString(conn, "GET http://a.test/p HTTP/1.1\r\nHost: a.test\r\n\r\n"); err != nil {
						b.Error(err)
						return
					}
					resp, err := http.ReadResponse(r, nil)
					if err != nil || resp.StatusCode != 200 {
						b.Error(resp, err)
						return
					}
					if _, err := io.Copy(io.Discard, resp.Body); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pages/s")
		})
	}
}

// BenchmarkAnswer measures index and spool without the network.
func BenchmarkAnswer(b *testing.B) {
	page := &datasets.Example{URL: "http://a.test/p", HTML: strings.Repeat("x", 21<<10)}
	w, err := New(b.Context(), Options{}, set(page))
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	r, err := http.NewRequestWithContext(b.Context(), "GET", "http://a.test/p", nil)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		w.ServeHTTP(discard{http.Header{}}, r)
	}
}

type discard struct{ h http.Header }

func (d discard) Header() http.Header         { return d.h }
func (d discard) Write(b []byte) (int, error) { return len(b), nil }
func (d discard) WriteHeader(int)             {}
