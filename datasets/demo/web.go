package demo

import (
	"iter"
	"math/rand/v2"
)

// Web is the built-in web: articles spread over sites, the pages that sites have
// around their articles, and what goes wrong on a real web.
//
// It is built in one order from one source of randomness, so that a seed gives
// one web. Articles go to sites, then pages get their paths, then links (which
// need the paths), then markup.
type Web struct {
	Pages     []*Page
	Redirects map[string]Redirect // by URL
	Status    map[string]int      // URLs that are answered with this status and no page
	Robots    map[string]string   // robots.txt by host name
	Traps     []Trap

	rng   *rand.Rand
	sites []*site
}

// Redirect is an answer that sends the client elsewhere.
type Redirect struct {
	To     string
	Status int // 301 or 302
}

// Trap is an endless space of URLs, made up as they are asked for.
type Trap struct {
	Prefix string // of the URLs in it
	// Page returns the page at a URL that begins with Prefix, false for 404.
	Page func(url string) (html string, ok bool)
}

// Page is one page of the web.
type Page struct {
	Kind   string // article, home, section, hub, directory, nav, print, copy or private
	Labels []string
	Split  string
	HTML   string

	site *site
	path string
	date string // of an article, as 2025-03
	text *article
	doc  *document
}

// URL returns the page's address.
func (p *Page) URL() string { return "http://" + p.site.host + p.path }

// Site returns the registrable domain.
func (p *Page) Site() string { return p.site.registrable() }

// Title returns what the page is headed by.
func (p *Page) Title() string { return p.doc.title }

// Charset returns what the markup says of its bytes where these are not UTF-8.
func (p *Page) Charset() string {
	if p.site.style == styleOld {
		return "iso-8859-1"
	}
	return ""
}

// from returns how a page of s links to p.
func (p *Page) from(s *site) string {
	if p.site == s {
		return p.path
	}
	return p.URL()
}

// Links yields the URLs of linked pages, each pair once.
func (d *Web) Links() iter.Seq2[string, string] {
	return func(yield func(from, to string) bool) {
		exists := map[string]bool{}
		for _, p := range d.Pages {
			exists[p.URL()] = true
		}
		for _, p := range d.Pages {
			seen := map[string]bool{p.URL(): true}
			for _, to := range p.doc.hrefs(p.URL()) {
				if exists[to] && !seen[to] {
					seen[to] = true
					if !yield(p.URL(), to) {
						return
					}
				}
			}
		}
	}
}

// Starts returns start pages to try, by label.
func (d *Web) Starts() map[string][]string {
	starts := map[string][]string{}
	for _, p := range d.Pages {
		if p.Kind == "hub" && p.Labels[0] != otherLabel {
			starts[p.Labels[0]] = append(starts[p.Labels[0]], p.URL())
		}
	}
	return starts
}
