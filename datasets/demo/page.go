package demo

import (
	"fmt"
	"slices"
	"strings"
)

// navPage is a page that a site has about itself.
type navPage struct {
	path       string
	doc        *document
	menu, foot bool // linked from there
}

// para is a paragraph without links.
func para(text string) block { return block{spans: []span{{text: text}}} }

// navPages returns about, contact and the archive by month.
func (s *site) navPages() []navPage {
	ext := map[style]string{stylePlain: ".html", styleOld: ".htm", styleXHTML: ".html"}[s.style]
	about := &document{title: "About", blocks: []block{
		para(s.about),
		para(fmt.Sprintf("%s has been on the web since %d. It is written by a few people in their free time and lives on the letters of its readers.", s.title, 1996+len(s.title)%20)),
	}}
	contact := &document{title: "Contact", blocks: []block{
		para("Write to us, we answer within the week: desk at " + s.host + "."),
		para("Corrections are welcome, as are pictures. Please do not send files without asking first."),
	}}
	pages := []navPage{{"/about" + ext, about, true, true}, {"/contact" + ext, contact, false, true}}
	if len(s.articles) < 3 {
		return pages
	}
	months := map[string][][]span{}
	for _, p := range s.articles {
		months[p.date] = append(months[p.date], []span{{p.doc.title, p.path}})
	}
	archive := &document{title: "Archive"}
	var index [][]span
	for m := 6; m >= 1; m-- {
		month := fmt.Sprintf("2025-%02d", m)
		if months[month] == nil {
			continue
		}
		path := "/archive/" + month + ext
		doc := &document{title: "Archive " + month, crumbs: []anchor{{"Home", "/"}, {"Archive", "/archive" + ext}}}
		doc.blocks = []block{para("All that appeared in this month."), {items: months[month]}}
		pages = append(pages, navPage{path, doc, false, false})
		index = append(index, []span{{month, path}, {text: fmt.Sprintf(" (%d)", len(months[month]))}})
	}
	archive.blocks = []block{para("What has appeared here, by month."), {items: index}}
	return append(pages, navPage{"/archive" + ext, archive, true, false})
}

// readOn is the link from a home page's excerpt to the article.
const readOn = "Read on"

// fillSite writes the home page and the section pages.
func (d *Web) fillSite(s *site, hubs []*Page) {
	if s.home.Kind == "directory" {
		return
	}
	home := s.home.doc
	home.blocks = append(home.blocks, para(s.about))
	for _, p := range s.articles[:min(3, len(s.articles))] {
		home.blocks = append(home.blocks, block{heading: p.doc.title},
			block{spans: []span{{text: p.text.lead() + " "}, {readOn, p.path}}})
	}
	var rest [][]span
	for _, p := range s.articles[min(3, len(s.articles)):] {
		rest = append(rest, []span{{p.doc.title, p.path}})
	}
	if len(rest) > 0 {
		home.blocks = append(home.blocks, block{heading: "More"}, block{items: rest})
	}
	for _, section := range s.sections {
		if p := s.index[section]; p != nil {
			p.doc.crumbs = []anchor{{"Home", "/"}, {p.doc.title, ""}}
			p.doc.blocks = []block{para("From " + s.title + "."), {items: d.listing(s, section)}}
		}
	}
	home.blocks = append(home.blocks, block{heading: "Elsewhere"}, block{items: d.elsewhere(s, hubs)})
}

func (d *Web) listing(s *site, section string) [][]span {
	var items [][]span
	for _, p := range s.articles {
		if p.text.section == section {
			items = append(items, []span{{p.doc.title, p.path}, {text: ". " + p.text.lead()}})
		}
	}
	return items
}

// elsewhere is a home page's list of other sites: two of the site's theme, a hub
// if there is one, and two at random.
func (d *Web) elsewhere(s *site, hubs []*Page) [][]span {
	theme := s.theme()
	var near, far []*Page
	for _, o := range d.sites {
		switch {
		case o == s:
		case theme != "" && o.theme() == theme:
			near = append(near, o.home)
		default:
			far = append(far, o.home)
		}
	}
	var fitting []*Page
	for _, h := range hubs {
		if h.Labels[0] == theme && h.site != s {
			fitting = append(fitting, h)
		}
	}
	picked := slices.Concat(d.sample(near, 2), d.sample(fitting, 1), d.sample(far, 2))
	var items [][]span
	for _, p := range picked {
		item := []span{{p.doc.title, p.from(s)}}
		if p.Kind == "home" {
			item = append(item, span{text: ": " + p.site.about})
		}
		items = append(items, item)
	}
	return items
}

// sample draws up to n of pages, each once, in random order.
func (d *Web) sample(pages []*Page, n int) []*Page {
	pages = slices.Clone(pages)
	d.rng.Shuffle(len(pages), func(i, j int) { pages[i], pages[j] = pages[j], pages[i] })
	return pages[:min(n, len(pages))]
}

// hubs makes a page of links with a sentence each for every category, on a site
// that writes about it, and one for every theme. They are where a topic's crawl
// starts well, and they are on topic themselves.
func (d *Web) hubs() []*Page {
	themes := themesOf()
	var hubs []*Page
	for _, section := range sortedKeys(themes) {
		var hosts []*site
		for _, s := range d.sites {
			if slices.Contains(s.sections, section) && s.theme() == themes[section] {
				hosts = append(hosts, s)
			}
		}
		s := hosts[d.rng.IntN(len(hosts))]
		doc := &document{title: sectionName(section) + ": pages worth reading", crumbs: []anchor{{"Home", "/"}, {"Links", ""}}}
		var items [][]span
		for _, p := range d.sample(d.articlesOf(section, s), 9) {
			items = append(items, []span{{p.doc.title, p.URL()}, {text: ". " + p.text.lead()}})
		}
		doc.blocks = []block{para("A list kept by " + s.title + ", with a sentence on each."), {items: items}}
		hubs = append(hubs, d.hub(s, "/links/"+section+".html", []string{themes[section], section}, doc))
	}
	for _, theme := range []string{"banking", "programming", "science", "sport"} {
		hubs = append(hubs, d.themeHub(theme, hubs))
	}
	return hubs
}

func (d *Web) hub(s *site, path string, labels []string, doc *document) *Page {
	s.nav = append(s.nav, anchor{"Links", path})
	return d.add(s, "hub", path, labels, doc)
}

// themeHub links the sites of a theme and its category hubs.
func (d *Web) themeHub(theme string, hubs []*Page) *Page {
	var items [][]span
	var sites []*site
	for _, s := range d.sites {
		if s.theme() == theme {
			items = append(items, []span{{s.title, s.home.URL()}, {text: ". " + s.about}})
			sites = append(sites, s)
		}
	}
	s := sites[d.rng.IntN(len(sites))]
	for _, h := range hubs {
		if h.Labels[0] == theme && h.site != s {
			items = append(items, []span{{h.doc.title, h.URL()}})
		}
	}
	title := strings.ToUpper(theme[:1]) + theme[1:] + " on the web"
	doc := &document{title: title, blocks: []block{para("Sites about " + theme + " and lists of pages."), {items: items}}}
	return d.hub(s, "/links/"+theme+".html", []string{theme}, doc)
}

// articlesOf returns the articles of a section on other sites than s.
func (d *Web) articlesOf(section string, s *site) []*Page {
	var out []*Page
	for _, o := range d.sites {
		for _, p := range o.articles {
			if o != s && p.text.section == section {
				out = append(out, p)
			}
		}
	}
	return out
}

// directories fills the sites without articles: all sites by subject, and by
// letter. They link everything, and are on no topic.
func (d *Web) directories() {
	for _, s := range d.sites {
		if len(s.articles) > 0 {
			continue
		}
		s.home.Kind = "directory"
		groups := map[string][][]span{}
		for _, o := range d.sites {
			if len(o.articles) == 0 {
				continue
			}
			group := strings.ToUpper(o.title[:1])
			if s.style == styleModern {
				if group = o.theme(); group == "" {
					group = "general"
				}
			}
			groups[group] = append(groups[group], []span{{o.title, o.home.URL()}, {text: ". " + o.about}})
		}
		var index [][]span
		for _, group := range sortedKeys(groups) {
			doc := &document{title: "Sites: " + group, crumbs: []anchor{{"Home", "/"}}, blocks: []block{{items: groups[group]}}}
			p := d.add(s, "directory", "/sites/"+strings.ToLower(group), []string{otherLabel}, doc)
			index = append(index, []span{{group, p.path}})
		}
		s.home.doc.blocks = []block{para(s.about), {items: index}}
	}
}
