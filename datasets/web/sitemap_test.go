package web

import (
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"testing"

	"fossick/datasets"
)

func TestSitemaps(t *testing.T) {
	_, _, client := start(t, Options{Sitemaps: true}, few())
	for url, want := range map[string]string{
		"http://a.test/robots.txt":       "User-agent: *\nDisallow:\n\nSitemap: http://a.test/sitemap.xml\n",
		"https://a.test/robots.txt":      "Sitemap: http://a.test/sitemap.xml\n",
		"https://secure.test/robots.txt": "Sitemap: https://secure.test/sitemap.xml\n",
		"http://a.test/sitemap.xml":      "<url><loc>http://a.test/wiki/%C3%85land</loc><lastmod>2020-",
		"http://secure.test/sitemap.xml": "<loc>https://secure.test/in?a=1&amp;b=2</loc>",
	} {
		if resp, body := get(t, client, url); resp.StatusCode != 200 || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s\nwant %s", url, resp.StatusCode, body, want)
		}
	}
	if _, body := get(t, client, "http://a.test/sitemap.xml"); strings.Count(body, "<loc>") != 5 {
		t.Errorf("%d of 5 pages: %s", strings.Count(body, "<loc>"), body)
	}
	if resp, _ := get(t, client, "http://a.test/sitemap-1.xml.gz"); resp.StatusCode != 200 {
		t.Errorf("part 1: %d", resp.StatusCode)
	}
	for _, none := range []string{"/sitemap-2.xml", "/sitemap-0.xml", "/sitemap-x.xml", "/sitemap-1.txt"} {
		if resp, _ := get(t, client, "http://a.test"+none); resp.StatusCode != 404 {
			t.Errorf("%s: %d", none, resp.StatusCode)
		}
	}
}

func TestNoSitemapsUnlessAsked(t *testing.T) {
	_, _, client := start(t, Options{}, few())
	if resp, _ := get(t, client, "http://a.test/sitemap.xml"); resp.StatusCode != 404 {
		t.Errorf("sitemap: %d", resp.StatusCode)
	}
	if _, body := get(t, client, "http://a.test/robots.txt"); strings.Contains(body, "Sitemap") {
		t.Errorf("robots.txt: %s", body)
	}
}

// TestSitemapIndex: more pages than a sitemap may have are split, and each page is in one part.
func TestSitemapIndex(t *testing.T) {
	const n = sitemapURLs + 10
	many := datasets.FromSeq("test", func(yield func(*datasets.Example, error) bool) {
		for i := range n {
			if !yield(&datasets.Example{URL: fmt.Sprintf("http://a.test/%d", i), Text: "x"}, nil) {
				return
			}
		}
	}, datasets.Options{})
	_, _, client := start(t, Options{Sitemaps: true}, many)
	_, index := get(t, client, "http://a.test/sitemap.xml")
	if want := "<loc>http://a.test/sitemap-2.xml.gz</loc>"; !strings.Contains(index, want) || strings.Count(index, "<loc>") != 2 {
		t.Fatalf("index %s", index)
	}
	pages := map[string]bool{}
	for i := 1; i <= 2; i++ {
		resp, err := client.Get(fmt.Sprintf("http://a.test/sitemap-%d.xml.gz", i))
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(z)
		resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		for part := range strings.SplitSeq(string(body), "<loc>") {
			if u, _, ok := strings.Cut(part, "</loc>"); ok {
				pages[u] = true
			}
		}
	}
	if len(pages) != n {
		t.Errorf("%d pages, want %d", len(pages), n)
	}
}
