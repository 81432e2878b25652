package web

import (
	"bytes"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"fossick/datasets"
)

// changing is a web of n pages of one host that change.
func changing(t *testing.T, plan ChangePlan, n int) *Web {
	t.Helper()
	web, err := New(t.Context(), Options{Change: plan, Seed: 1}, datasets.FromSeq("some", func(yield func(*datasets.Example, error) bool) {
		for i := range n {
			if !yield(&datasets.Example{URL: fmt.Sprintf("http://a.test/%d", i), HTML: fmt.Sprintf("<p>one<p>page %d has a long paragraph<pre>x</pre></body>", i)}, nil) {
				return
			}
		}
	}, datasets.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := web.Close(); err != nil {
			t.Error(err)
		}
	})
	return web
}

func ask(web *Web, url, etag string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, url, nil)
	r.Header.Set("If-None-Match", etag)
	rw := httptest.NewRecorder()
	web.ServeHTTP(rw, r)
	return rw
}

// TestLastmod: a sitemap says when texts changed, but on the hosts that are wrong; one that is
// as it was is not sent again.
func TestLastmod(t *testing.T) {
	for _, wrong := range []float64{0, 1} {
		web, err := New(t.Context(), Options{Sitemaps: true, Change: ChangePlan{Mean: time.Hour, Wrong: wrong}, Seed: 1}, datasets.FromSeq("some", func(yield func(*datasets.Example, error) bool) {
			for i := range 20 {
				if !yield(&datasets.Example{URL: fmt.Sprintf("http://h%d.test/", i), HTML: "<p>a page"}, nil) {
					return
				}
			}
		}, datasets.Options{}))
		if err != nil {
			t.Fatal(err)
		}
		defer web.Close()
		web.began = web.began.Add(-1000 * time.Hour)
		seen := map[Lastmod]int{}
		for i := range 20 {
			host := fmt.Sprintf("http://h%d.test", i)
			truth := web.Truth(host + "/")
			seen[truth.Lastmod]++
			got := ask(web, host+"/sitemap.xml", "")
			_, told, _ := strings.Cut(got.Body.String(), "<lastmod>")
			told, _, _ = strings.Cut(told, "</lastmod>")
			at, _ := time.Parse(time.RFC3339, told)
			now := web.at(truth, time.Since(web.began))
			right := map[Lastmod]bool{
				TrueLastmod:   at.Equal(web.began.Add(now.lastText).Truncate(time.Second)),
				alwaysLastmod: time.Since(at) < time.Minute,
				neverLastmod:  len(told) == len(time.DateOnly),
			}
			if !right[truth.Lastmod] {
				t.Errorf("%s, %s: lastmod %s", host, truth.Lastmod, told)
			}
			if again := ask(web, host+"/sitemap.xml", got.Header().Get("Etag")); truth.Lastmod != alwaysLastmod && again.Code != http.StatusNotModified {
				t.Errorf("%s: asked again: %d, want 304", host, again.Code)
			}
		}
		if wrong == 0 && seen[TrueLastmod] != 20 || wrong == 1 && (seen[TrueLastmod] > 0 || seen[alwaysLastmod] == 0 || seen[neverLastmod] == 0) {
			t.Errorf("of wrong hosts %g: %v", wrong, seen)
		}
	}
}

// TestChange: pages change, and a request that knows the version gets 304 until then.
func TestChange(t *testing.T) {
	web := changing(t, ChangePlan{Mean: time.Hour, Adverts: 1}, 2)
	const url = "http://a.test/1"
	first := ask(web, url, "")
	if again := ask(web, url, first.Header().Get("Etag")); !strings.HasPrefix(first.Body.String(), "<p>one<p>page 1") || again.Code != http.StatusNotModified {
		t.Errorf("%q, then %d; want the page, then 304", first.Body, again.Code)
	}
	web.began = web.began.Add(-1000 * time.Hour)
	second := ask(web, url, first.Header().Get("Etag"))
	if body := second.Body.String(); second.Code != http.StatusOK || !strings.HasPrefix(body, "<p>one<p>By revision") || !strings.Contains(body, "Offer") || !strings.HasSuffix(body, "</body>") {
		t.Errorf("after a thousand hours %d %q, want another revision and another offer", second.Code, second.Body)
	}
	if again := ask(web, url, second.Header().Get("Etag")); again.Code != http.StatusNotModified {
		t.Errorf("asked again: %d, want 304", again.Code)
	}
}

// TestTruth: pages change as often as the truth says, and are away as often.
func TestTruth(t *testing.T) {
	const n, hours = 400, 2000
	web := changing(t, ChangePlan{Mean: time.Hour, Adverts: 2, Away: .5}, n)
	texts, adverts, expected := 0., 0., 0.
	absent, away := map[Absence]int{}, 0
	for i := range n {
		truth := web.Truth(fmt.Sprintf("http://a.test/%d", i))
		m := web.at(truth, hours*time.Hour)
		texts, adverts = texts+float64(m.text), adverts+float64(m.advert)
		expected += float64(hours*time.Hour) / float64(truth.Interval)
		absent[truth.Absence]++
		if m.away {
			away++
		}
	}
	if math.Abs(texts/expected-1) > .02 || math.Abs(adverts/expected-2) > .04 {
		t.Errorf("%.0f changes of texts, %.0f of adverts, want %.0f and twice that", texts, adverts, expected)
	}
	if g, m := absent[gone], absent[Moved]; g < 60 || m < 60 || absent[never] < 150 {
		t.Errorf("%v, want a quarter each gone and moved now and then", absent)
	}
	if share := float64(away) / float64(n-absent[never]); math.Abs(share-2./7) > .1 {
		t.Errorf("%.2f of the pages that go away are, want two sevenths", share)
	}
	var out bytes.Buffer
	if err := web.WriteTruth(&out); err != nil || strings.Count(out.String(), "\n") != n || !strings.Contains(out.String(), `"absence":"moved"`) {
		t.Errorf("%v: %.200s", err, out.String())
	}
}

// TestAway: a page that has gone says so, one that has moved says where to, and is there.
func TestAway(t *testing.T) {
	web := changing(t, ChangePlan{Mean: time.Hour, Away: 1}, 60)
	start := web.began
	codes := map[int]int{}
	for hour := range 30 {
		web.began = start.Add(-time.Duration(hour) * time.Hour)
		for i := range 60 {
			url := fmt.Sprintf("http://a.test/%d", i)
			r := ask(web, url, "")
			codes[r.Code]++
			moved := ask(web, url+movedTo, "")
			if to := r.Header().Get("Location"); (r.Code == http.StatusMovedPermanently) != (moved.Code == http.StatusOK) || to != "" && to != url+movedTo {
				t.Fatalf("%s: %d to %q, where it has moved to %d", url, r.Code, to, moved.Code)
			}
		}
	}
	for _, code := range []int{200, 301, 404, 410} {
		if codes[code] == 0 {
			t.Errorf("codes %v: want %d too", codes, code)
		}
	}
	if first := web.Truth(web.first); first.Absence != never {
		t.Errorf("the first page, by which crawls begin: %+v", first)
	}
}
