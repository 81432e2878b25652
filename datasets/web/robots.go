package web

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"html"
	"net/http"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"fossick/datasets"
)

// maxRobotsBytes is below the size that crawlers must parse (RFC 9309, 2.5: 500 KiB).
const maxRobotsBytes = 400 << 10

// writeRobots builds each host's robots.txt from the set's own rules and Options.Disallow.
func (w *Web) writeRobots(sets []*datasets.Set) {
	given := map[string]string{}
	for _, set := range sets {
		if web := set.Web(); web != nil {
			for name, text := range web.Robots {
				given[hostName(name)] = text
			}
		}
	}
	for name, h := range w.hosts {
		var b bytes.Buffer
		b.WriteString(given[name])
		rules, delay := disallowed(w.draw, w.opt.Disallow, name, h.paths), w.opt.CrawlDelay > 0 && w.draw.uniform("crawl-delay", name) < slowHostShare
		if b.Len() == 0 || len(rules) > 0 || delay {
			b.WriteString("User-agent: *\n")
			if len(rules) == 0 {
				b.WriteString("Disallow:\n")
			}
		}
		if delay {
			fmt.Fprintf(&b, "Crawl-delay: %g\n", w.opt.CrawlDelay.Seconds())
		}
		for _, rule := range rules {
			fmt.Fprintf(&b, "Disallow: %s\n", rule)
		}
		if w.opt.Sitemaps {
			nameSitemap(&b, name, h)
		} else {
			h.paths = nil
		}
		h.robots = b.Bytes()
	}
}

// slowHostShare is the share of hosts that ask for Options.CrawlDelay.
const slowHostShare = 1.0 / 8

// disallowed picks path prefixes that forbid about the given share of a host's pages. It mixes folders
// and single pages, as real files do; folders keep the file short.
func disallowed(d draw, share float64, name string, paths []string) []string {
	want := int(share*float64(len(paths)) + 0.5)
	if want == 0 {
		return nil
	}
	paths = slices.Sorted(slices.Values(paths))
	covered := make([]bool, len(paths))
	var rules []string
	size := 0
	folders := prefixes(paths)
	d.shuffle("disallow", name, folders)
	for _, prefix := range folders {
		from := sort.SearchStrings(paths, prefix)
		to, fresh := from, 0
		for ; to < len(paths) && strings.HasPrefix(paths[to], prefix); to++ {
			if !covered[to] {
				fresh++
			}
		}
		if fresh == 0 || fresh > want || size+len(prefix) > maxRobotsBytes {
			continue
		}
		for i := from; i < to; i++ {
			covered[i] = true
		}
		rules, size = append(rules, prefix), size+len(prefix)+len("Disallow: \n")
		if want -= fresh; want == 0 {
			break
		}
	}
	slices.Sort(rules)
	return rules
}

// prefixes returns the distinct paths and their folders, without the root.
func prefixes(paths []string) []string {
	set := map[string]struct{}{}
	for _, p := range paths {
		if p == "/" || strings.ContainsAny(p, "*$#") {
			continue
		}
		set[p] = struct{}{}
		path, _, _ := strings.Cut(p, "?")
		for i := 1; i < len(path); i++ {
			if path[i] == '/' {
				set[path[:i+1]] = struct{}{}
			}
		}
	}
	all := make([]string, 0, len(set))
	for p := range set {
		all = append(all, p)
	}
	return all
}

// sitemapURLs is the maximum number of URLs in a sitemap (sitemaps.org).
const sitemapURLs = 50_000

// Paths of a host's sitemaps. robots.txt names the first, which becomes an index above 50,000 pages.
// Each is also available gzipped.
const (
	sitemapPath = "/sitemap.xml"
	sitemapPart = "/sitemap-" // followed by a number from 1 and .xml
)

// nameSitemap adds the Sitemap line to a robots.txt and sorts the host's paths.
func nameSitemap(robots *bytes.Buffer, name string, h *host) {
	fmt.Fprintf(robots, "\nSitemap: %s://%s%s\n", h.scheme, name, sitemapPath)
	slices.Sort(h.paths)
}

// sitemap serves a host's sitemaps. It returns false for other paths.
func (v *victim) sitemap(h *host) bool {
	path, zip := strings.CutSuffix(v.q.path, ".gz")
	var body []byte
	switch {
	case path == sitemapPath:
		if f := v.web.faults.pick(onSitemap, hostName(v.q.host)); f != nil {
			v.suffer(f, nil)
			return true
		}
		if len(h.paths) > sitemapURLs {
			body = sitemapIndex(h.root(v.q), (len(h.paths)+sitemapURLs-1)/sitemapURLs)
		} else {
			body = v.web.sitemapOf(h.root(v.q), h.paths)
		}
	case strings.HasPrefix(path, sitemapPart) && strings.HasSuffix(path, ".xml"):
		n, err := strconv.Atoi(path[len(sitemapPart) : len(path)-len(".xml")])
		if err != nil || n < 1 || (n-1)*sitemapURLs >= len(h.paths) {
			return false
		}
		body = v.web.sitemapOf(h.root(v.q), h.paths[(n-1)*sitemapURLs:min(n*sitemapURLs, len(h.paths))])
	default:
		return false
	}
	if zip {
		v.rw.Header().Set("Content-Type", "application/gzip")
		send(v.rw, v.r, zipped(body))
		return true
	}
	if !v.asItWas(body) {
		v.xml(body)
	}
	return true
}

// asItWas answers 304 if the client has this version. Otherwise it sets the Etag and returns false.
func (v *victim) asItWas(body []byte) bool {
	h := fnv.New64a()
	_, _ = h.Write(body) // a hash never fails
	etag := fmt.Sprintf(`"%016x"`, h.Sum64())
	v.rw.Header().Set("Etag", etag)
	if v.r.Header.Get("If-None-Match") == "" || !unchanged(v.r, etag, v.web.began) {
		return false
	}
	v.rw.WriteHeader(http.StatusNotModified)
	return true
}

// root is the start of the host's URLs, in its own scheme rather than the request's.
func (h *host) root(q request) string { return h.scheme + "://" + hostName(q.host) }

func (w *Web) sitemapOf(root string, paths []string) []byte {
	var b bytes.Buffer
	b.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n")
	for _, p := range paths {
		fmt.Fprintf(&b, "<url><loc>%s</loc>", html.EscapeString(root+p))
		if en, _, ok := w.find(root + p); ok {
			fmt.Fprintf(&b, "<lastmod>%s</lastmod>", w.lastMod(root+p, &en))
		}
		b.WriteString("</url>\n")
	}
	b.WriteString("</urlset>\n")
	return b.Bytes()
}

// lastMod returns a page's lastmod: the last text change, or a plain date if there was none. Hosts with
// a wrong Lastmod report otherwise.
func (w *Web) lastMod(url string, en *entry) string {
	if w.opt.Change.Mean > 0 {
		t := w.Truth(url)
		if t.Lastmod == alwaysLastmod {
			return time.Now().UTC().Format(time.RFC3339)
		}
		if now := w.at(t, time.Since(w.began)); now.lastText > 0 && t.Lastmod == trueLastmod {
			return w.began.Add(now.lastText).UTC().Format(time.RFC3339)
		}
	}
	return lastModified(en.sum).Format(time.DateOnly)
}

func sitemapIndex(root string, parts int) []byte {
	urls := make([]string, parts)
	for i := range urls {
		urls[i] = fmt.Sprintf("%s%s%d.xml.gz", root, sitemapPart, i+1)
	}
	return indexOf(urls...)
}

func indexOf(urls ...string) []byte {
	var b bytes.Buffer
	b.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n")
	for _, u := range urls {
		fmt.Fprintf(&b, "<sitemap><loc>%s</loc></sitemap>\n", html.EscapeString(u))
	}
	b.WriteString("</sitemapindex>\n")
	return b.Bytes()
}
