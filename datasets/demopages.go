package datasets

import (
	"embed"
	"errors"
	"fmt"
	"fossick/internal/cli"
	"html"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"
)

// navPage is a page that a site has about itself.
type navPage struct {
	path       string
	doc        *document
	menu, foot bool // linked in the menu or footer
}

func para(text string) block { return block{spans: []span{{text: text}}} }

// navPages returns the about, contact and monthly archive pages.
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

// readOn links a home page's excerpt to its article.
const readOn = "Read on"

func (d *demoWeb) fillSite(s *site, hubs []*demoPage) {
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

func (d *demoWeb) listing(s *site, section string) [][]span {
	var items [][]span
	for _, p := range s.articles {
		if p.text.section == section {
			items = append(items, []span{{p.doc.title, p.path}, {text: ". " + p.text.lead()}})
		}
	}
	return items
}

// elsewhere lists other sites for a home page: two of its theme, a hub if any, and two at random.
func (d *demoWeb) elsewhere(s *site, hubs []*demoPage) [][]span {
	theme := s.theme()
	var near, far []*demoPage
	for _, o := range d.sites {
		switch {
		case o == s:
		case theme != "" && o.theme() == theme:
			near = append(near, o.home)
		default:
			far = append(far, o.home)
		}
	}
	var fitting []*demoPage
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

func (d *demoWeb) sample(pages []*demoPage, n int) []*demoPage {
	pages = slices.Clone(pages)
	d.rng.Shuffle(len(pages), func(i, j int) { pages[i], pages[j] = pages[j], pages[i] })
	return pages[:min(n, len(pages))]
}

// hubs adds a page of annotated links for every category, on a site about it, and one for every theme.
// Hubs are on topic and good start pages.
func (d *demoWeb) hubs() []*demoPage {
	themes := themesOf()
	var hubs []*demoPage
	for _, section := range cli.SortedKeys(themes) {
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
			items = append(items, []span{{p.doc.title, p.url()}, {text: ". " + p.text.lead()}})
		}
		doc.blocks = []block{para("A list kept by " + s.title + ", with a sentence on each."), {items: items}}
		hubs = append(hubs, d.hub(s, "/links/"+section+".html", []string{themes[section], section}, doc))
	}
	for _, theme := range []string{"banking", "programming", "science", "sport"} {
		hubs = append(hubs, d.themeHub(theme, hubs))
	}
	return hubs
}

func (d *demoWeb) hub(s *site, path string, labels []string, doc *document) *demoPage {
	s.nav = append(s.nav, anchor{"Links", path})
	return d.add(s, "hub", path, labels, doc)
}

func (d *demoWeb) themeHub(theme string, hubs []*demoPage) *demoPage {
	var items [][]span
	var sites []*site
	for _, s := range d.sites {
		if s.theme() == theme {
			items = append(items, []span{{s.title, s.home.url()}, {text: ". " + s.about}})
			sites = append(sites, s)
		}
	}
	s := sites[d.rng.IntN(len(sites))]
	for _, h := range hubs {
		if h.Labels[0] == theme && h.site != s {
			items = append(items, []span{{h.doc.title, h.url()}})
		}
	}
	title := strings.ToUpper(theme[:1]) + theme[1:] + " on the web"
	doc := &document{title: title, blocks: []block{para("Sites about " + theme + " and lists of pages."), {items: items}}}
	return d.hub(s, "/links/"+theme+".html", []string{theme}, doc)
}

// articlesOf returns the articles of a section on sites other than s.
func (d *demoWeb) articlesOf(section string, s *site) []*demoPage {
	var out []*demoPage
	for _, o := range d.sites {
		for _, p := range o.articles {
			if o != s && p.text.section == section {
				out = append(out, p)
			}
		}
	}
	return out
}

// directories fills the sites without articles with lists of all sites, by subject and by letter. They
// are off topic.
func (d *demoWeb) directories() {
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
			groups[group] = append(groups[group], []span{{o.title, o.home.url()}, {text: ". " + o.about}})
		}
		var index [][]span
		for _, group := range cli.SortedKeys(groups) {
			doc := &document{title: "Sites: " + group, crumbs: []anchor{{"Home", "/"}}, blocks: []block{{items: groups[group]}}}
			p := d.add(s, "directory", "/sites/"+strings.ToLower(group), []string{otherLabel}, doc)
			index = append(index, []span{{group, p.path}})
		}
		s.home.doc.blocks = []block{para(s.about), {items: index}}
	}
}

// anchor is a link; href is absolute or root-relative.
type anchor struct{ text, href string }

// span is running text, or a link if href is set.
type span struct{ text, href string }

// block is one piece of a document's body: a heading, a paragraph or a list.
type block struct {
	heading string   // h2
	spans   []span   // paragraph
	items   [][]span // list
}

// document is a page before rendering.
type document struct {
	title, description string
	crumbs, nav, foot  []anchor
	byline             string
	blocks             []block
	refresh            string // target of a meta refresh
}

// hrefs returns the absolute targets of all links in document order.
func (d *document) hrefs(base string) []string {
	var out []string
	b, err := url.Parse(base)
	if err != nil { // cannot happen: bases are generated
		return nil
	}
	add := func(href string) {
		if href == "" {
			return
		}
		if u, err := b.Parse(href); err == nil {
			out = append(out, u.String())
		}
	}
	for _, list := range [][]anchor{d.nav, d.crumbs} {
		for _, a := range list {
			add(a.href)
		}
	}
	for _, bl := range d.blocks {
		for _, s := range bl.spans {
			add(s.href)
		}
		for _, item := range bl.items {
			for _, s := range item {
				add(s.href)
			}
		}
	}
	for _, a := range d.foot {
		add(a.href)
	}
	return out
}

func (d *document) render(s *site) string {
	w := &writer{old: s.style == styleOld, xhtml: s.style == styleXHTML}
	switch s.style {
	case stylePlain:
		d.plain(w, s)
	case styleOld:
		d.old(w, s)
	case styleXHTML:
		d.xhtml(w, s)
	default:
		d.modern(w, s)
	}
	return w.String()
}

type writer struct {
	strings.Builder
	old, xhtml bool
}

func (w *writer) f(format string, args ...any) { fmt.Fprintf(w, format, args...) }

// text escapes s. On old pages, which are Latin-1, other characters become character references.
func (w *writer) text(s string) string {
	s = html.EscapeString(s)
	if !w.old {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if r > 0xff {
			fmt.Fprintf(&b, "&#%d;", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func (w *writer) link(text, href string) string {
	if w.old {
		return fmt.Sprintf("<A HREF=%q>%s</A>", href, w.text(text))
	}
	return fmt.Sprintf("<a href=%q>%s</a>", html.EscapeString(href), w.text(text))
}

func (w *writer) spans(spans []span) string {
	var b strings.Builder
	for _, s := range spans {
		if s.href == "" {
			b.WriteString(w.text(s.text))
		} else {
			b.WriteString(w.link(s.text, s.href))
		}
	}
	return b.String()
}

func (w *writer) anchors(list []anchor, sep string) string {
	var parts []string
	for _, a := range list {
		if a.href == "" {
			parts = append(parts, w.text(a.text))
			continue
		}
		parts = append(parts, w.link(a.text, a.href))
	}
	return strings.Join(parts, sep)
}

// body writes the blocks. Old pages close neither P nor LI.
func (w *writer) body(blocks []block) {
	h, p, endP, ul, li, endLi := "h2", "<p>", "</p>", "ul", "<li>", "</li>"
	if w.old {
		h, p, endP, ul, li, endLi = "H2", "<P>", "", "UL", "<LI>", ""
	}
	for _, b := range blocks {
		switch {
		case b.heading != "":
			w.f("<%s>%s</%s>\n", h, w.text(b.heading), h)
		case b.items != nil:
			w.f("<%s>\n", ul)
			for _, item := range b.items {
				w.f("%s%s%s\n", li, w.spans(item), endLi)
			}
			w.f("</%s>\n", ul)
		default:
			w.f("%s%s%s\n", p, w.spans(b.spans), endP)
		}
	}
}

// look is the markup that differs between styles of the same structure.
type look struct{ crumbs, between, heading, byline string }

// article writes breadcrumbs, heading and text.
func (w *writer) article(d *document, l look) {
	if len(d.crumbs) > 0 {
		w.f(l.crumbs, w.anchors(d.crumbs, l.between))
	}
	w.f(l.heading, w.text(d.title))
	if d.byline != "" {
		w.f(l.byline, w.text(d.byline))
	}
	w.body(d.blocks)
}

func (d *document) modern(w *writer, s *site) {
	w.f("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>%s</title>\n", w.text(d.title))
	if d.description != "" {
		w.f("<meta name=\"description\" content=\"%s\">\n", w.text(d.description))
	}
	if d.refresh != "" {
		w.f("<meta http-equiv=\"refresh\" content=\"0; url=%s\">\n", w.text(d.refresh))
	}
	w.f("<script>window.visits = (window.visits || 0) + 1;</script>\n</head>\n<body>\n")
	w.f("<header><a class=\"logo\" href=\"/\">%s</a>\n<nav>%s</nav>\n</header>\n", w.text(s.title), w.anchors(d.nav, "\n"))
	w.article(d, look{crumbs: "<nav class=\"breadcrumb\">%s</nav>\n", between: " › ", heading: "<main>\n<article>\n<h1>%s</h1>\n", byline: "<p class=\"byline\"><time>%s</time></p>\n"})
	w.f("</article>\n</main>\n<footer>%s</footer>\n</body>\n</html>\n", w.anchors(d.foot, " · "))
}

func (d *document) plain(w *writer, s *site) {
	w.f("<!DOCTYPE HTML PUBLIC \"-//W3C//DTD HTML 4.01 Transitional//EN\">\n<html>\n<head>\n")
	w.f("<meta http-equiv=\"Content-Type\" content=\"text/html; charset=utf-8\">\n<title>%s - %s</title>\n", w.text(d.title), w.text(s.title))
	if d.refresh != "" {
		w.f("<meta http-equiv=\"refresh\" content=\"0;URL='%s'\">\n", w.text(d.refresh))
	}
	w.f("<style type=\"text/css\">#menu a { padding: 0 1em }</style>\n</head>\n<body>\n")
	w.f("<div id=\"menu\">%s</div>\n", w.anchors(d.nav, " | "))
	w.article(d, look{crumbs: "<div class=\"crumbs\">%s</div>\n", between: " &gt; ", heading: "<div id=\"content\">\n<h1>%s</h1>\n", byline: "<p><i>%s</i></p>\n"})
	w.f("</div>\n<div class=\"footer\">%s</div>\n</body>\n</html>\n", w.anchors(d.foot, " | "))
}

func (d *document) old(w *writer, s *site) {
	w.f("<HTML>\n<HEAD>\n<META HTTP-EQUIV=\"Content-Type\" CONTENT=\"text/html; charset=iso-8859-1\">\n")
	w.f("<TITLE>%s</TITLE>\n</HEAD>\n<BODY BGCOLOR=#FFFFFF TEXT=black>\n", w.text(d.title))
	w.f("<TABLE WIDTH=100%% BORDER=0 CELLPADDING=8>\n<TR><TD WIDTH=160 VALIGN=top BGCOLOR=#DDDDCC>\n")
	w.f("<FONT SIZE=-1><B>%s</B><BR>\n%s</FONT>\n<TD VALIGN=top>\n", w.text(s.title), w.anchors(d.nav, "<BR>\n"))
	w.article(d, look{crumbs: "<FONT SIZE=-1>%s</FONT>\n", between: " : ", heading: "<H1><FONT FACE=Arial>%s</FONT></H1>\n", byline: "<I>%s</I>\n"})
	w.f("</TABLE>\n<HR>\n<CENTER><FONT SIZE=-2>%s<BR>&copy; %s</FONT></CENTER>\n</BODY>\n", w.anchors(d.foot, " - "), w.text(s.title))
}

func (d *document) xhtml(w *writer, s *site) {
	w.f("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0 Strict//EN\" ")
	w.f("\"http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd\">\n<html xmlns=\"http://www.w3.org/1999/xhtml\" xml:lang=\"en\">\n<head>\n")
	w.f("<title>%s</title>\n<meta name=\"generator\" content=\"by hand\" />\n</head>\n<body>\n", w.text(d.title))
	w.f("<ul id=\"navigation\">\n")
	for _, a := range d.nav {
		w.f("<li>%s</li>\n", w.link(a.text, a.href))
	}
	w.f("</ul>\n<p class=\"path\">%s</p>\n<h1>%s</h1>\n", w.anchors(d.crumbs, " / "), w.text(d.title))
	if d.byline != "" {
		w.f("<p class=\"date\">%s<br /></p>\n", w.text(d.byline))
	}
	w.body(d.blocks)
	w.f("<hr />\n<address>%s, %s</address>\n</body>\n</html>\n", w.text(s.title), w.anchors(d.foot, ", "))
}

// prose holds pages/CATEGORY/SLUG.txt for the topics and pages/other/AREA/SLUG.txt. A text is a title
// and paragraphs, separated by empty lines.
//
//go:embed demo/pages
var prose embed.FS

type article struct {
	slug, title string
	paras       []string
	section     string // category, or area of an off-topic text
	theme       string
}

func readProse() ([]*article, error) {
	themes := themesOf()
	var all []*article
	err := fs.WalkDir(prose, "demo/pages", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := prose.ReadFile(name)
		if err != nil {
			return err
		}
		a, err := parseArticle(string(text))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		a.slug = strings.TrimSuffix(path.Base(name), ".txt")
		a.section = path.Base(path.Dir(name))
		a.theme = otherLabel
		if path.Dir(path.Dir(name)) == "demo/pages" {
			theme, ok := themes[a.section]
			if !ok {
				return fmt.Errorf("%s: folder %s is no category", name, a.section)
			}
			a.theme = theme
		}
		all = append(all, a)
		return nil
	})
	return all, err
}

func parseArticle(text string) (*article, error) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	title, body, _ := strings.Cut(strings.TrimSpace(text), "\n")
	a := &article{title: strings.TrimSpace(title)}
	for para := range strings.SplitSeq(body, "\n\n") {
		if para = strings.Join(strings.Fields(para), " "); para != "" {
			a.paras = append(a.paras, para)
		}
	}
	if a.title == "" || len(a.paras) == 0 {
		return nil, errors.New("want a title, an empty line and paragraphs")
	}
	return a, nil
}

// lead returns the first sentence, for link lists.
func (a *article) lead() string {
	p := a.paras[0]
	for i := 0; i+1 < len(p); i++ {
		if (p[i] == '.' || p[i] == '?') && p[i+1] == ' ' && i > 40 {
			return p[:i+1]
		}
	}
	return p
}

// labels returns theme and category, or only "other" off topic.
func (a *article) labels() []string {
	if a.theme == otherLabel {
		return []string{otherLabel}
	}
	return []string{a.theme, a.section}
}
