package corpusweb

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// endlessPath begins the URLs of indexes that name one another.
const endlessPath = "/~sitemap/"

// sitemapFaults are those of a host's sitemap, where Options.Sitemaps asks for
// them. Whatever it is, the host's pages can be had.
func sitemapFaults() []Fault {
	fault := func(name, about string, f func(*victim)) Fault {
		return Fault{Name: name, About: "the sitemap " + about, States: []string{"ok"}, scope: onSitemap, serve: f}
	}
	return []Fault{
		fault("sitemap-endless", "is an index that names an index, and so on for ever", func(v *victim) { v.endlessIndex(0) }),
		fault("sitemap-loop", "is an index that names itself", func(v *victim) {
			v.xml(indexOf(v.q.url(), v.root()+sitemapPath+"?again", v.q.url()))
		}),
		fault("sitemap-bomb", "is 1 MB of gzip that unpacks to 1 GB", func(v *victim) {
			v.bomb("application/gzip", "<urlset>")
		}),
		fault("sitemap-huge", "names ten million pages, in 500 MB", func(v *victim) {
			v.rw.Header().Set("Content-Type", "application/xml")
			_, _ = io.WriteString(v.rw, "<urlset>") // the next write tells
			for i := range 10_000_000 {
				if _, err := fmt.Fprintf(v.rw, "<url><loc>%s/~nothing/%d</loc></url>\n", v.root(), i); err != nil {
					return // the client has enough
				}
			}
		}),
		fault("sitemap-html", "is a web page", func(v *victim) {
			v.html([]byte("<!DOCTYPE html><title>Not found</title><p>There is no sitemap here. <a href=/>Home</a>"))
		}),
		fault("sitemap-foreign", "names pages and sitemaps of other hosts and of the crawler's own machine", func(v *victim) {
			var b bytes.Buffer
			b.WriteString("<urlset>")
			for i := range 1000 {
				fmt.Fprintf(&b, "<url><loc>http://10.0.0.%d/</loc></url><sitemap><loc>http://victim%d.test/sitemap.xml</loc></sitemap>", i%256, i)
			}
			b.WriteString("<url><loc>http://127.0.0.1/</loc></url><url><loc>http://169.254.169.254/latest/meta-data/</loc></url></urlset>")
			v.xml(b.Bytes())
		}),
		fault("sitemap-deep", "nests a million elements", func(v *victim) { v.xml([]byte(strings.Repeat("<url>", 1_000_000))) }),
	}
}

func (v *victim) xml(body []byte) {
	v.rw.Header().Set("Content-Type", "application/xml")
	send(v.rw, v.r, body)
}

// endlessIndex names two indexes that are as this one.
func (v *victim) endlessIndex(n int) {
	v.xml(indexOf(v.root()+endlessPath+strconv.Itoa(2*n+1), v.root()+endlessPath+strconv.Itoa(2*n+2)))
}

// endless serves one of the indexes behind the first; false when the path is none.
func (v *victim) endless() bool {
	rest, ok := strings.CutPrefix(v.q.path, endlessPath)
	n, err := strconv.Atoi(rest)
	if !ok || err != nil {
		return false
	}
	v.mark("sitemap-endless")
	v.endlessIndex(n)
	return true
}
