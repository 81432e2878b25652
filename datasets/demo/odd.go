package demo

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"strconv"
	"strings"
)

// oddities adds what a real web has beside its pages: redirects, dead links, errors, robots.txt, print
// versions, and two traps without end.
func (d *Web) oddities() {
	d.moved()
	d.broken()
	d.forbidden()
	d.prints()
	d.copyLinks()
	d.calendar(d.site("townhall.test"))
	d.threads(d.site("board.test"))
}

// site returns a site of the table; it is there, or a test fails.
func (d *Web) site(host string) *site {
	for _, s := range d.sites {
		if s.host == host {
			return s
		}
	}
	return d.sites[0]
}

// footLink adds a link to the foot of all pages of a site.
func (s *site) footLink(text, href string) { s.foot = append(s.foot, anchor{text, href}) }

// moved makes redirects: single ones, a chain of three, a loop, a host that has moved as a whole, and a
// page that refreshes to another.
func (d *Web) moved() {
	redirect := func(s *site, from, to string, status int) {
		d.Redirects["http://"+s.host+from] = Redirect{to, status}
	}
	for _, host := range []string{"javacorner.test", "touchline.test", "wanderpath.test"} {
		s := d.site(host)
		redirect(s, "/latest", s.articles[0].URL(), 302)
		s.footLink("Latest", "/latest")
	}
	s := d.site("nightsky-almanac.test")
	redirect(s, "/start", "http://"+s.host+"/start/", 301)
	redirect(s, "/start/", "http://"+s.host+"/start/index", 302)
	redirect(s, "/start/index", s.home.URL(), 301)
	s.footLink("Start", "/start")
	redirect(s, "/tonight", "http://"+s.host+"/tonight/now", 302)
	redirect(s, "/tonight/now", "http://"+s.host+"/tonight", 302)
	s.footLink("Tonight", "/tonight")
	d.Redirects["http://old-moneyroom.test/"] = Redirect{d.site("moneyroom.test").home.URL(), 301}
	for _, host := range []string{"northgate-bank.test", "linkbook.test"} {
		d.site(host).footLink("The Money Room", "http://old-moneyroom.test/")
	}
	p3 := d.site("p3.test")
	d.add(p3, "nav", "/moved.html", []string{otherLabel}, &document{
		title: "Moved", refresh: "/", blocks: []block{{spans: []span{{"This page has moved.", "/"}}}},
	})
	p3.footLink("Old address", "/moved.html")
}

// broken makes dead links and answers with errors.
func (d *Web) broken() {
	for _, s := range d.sites {
		if s.style == styleOld {
			s.footLink("Guestbook", "/guestbook.htm") // 404
		}
	}
	for _, host := range []string{"kiosk.test", "thestand.test"} {
		d.site(host).footLink("Shop", "/shop/")                             // 404
		d.site(host).footLink("Friends", "http://closed-years-ago.test/me") // no such host
	}
	longago := d.site("longago.test")
	d.Status["http://longago.test/1999.htm"] = 410
	longago.footLink("1999", "/1999.htm")
	d.Status["http://kiosk.test/search"] = 500
	d.site("kiosk.test").footLink("Search", "/search")
	d.Status["http://openlab.test/intern/"] = 403
	d.site("openlab.test").footLink("Staff", "/intern/")
}

// forbidden makes pages that robots.txt disallows, though they are linked.
func (d *Web) forbidden() {
	for _, host := range []string{"northgate-bank.test", "allsports-club.test", "daily-courier.test"} {
		s := d.site(host)
		d.Robots[host] = "User-agent: *\nDisallow: /print/\nDisallow: /private/\n"
		for i := 1; i <= 3; i++ {
			path := fmt.Sprintf("/private/minutes-%d", i)
			doc := &document{title: fmt.Sprintf("Minutes of meeting %d", i), blocks: []block{
				para("For members of the staff only: what was said about the rooms, the coffee machine and the next meeting."),
			}}
			d.add(s, "private", path, []string{otherLabel}, doc)
			if i == 1 {
				s.footLink("Minutes", path)
			}
		}
	}
	// A group of its own for one crawler, allow beside disallow, a pattern.
	d.Robots["linkbook.test"] = "User-agent: badbot\nDisallow: /\n\nUser-agent: *\nAllow: /sites/\nDisallow: /*?sort=\n"
}

// prints makes near copies: an article's text without what is around it.
func (d *Web) prints() {
	for _, host := range []string{"northgate-bank.test", "pitlane.test", "openlab.test", "compiled.test"} {
		s := d.site(host)
		for _, p := range s.articles {
			path := "/print/" + p.text.slug
			print := d.add(s, "print", path, p.Labels, &document{title: p.doc.title})
			print.Split, print.text = p.Split, p.text
			var b strings.Builder
			fmt.Fprintf(&b, "<html><head><title>%s (print)</title></head><body>\n<h1>%[1]s</h1>\n", htmlText(p.doc.title))
			for _, text := range p.text.paras {
				fmt.Fprintf(&b, "<p>%s</p>\n", htmlText(text))
			}
			fmt.Fprintf(&b, "<p>Printed from %s</p></body></html>\n", s.host)
			print.HTML = b.String()
			p.doc.foot = append(p.doc.foot, anchor{"Print", path})
		}
	}
}

func htmlText(s string) string { return (&writer{}).text(s) }

// fromHome marks a link of the home page; the page is the same.
const fromHome = "?from=home"

// copyLinks links the pages that copies will make.
func (d *Web) copyLinks() {
	for _, host := range copiedHomes() {
		d.site(host).footLink("Start page", "/index.html")
	}
	for _, host := range copiedArticles() {
		for _, b := range d.site(host).home.doc.blocks {
			for i := range b.spans {
				if b.spans[i].text == readOn {
					b.spans[i].href += fromHome
				}
			}
		}
	}
	d.site("javacorner.test").footLink("Featured", "/featured")
}

func copiedHomes() []string {
	return []string{"homestead-society.test", "cellandleaf.test", "gardenrow.test"}
}

func copiedArticles() []string {
	return []string{"harbour-insurance.test", "touchline.test", "thelarder.test"}
}

// copies repeats pages to the byte: home pages by their file's name, articles with a parameter that
// changes nothing.
func (d *Web) copies() {
	again := func(p *Page, path string) {
		c := *p
		c.Kind, c.path = "copy", path
		d.Pages = append(d.Pages, &c)
	}
	for _, host := range copiedHomes() {
		again(d.site(host).home, "/index.html")
	}
	for _, host := range copiedArticles() {
		s := d.site(host)
		for _, p := range s.articles[:min(3, len(s.articles))] {
			again(p, p.path+fromHome)
		}
	}
	again(d.site("javacorner.test").articles[0], "/featured")
}

// calendar is a trap: every month links the one before and the one after, and each of its days, and
// none of them has anything on it.
func (d *Web) calendar(s *site) {
	const first = "/calendar/2025/06"
	s.nav = append(s.nav, anchor{"Calendar", first})
	prefix := "http://" + s.host + "/calendar/"
	d.Traps = append(d.Traps, Trap{Prefix: prefix, Page: func(url string) (string, bool) {
		var year, month, day int
		rest := strings.TrimPrefix(url, prefix)
		if n, _ := fmt.Sscanf(rest, "%d/%d/%d", &year, &month, &day); n < 2 {
			return "", false
		}
		if month < 1 || month > 12 || day < 0 || day > 28 || year < 1 || year > 1e6 {
			return "", false
		}
		next, before := year*12+month, year*12+month-2
		at := func(months int) string { return fmt.Sprintf("%s%d/%02d", "/calendar/", months/12, months%12+1) }
		doc := &document{title: fmt.Sprintf("Calendar %d/%02d", year, month), nav: []anchor{{"Home", "/"}}}
		if day > 0 {
			doc.title += fmt.Sprintf("/%02d", day)
		}
		doc.blocks = []block{para("No entries."), {spans: []span{{"Month before", at(before)}, {text: " "}, {"Month after", at(next)}}}}
		var days [][]span
		for i := 1; i <= 28; i++ {
			days = append(days, []span{{strconv.Itoa(i), fmt.Sprintf("/calendar/%d/%02d/%02d", year, month, i)}})
		}
		doc.blocks = append(doc.blocks, block{items: days})
		return doc.render(s), true
	}})
}

// nextVisit makes up the number that the i-th link of a visit's page carries.
func nextVisit(visit, i int) int { return (visit*48271+i)%maxVisit + 1 }

// maxVisit bounds the numbers; a crawler that gets there has fetched a billion pages.
const maxVisit = 1e9

// threads is a trap: every visit gets a new number, and every link carries it, so that five pages have
// URLs without end.
func (d *Web) threads(s *site) {
	s.nav = append(s.nav, anchor{"Threads", "/threads?visit=1"})
	prefix := "http://" + s.host + "/threads"
	d.Traps = append(d.Traps, Trap{Prefix: prefix, Page: func(url string) (string, bool) {
		path, query, _ := strings.Cut(strings.TrimPrefix(url, prefix), "?")
		visit, err := strconv.Atoi(strings.TrimPrefix(query, "visit="))
		if err != nil || visit < 1 || visit > maxVisit {
			return "", false
		}
		thread := 0
		if path != "" {
			if thread, err = strconv.Atoi(strings.TrimPrefix(path, "/")); err != nil || thread < 1 || thread > 5 {
				return "", false
			}
		}
		doc := &document{title: "Threads", nav: []anchor{{"Home", "/"}}}
		if thread > 0 {
			doc.title = fmt.Sprintf("Thread %d", thread)
			doc.blocks = []block{para("Has anybody tried this? Yes, twice, and it works if you wait long enough.")}
		}
		var items [][]span
		for i := 1; i <= 5; i++ {
			items = append(items, []span{{fmt.Sprintf("Thread %d", i), fmt.Sprintf("/threads/%d?visit=%d", i, nextVisit(visit, i))}})
		}
		doc.blocks = append(doc.blocks, block{items: items})
		return doc.render(s), true
	}})
}

// Web is the built-in web: articles spread over sites, the pages that sites have around their articles,
// and what goes wrong on a real web.
//
// It is built in one order from one source of randomness, so that a seed gives one web. Articles go to
// sites, then pages get their paths, then links (which need the paths), then markup.
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
