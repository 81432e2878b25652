package corpusweb

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"fossick/datasets"
)

// TestChange: pages change at intervals of their own, and a request that knows the
// version gets 304 until then.
func TestChange(t *testing.T) {
	web, err := New(t.Context(), Options{Change: time.Hour}, datasets.FromSeq("two", func(yield func(*datasets.Example, error) bool) {
		_ = yield(&datasets.Example{URL: "http://a.test/1", HTML: "<p>one"}, nil) && yield(&datasets.Example{URL: "http://a.test/2", HTML: "<p>two"}, nil)
	}, datasets.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := web.Close(); err != nil {
			t.Error(err)
		}
	}()
	ask := func(etag string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "http://a.test/1", nil)
		r.Header.Set("If-None-Match", etag)
		rw := httptest.NewRecorder()
		web.ServeHTTP(rw, r)
		return rw
	}
	first := ask("")
	if again := ask(first.Header().Get("Etag")); first.Body.String() != "<p>one" || again.Code != http.StatusNotModified {
		t.Errorf("%q, then %d; want the page, then 304", first.Body, again.Code)
	}
	web.began = web.began.Add(-10 * time.Hour)
	second := ask(first.Header().Get("Etag"))
	if second.Code != http.StatusOK || !strings.Contains(second.Body.String(), "Revision") {
		t.Errorf("after ten hours %d %q, want another revision", second.Code, second.Body)
	}
	if again := ask(second.Header().Get("Etag")); again.Code != http.StatusNotModified {
		t.Errorf("asked again: %d, want 304", again.Code)
	}
	now := web.began.Add(100 * time.Hour)
	one, two := web.version("http://a.test/1", now), web.version("http://a.test/2", now)
	if one == two || one < 66 || one > 200 || two < 66 || two > 200 {
		t.Errorf("%d and %d revisions in 100 hours; want some hundred, not the same", one, two)
	}
}
