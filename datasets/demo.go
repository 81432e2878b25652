package datasets

import (
	"cmp"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// openDemo builds the demo web. The same seed gives the same bytes.
func openDemo(opt Options) (*Set, error) {
	d, err := newDemoWeb(1)
	if err != nil {
		return nil, fmt.Errorf("set demo: %w", err)
	}
	return &Set{
		name: "demo", layout: "demo", opt: opt, web: &d.Web, links: d.links,
		read: func(_ *passReport, yield func(*Example, error) bool) {
			for _, p := range d.pages {
				if !yield(p.example(), nil) {
					return
				}
			}
		},
	}, nil
}

// demoWeb is the built-in web: articles spread over sites, site pages around them, and the faults of a
// real web.
//
// One random source builds it in a fixed order, so a seed gives one web: articles to sites, then paths,
// then links (which need paths), then markup.
type demoWeb struct {
	Web
	pages []*demoPage
	rng   *rand.Rand
	sites []*site
}

// demoPage is one page of the web.
type demoPage struct {
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

func (p *demoPage) url() string { return "http://" + p.site.host + p.path }

// example converts a page to a row. Rows share no memory, so callers may change them.
func (p *demoPage) example() *Example {
	e := &Example{
		URL: p.url(), Label: p.Labels[0], Labels: slices.Clone(p.Labels), Site: p.site.registrable(), Split: p.Split,
		Title: p.doc.title, HTML: p.HTML, File: "demo", Fields: map[string]string{"kind": p.Kind},
	}
	if p.site.style == styleOld {
		e.Charset = "iso-8859-1"
	}
	return e
}

// from returns the page's address in a link on s.
func (p *demoPage) from(s *site) string {
	if p.site == s {
		return p.path
	}
	return p.url()
}

func newDemoWeb(seed uint64) (*demoWeb, error) {
	d := &demoWeb{
		rng: rand.New(rand.NewPCG(seed, 0x64656d6f)),
		Web: Web{Redirects: map[string]Redirect{}, Status: map[string]int{}, Robots: map[string]string{}, Starts: map[string][]string{}},
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
	for _, p := range d.pages {
		p.doc.nav, p.doc.foot = p.site.nav, append(slices.Clone(p.site.foot), p.doc.foot...)
		if p.HTML == "" {
			p.HTML = p.doc.render(p.site)
		}
	}
	d.copies()
	for _, p := range d.pages {
		if p.Kind == "hub" && p.Labels[0] != otherLabel {
			d.Starts[p.Labels[0]] = append(d.Starts[p.Labels[0]], p.url())
		}
	}
	return d, nil
}

// links yields the links between pages, each pair once.
func (d *demoWeb) links() iter.Seq2[Link, error] {
	return func(yield func(Link, error) bool) {
		exists := map[string]bool{}
		for _, p := range d.pages {
			exists[p.url()] = true
		}
		for _, p := range d.pages {
			seen := map[string]bool{p.url(): true}
			for _, to := range p.doc.hrefs(p.url()) {
				if exists[to] && !seen[to] {
					seen[to] = true
					if !yield(Link{p.url(), to}, nil) {
						return
					}
				}
			}
		}
	}
}

// add creates a page and draws its half of the split; spread reassigns articles by section.
func (d *demoWeb) add(s *site, kind, path string, labels []string, doc *document) *demoPage {
	p := &demoPage{site: s, Kind: kind, path: path, Labels: labels, Split: d.half(), doc: doc}
	d.pages = append(d.pages, p)
	return p
}

func (d *demoWeb) half() string {
	if d.rng.IntN(2) == 0 {
		return "train"
	}
	return "test"
}

// spread distributes each section's shuffled articles to sites by weight. Half of each section is for
// training.
func (d *demoWeb) spread(articles []*article) error {
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
			p := &demoPage{site: slots[i*len(slots)/len(list)], Kind: "article", Labels: a.labels(), text: a, Split: "test"}
			if train[i] < (len(list)+1)/2 {
				p.Split = "train"
			}
			p.date = fmt.Sprintf("2025-%02d", 1+d.rng.IntN(6))
			p.site.articles = append(p.site.articles, p)
		}
	}
	return nil
}

// frame creates a site's pages and paths, without text.
func (d *demoWeb) frame(s *site) {
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
	slices.SortStableFunc(s.articles, func(a, b *demoPage) int { return cmp.Compare(b.date, a.date) })
	for i, p := range s.articles {
		p.path = s.articlePath(p, i)
		p.doc = &document{title: p.text.title, description: p.text.lead(), byline: p.date}
		d.pages = append(d.pages, p)
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

// labels are those of the home page: the site's theme and, if it has only one, its category.
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

// neutral reports whether the site's host name and paths reveal no topic.
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

func (s *site) articlePath(p *demoPage, i int) string {
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

// otherLabel is the label of pages on none of the themes.
const otherLabel = "other"

// themesOf maps categories to the four themes, as in paper A's data set.
func themesOf() map[string]string {
	return map[string]string{
		"commercial-banks": "banking", "building-societies": "banking", "insurance-agencies": "banking",
		"java": "programming", "c-cpp": "programming", "visual-basic": "programming",
		"astronomy": "science", "biology": "science",
		"soccer": "sport", "motor-sport": "sport", "general-sport": "sport",
	}
}

type style byte

const (
	styleModern style = iota // HTML5 with nav, main, article and footer
	stylePlain               // HTML 4 with divs whose classes name their role
	styleOld                 // upper-case tags, unclosed P, layout tables, ISO-8859-1
	styleXHTML               // XHTML 1.0
)

type site struct {
	host, title, about string
	style              style
	weights            map[string]int // relative number of articles from each section

	sections []string // sections with articles, in table order
	articles []*demoPage
	home     *demoPage
	index    map[string]*demoPage // section pages
	nav      []anchor
	foot     []anchor
}

// registrable is the host's last two labels; .test is a top-level domain.
func (s *site) registrable() string {
	parts := strings.Split(s.host, ".")
	return strings.Join(parts[max(0, len(parts)-2):], ".")
}

// theme returns the site's only theme, or "" for a mixed site.
func (s *site) theme() string {
	themes, theme := themesOf(), ""
	for _, section := range s.sections {
		t := themes[section]
		if t == "" {
			t = otherLabel
		}
		if theme != "" && theme != t {
			return ""
		}
		theme = t
	}
	return theme
}

// siteTable lists host, title, style, description and section weights. A third of the names reveal no
// topic, so host names alone do not suffice for a crawler.
const siteTable = `
northgate-bank.test|Northgate Bank|modern|Accounts, payments and credit, explained by the people who run them.|commercial-banks 6
homestead-society.test|Homestead Building Society|plain|Savings and mortgages from a society that belongs to its members.|building-societies 7
harbour-insurance.test|Harbour Insurance Agency|modern|Cover for homes, cars and firms, and what is behind it.|insurance-agencies 6
moneyroom.test|The Money Room|modern|How lenders, savers and insurers work.|commercial-banks 2, building-societies 3, insurance-agencies 3
h17.test|Notes from Seventeen|plain|A column, twice a month.|commercial-banks 2, insurance-agencies 2, law 1
ledger-archive.test|Ledger Archive|old|Papers on banks and societies.|commercial-banks 2, building-societies 2
javacorner.test|Java Corner|modern|The language, its library and its machine.|java 6
pointerwise.test|Pointerwise|plain|C and C++ with care.|c-cpp 7
vbdesk.test|The VB Desk|old|Forms, events and macros in Visual Basic.|visual-basic 6
compiled.test|Compiled|modern|Programming languages from close by.|java 3, c-cpp 3, visual-basic 2
n4.test|N4|modern|Working notes.|java 2, c-cpp 2
attic.test|The Attic|old|Things that were kept.|visual-basic 4, crafts 1
nightsky-almanac.test|Night Sky Almanac|modern|Stars, planets and the instruments that see them.|astronomy 6
cellandleaf.test|Cell and Leaf|plain|Biology, from the cell to the forest.|biology 7
openlab.test|Open Lab|modern|Science as it is done.|astronomy 3, biology 3
users.campus.test|Pages of our Members|xhtml|Personal pages of members of the campus.|astronomy 3, biology 2, c-cpp 1, java 1
m31.test|M31|plain|A private page.|astronomy 1, music 1
touchline.test|Touchline|modern|Football, seen from the edge of the pitch.|soccer 6
pitlane.test|Pit Lane|plain|Motor sport and its engineering.|motor-sport 7
allsports-club.test|All Sports Club|modern|Athletics, games and training.|general-sport 7
thestand.test|The Stand|modern|Sport, all of it.|soccer 3, motor-sport 3, general-sport 3
q8.test|Q8|plain|Reports and opinions.|soccer 2, motor-sport 2, general-sport 2
terrace.test|The Terrace|old|Written on Sunday evenings.|soccer 2, gardening 1
wanderpath.test|Wanderpath|modern|Travel without hurry.|travel 5
thelarder.test|The Larder|modern|Cooking and why it works.|cooking 5
gardenrow.test|Garden Row|plain|A garden through the year.|gardening 4
sidebar-law.test|Sidebar|plain|The law in plain words.|law 4
halftone.test|Halftone|modern|Music and film.|music 3, film 4
threshold.test|Threshold|modern|Living in houses, and building them.|housing 5, architecture 4
longago.test|Long Ago|old|History in short pieces.|history 4
wellnote.test|Wellnote|plain|Health without alarm.|health 5
barometer.test|Barometer|xhtml|Weather, watched.|weather 4
workbench.test|Workbench|modern|Crafts and tools.|crafts 4
daily-courier.test|The Daily Courier|modern|News and background.|commercial-banks 1, insurance-agencies 1, astronomy 1, biology 1, soccer 1, motor-sport 1, travel 1, law 1, health 1, history 1
kiosk.test|Kiosk|plain|A little of all.|building-societies 1, java 1, general-sport 1, cooking 1, music 1, film 1, architecture 1
p3.test|P3|modern|Found and noted.|insurance-agencies 1, c-cpp 1, visual-basic 1, biology 1, weather 1, travel 1
townhall.test|Town Hall|plain|Notices of the town.|housing 1, history 1, weather 1
board.test|The Board|plain|Questions and answers.|health 1, cooking 1, gardening 1
linkbook.test|Linkbook|modern|A directory of sites.|
onestep.test|One Step|plain|Sites by subject and by letter.|
`

func parseSites(table string) ([]*site, error) {
	styles := map[string]style{"modern": styleModern, "plain": stylePlain, "old": styleOld, "xhtml": styleXHTML}
	var sites []*site
	for line := range strings.Lines(strings.TrimSpace(table)) {
		col := strings.Split(strings.TrimSpace(line), "|")
		if len(col) != 5 {
			return nil, fmt.Errorf("site table: %q: %d columns, want 5", line, len(col))
		}
		st, ok := styles[col[2]]
		if !ok {
			return nil, fmt.Errorf("site table: %s: no style %q", col[0], col[2])
		}
		s := &site{host: col[0], title: col[1], style: st, about: col[3], weights: map[string]int{}, index: map[string]*demoPage{}}
		for part := range strings.SplitSeq(col[4], ",") {
			var section string
			var weight int
			if strings.TrimSpace(part) == "" {
				continue
			}
			if _, err := fmt.Sscanf(strings.TrimSpace(part), "%s %d", &section, &weight); err != nil {
				return nil, fmt.Errorf("site table: %s: %q: %w", col[0], part, err)
			}
			s.weights[section] = weight
			s.sections = append(s.sections, section)
		}
		sites = append(sites, s)
	}
	return sites, nil
}

func sectionName(section string) string {
	names := map[string]string{
		"commercial-banks": "Commercial banks", "building-societies": "Building societies",
		"insurance-agencies": "Insurance", "java": "Java", "c-cpp": "C and C++", "visual-basic": "Visual Basic",
		"astronomy": "Astronomy", "biology": "Biology", "soccer": "Football", "motor-sport": "Motor sport",
		"general-sport": "Athletics and games",
	}
	if n, ok := names[section]; ok {
		return n
	}
	return strings.ToUpper(section[:1]) + section[1:]
}

// mention is a word of a text that matches another article's title.
type mention struct {
	para, from, to int // paragraph; byte range in it
	word           string
	target         *demoPage
}

// Limits on the links in an article's text.
const (
	inTextSame = 2 // to the same site or theme
	inTextFar  = 1 // to another theme, often the same word in another sense
)

// linkArticles gives each article linked words, related pages and links to its neighbours.
func (d *demoWeb) linkArticles() {
	words := map[string][]*demoPage{}
	var all []*demoPage
	for _, s := range d.sites {
		for _, p := range s.articles {
			all = append(all, p)
			for w := range titleWords(p.text.title) {
				words[w] = append(words[w], p)
			}
		}
	}
	for _, p := range all {
		p.doc.crumbs = []anchor{{"Home", "/"}}
		if index := p.site.index[p.text.section]; index != nil {
			p.doc.crumbs = append(p.doc.crumbs, anchor{index.doc.title, index.path})
		}
		p.doc.crumbs = append(p.doc.crumbs, anchor{p.doc.title, ""})
		p.doc.blocks = p.paragraphs(d.mentions(p, words))
		p.doc.blocks = append(p.doc.blocks, block{heading: "Related"}, block{items: d.related(p, all)})
	}
	for _, s := range d.sites {
		for i, p := range s.articles {
			if i > 0 {
				p.doc.foot = append(p.doc.foot, anchor{"Later", s.articles[i-1].path})
			}
			if i+1 < len(s.articles) {
				p.doc.foot = append(p.doc.foot, anchor{"Earlier", s.articles[i+1].path})
			}
		}
	}
}

// titleWords returns the words of a title that may become link text.
func titleWords(title string) map[string]bool {
	words := map[string]bool{}
	for w := range strings.FieldsFuncSeq(title, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if w = wordKey(w); len(w) >= 4 && !common(w) {
			words[w] = true
		}
	}
	return words
}

// wordKey folds case and plural.
func wordKey(w string) string {
	w = strings.ToLower(w)
	if len(w) > 4 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") {
		w = w[:len(w)-1]
	}
	return w
}

// common reports whether a word is too frequent to link.
func common(w string) bool {
	return slices.Contains(strings.Fields(`what does from with when your that this inside behind between where which why
		how before beyond plain their over under than then into make made work self once half always never every after
		about first people between beside your there until`), w)
}

// mentions chooses the words of a text that become links.
func (d *demoWeb) mentions(p *demoPage, words map[string][]*demoPage) []mention {
	var near, far []mention
	for i, text := range p.text.paras {
		for from, to := range wordsOf(text) {
			w := wordKey(text[from:to])
			for _, target := range words[w] {
				m := mention{i, from, to, w, target}
				switch {
				case target == p:
				case target.site == p.site || target.Labels[0] == p.Labels[0] && p.Labels[0] != otherLabel || target.text.section == p.text.section:
					near = append(near, m)
				default:
					far = append(far, m)
				}
			}
		}
	}
	var chosen []mention
	pick := func(from []mention, n int) {
		for _, i := range d.rng.Perm(len(from)) {
			clash := func(c mention) bool { return c.word == from[i].word || c.target == from[i].target }
			if n > 0 && !slices.ContainsFunc(chosen, clash) {
				chosen, n = append(chosen, from[i]), n-1
			}
		}
	}
	pick(near, inTextSame)
	pick(far, inTextFar)
	slices.SortFunc(chosen, func(a, b mention) int {
		return cmp.Or(cmp.Compare(a.para, b.para), cmp.Compare(a.from, b.from))
	})
	return chosen
}

// wordsOf yields the byte range of each word.
func wordsOf(text string) func(yield func(from, to int) bool) {
	return func(yield func(from, to int) bool) {
		start := -1
		for i, r := range text {
			if unicode.IsLetter(r) {
				if start < 0 {
					start = i
				}
				continue
			}
			if start >= 0 && !yield(start, i) {
				return
			}
			start = -1
		}
		if start >= 0 && utf8.ValidString(text) {
			yield(start, len(text))
		}
	}
}

func (p *demoPage) paragraphs(links []mention) []block {
	var blocks []block
	for i, text := range p.text.paras {
		var spans []span
		at := 0
		for _, m := range links {
			if m.para == i && m.from >= at {
				spans = append(spans, span{text: text[at:m.from]}, span{text[m.from:m.to], m.target.from(p.site)})
				at = m.to
			}
		}
		blocks = append(blocks, block{spans: append(spans, span{text: text[at:]})})
	}
	return blocks
}

// related lists three pages of the site, one elsewhere on the theme, and one or two others.
func (d *demoWeb) related(p *demoPage, all []*demoPage) [][]span {
	var own, theme, any []*demoPage
	for _, o := range all {
		switch {
		case o == p:
		case o.site == p.site:
			own = append(own, o)
		case o.Labels[0] == p.Labels[0] && (p.Labels[0] != otherLabel || o.text.section == p.text.section):
			theme = append(theme, o)
		default:
			any = append(any, o)
		}
	}
	picked := slices.Concat(d.sample(own, 3), d.sample(theme, 1), d.sample(any, 1+d.rng.IntN(2)))
	var items [][]span
	for _, o := range picked {
		items = append(items, []span{{o.doc.title, o.from(p.site)}})
	}
	return items
}
