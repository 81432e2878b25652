package demo

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
)

// New makes the web. The same seed gives the same bytes.
func New(seed uint64) (*Web, error) {
	d := &Web{
		rng:       rand.New(rand.NewPCG(seed, 0x64656d6f)),
		Redirects: map[string]Redirect{}, Status: map[string]int{}, Robots: map[string]string{},
	}
	articles, err := readProse()
	if err != nil {
		return nil, err
	}
	if d.sites, err = parseSites(siteTable); err != nil {
		return nil, err
	}
	if err := d.spread(articles); err != nil {
		return nil, err
	}
	for _, s := range d.sites {
		d.frame(s)
	}
	d.directories()
	hubs := d.hubs()
	d.linkArticles()
	for _, s := range d.sites {
		d.fillSite(s, hubs)
	}
	d.oddities()
	for _, p := range d.Pages {
		p.doc.nav, p.doc.foot = p.site.nav, append(slices.Clone(p.site.foot), p.doc.foot...)
		if p.HTML == "" {
			p.HTML = p.doc.render(p.site)
		}
	}
	d.copies()
	return d, nil
}

// add makes a page. Its half of the split is a coin's; articles get theirs by
// section in spread.
func (d *Web) add(s *site, kind, path string, labels []string, doc *document) *Page {
	p := &Page{site: s, Kind: kind, path: path, Labels: labels, Split: d.half(), doc: doc}
	d.Pages = append(d.Pages, p)
	return p
}

func (d *Web) half() string {
	if d.rng.IntN(2) == 0 {
		return "train"
	}
	return "test"
}

// spread gives each section's articles, shuffled, to sites by their weights; of
// every section half is for training.
func (d *Web) spread(articles []*article) error {
	bySection := map[string][]*article{}
	var sections []string // in the order of the texts
	for _, a := range articles {
		if bySection[a.section] == nil {
			sections = append(sections, a.section)
		}
		bySection[a.section] = append(bySection[a.section], a)
	}
	for _, section := range sections {
		var slots []*site
		for _, s := range d.sites {
			for range s.weights[section] {
				slots = append(slots, s)
			}
		}
		if len(slots) == 0 {
			return fmt.Errorf("site table: no site has section %s", section)
		}
		list := bySection[section]
		d.rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		train := d.rng.Perm(len(list))
		for i, a := range list {
			p := &Page{site: slots[i*len(slots)/len(list)], Kind: "article", Labels: a.labels(), text: a, Split: "test"}
			if train[i] < (len(list)+1)/2 {
				p.Split = "train"
			}
			p.date = fmt.Sprintf("2025-%02d", 1+d.rng.IntN(6))
			p.site.articles = append(p.site.articles, p)
		}
	}
	return nil
}

// frame makes a site's pages with their paths, still without text.
func (d *Web) frame(s *site) {
	s.sections = slices.DeleteFunc(s.sections, func(section string) bool { return s.count(section) == 0 })
	s.home = d.add(s, "home", "/", s.labels(), &document{title: s.title, description: s.about})
	s.nav = []anchor{{"Home", "/"}}
	for _, section := range s.sections {
		if len(s.sections) == 1 || s.count(section) < 2 {
			continue // the home page is its index
		}
		labels := []string{otherLabel}
		if theme := themesOf()[section]; theme != "" {
			labels = []string{theme, section}
		}
		p := d.add(s, "section", s.sectionPath(section), labels, &document{title: sectionName(section)})
		s.index[section] = p
		s.nav = append(s.nav, anchor{sectionName(section), p.path})
	}
	slices.SortStableFunc(s.articles, func(a, b *Page) int { return cmp.Compare(b.date, a.date) })
	for i, p := range s.articles {
		p.path = s.articlePath(p, i)
		p.doc = &document{title: p.text.title, description: p.text.lead(), byline: p.date}
		d.Pages = append(d.Pages, p)
	}
	for _, nav := range s.navPages() {
		p := d.add(s, "nav", nav.path, []string{otherLabel}, nav.doc)
		if nav.menu {
			s.nav = append(s.nav, anchor{nav.doc.title, p.path})
		}
		if nav.foot {
			s.foot = append(s.foot, anchor{nav.doc.title, p.path})
		}
	}
}

func (s *site) count(section string) int {
	n := 0
	for _, p := range s.articles {
		if p.text.section == section {
			n++
		}
	}
	return n
}

// labels are those of the site's home page: its theme, if it has one, and its
// category, if that is one too.
func (s *site) labels() []string {
	theme := s.theme()
	switch {
	case theme == "" || theme == otherLabel:
		return []string{otherLabel}
	case len(s.sections) == 1:
		return []string{theme, s.sections[0]}
	}
	return []string{theme}
}

// neutral sites have short names, and paths that tell nothing either.
func (s *site) neutral() bool { return len(s.host) <= len("m31.test") }

func (s *site) sectionPath(section string) string {
	switch {
	case s.neutral():
		return fmt.Sprintf("/list%d.html", slices.Index(s.sections, section)+1)
	case s.style == styleOld:
		return "/" + section + "/index.htm"
	}
	return "/" + section + "/"
}

func (s *site) articlePath(p *Page, i int) string {
	switch {
	case s.neutral():
		return fmt.Sprintf("/%s/%d.html", p.date[:4], i+1)
	case s.style == styleOld:
		return fmt.Sprintf("/%s/doc%02d.htm", p.text.section, i+1)
	case s.style == styleXHTML:
		return fmt.Sprintf("/~member%d/%s.html", 1+i%4, p.text.slug)
	case s.style == stylePlain:
		return "/" + p.text.section + "/" + p.text.slug + ".html"
	}
	return "/" + p.text.section + "/" + p.text.slug
}
