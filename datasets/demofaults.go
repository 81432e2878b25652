package datasets

import (
	"fmt"
	"strconv"
	"strings"
)

// oddities adds redirects, dead links, errors, robots.txt, print versions and two traps.
func (d *demoWeb) oddities() {
	d.moved()
	d.broken()
	d.forbidden()
	d.prints()
	d.copyLinks()
	d.calendar(d.site("townhall.test"))
	d.threads(d.site("board.test"))
}

// site returns a site of the table. Tests fail if it is missing.
func (d *demoWeb) site(host string) *site {
	for _, s := range d.sites {
		if s.host == host {
			return s
		}
	}
	return d.sites[0]
}

func (s *site) footLink(text, href string) { s.foot = append(s.foot, anchor{text, href}) }

// moved adds redirects: single ones, a chain of three, a loop, a moved host, and a meta refresh.
func (d *demoWeb) moved() {
	redirect := func(s *site, from, to string, status int) {
		d.Redirects["http://"+s.host+from] = Redirect{to, status}
	}
	for _, host := range []string{"javacorner.test", "touchline.test", "wanderpath.test"} {
		s := d.site(host)
		redirect(s, "/latest", s.articles[0].url(), 302)
		s.footLink("Latest", "/latest")
	}
	s := d.site("nightsky-almanac.test")
	redirect(s, "/start", "http://"+s.host+"/start/", 301)
	redirect(s, "/start/", "http://"+s.host+"/start/index", 302)
	redirect(s, "/start/index", s.home.url(), 301)
	s.footLink("Start", "/start")
	redirect(s, "/tonight", "http://"+s.host+"/tonight/now", 302)
	redirect(s, "/tonight/now", "http://"+s.host+"/tonight", 302)
	s.footLink("Tonight", "/tonight")
	d.Redirects["http://old-moneyroom.test/"] = Redirect{d.site("moneyroom.test").home.url(), 301}
	for _, host := range []string{"northgate-bank.test", "linkbook.test"} {
		d.site(host).footLink("The Money Room", "http://old-moneyroom.test/")
	}
	p3 := d.site("p3.test")
	d.add(p3, "nav", "/moved.html", []string{otherLabel}, &document{
		title: "Moved", refresh: "/", blocks: []block{{spans: []span{{"This page has moved.", "/"}}}},
	})
	p3.footLink("Old address", "/moved.html")
}

// broken adds dead links and error statuses.
func (d *demoWeb) broken() {
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

// forbidden adds linked pages that robots.txt disallows.
func (d *demoWeb) forbidden() {
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
	// These rules have a group for one agent, Allow beside Disallow, and a wildcard.
	d.Robots["linkbook.test"] = "User-agent: badbot\nDisallow: /\n\nUser-agent: *\nAllow: /sites/\nDisallow: /*?sort=\n"
}

// prints adds print versions: near-duplicates without the site's frame.
func (d *demoWeb) prints() {
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

// fromHome is a parameter on the home page's links that does not change the page.
const fromHome = "?from=home"

// copyLinks links the duplicates that copies will add.
func (d *demoWeb) copyLinks() {
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

// copies adds exact duplicates: home pages by file name, articles with a redundant parameter.
func (d *demoWeb) copies() {
	again := func(p *demoPage, path string) {
		c := *p
		c.Kind, c.path = "copy", path
		d.pages = append(d.pages, &c)
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

// calendar adds a trap: every month links its neighbours and its days, and all are empty.
func (d *demoWeb) calendar(s *site) {
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

// nextVisit derives the visit number in link i of a visit's page.
func nextVisit(visit, i int) int { return (visit*48271+i)%maxVisit + 1 }

// maxVisit bounds visit numbers, beyond the length of any crawl.
const maxVisit = 1e9

// threads adds a trap: all links carry a new visit number, so five pages have endless URLs.
func (d *demoWeb) threads(s *site) {
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
