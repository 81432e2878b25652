package web

import (
	"cmp"
	"fmt"
	"html"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
)

// PlantedPage is a page of the stored web into which databases are planted.
type PlantedPage struct {
	URL, HTML   string
	Title, Text string
	OnTopic     bool
}

// Planted is the stored web with its databases. It is safe for concurrent use.
type Planted struct {
	seed      uint64
	pages     map[string]*PlantedPage
	moved     map[string]bool     // pages now reachable only through the archive
	footers   map[string][]string // database links at the foot of a host's pages, by host
	links     map[string][]string // database links on pages on topic, by URL
	databases map[string]database // by host and first folder
	prose     prose
	starts    []string
	onTopic   int
}

// PlantedAnswer is the page at a URL.
type PlantedAnswer struct {
	HTML    string
	OnTopic bool   // truly on topic, and no other record has the same text
	Name    string // identity of the content, whatever URL served it
	Kind    string // kind of database; "" for a page of the stored web
}

// Size is the number of records of a database.
const Size = 1_000_000

const (
	movedShare = 4 // the archive holds one page on topic in so many
	goodHosts  = 6 // number of hosts, those with most pages on topic, that get databases
)

// NewPlanted plants databases. pages must include some on topic and some off topic.
func NewPlanted(pages []PlantedPage, seed uint64) *Planted {
	w := &Planted{
		seed: seed, pages: map[string]*PlantedPage{}, moved: map[string]bool{}, footers: map[string][]string{},
		links: map[string][]string{}, databases: map[string]database{}, prose: newProse(pages),
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	var good []*PlantedPage
	for i := range pages {
		p := &pages[i]
		w.pages[p.URL] = p
		if p.OnTopic {
			good = append(good, p)
		}
	}
	rng.Shuffle(len(good), func(i, j int) { good[i], good[j] = good[j], good[i] })
	kept := good[len(good)/movedShare:]
	archive := good[:len(good)/movedShare]
	for _, p := range archive {
		w.moved[p.URL] = true
	}
	w.onTopic = len(good)
	w.plant(hostsOf(kept), archive)
	for _, p := range kept {
		for _, entry := range []struct {
			url  string
			each int // one page on topic in this many links there
		}{{"http://archive.planted.test/records/list?page=%d", 8}, {"http://board.planted.test/board/list?page=%d", 8}, {"http://species.planted.test/view/list?page=%d", 8}} {
			if rng.IntN(entry.each) == 0 {
				w.links[p.URL] = append(w.links[p.URL], fmt.Sprintf(entry.url, rng.IntN(20)))
			}
		}
		if len(w.starts) < starts && p.OnTopic {
			w.starts = append(w.starts, p.URL)
		}
	}
	return w
}

const starts = 10

// Starts returns start pages on topic.
func (w *Planted) Starts() []string { return w.starts }

// OnTopic returns the number of pages on topic.
func (w *Planted) OnTopic() int { return w.onTopic }

func hostsOf(pages []*PlantedPage) []string {
	count := map[string]int{}
	for _, p := range pages {
		count[hostIn(p.URL)]++
	}
	return slices.SortedFunc(maps.Keys(count), func(a, b string) int { return cmp.Or(count[b]-count[a], cmp.Compare(a, b)) })
}

func hostIn(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	host, _, _ := strings.Cut(rest, "/")
	return host
}

func (w *Planted) plant(hosts []string, archive []*PlantedPage) {
	w.databases["archive.planted.test/records"] = newArchive(archive)
	w.databases["board.planted.test/board"] = board{}
	w.databases["species.planted.test/view"] = thin{}
	for i, host := range hosts[:min(goodHosts, len(hosts))] {
		name, d := "wares", database(wares{})
		if i%3 == 1 {
			name, d = "records", thin{}
		}
		w.databases[host+"/"+name] = d
		w.footers[host] = append(w.footers[host], "http://"+host+"/"+name+"/list?page=%d")
	}
}

// Answer returns the page at a URL, or false if there is none.
func (w *Planted) Answer(address string) (PlantedAnswer, bool) {
	if p := w.pages[address]; p != nil {
		if w.moved[address] {
			return PlantedAnswer{}, false
		}
		return PlantedAnswer{HTML: w.withLinks(p), OnTopic: p.OnTopic, Name: address}, true
	}
	u, err := url.Parse(address)
	if err != nil {
		return PlantedAnswer{}, false
	}
	folder, rest, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	d := w.databases[u.Host+"/"+folder]
	if d == nil {
		return PlantedAnswer{}, false
	}
	r := visit{web: w, base: "http://" + u.Host + "/" + folder, rng: w.draw(address)}
	if rest == "list" {
		var n int
		if _, err := fmt.Sscan(u.Query().Get("page"), &n); err != nil || n < 0 || n >= Size/aList {
			return PlantedAnswer{}, false
		}
		return PlantedAnswer{HTML: r.list(d, n), Name: fmt.Sprint(r.base, " list ", n), Kind: d.kind() + " list"}, true
	}
	var n int
	if _, err := fmt.Sscanf(rest, "item/%d", &n); err != nil || n < 0 || n >= Size {
		return PlantedAnswer{}, false
	}
	// A record is the same under every session and sort order.
	record := fmt.Sprint(r.base, " ", n)
	r.rng = w.draw(record)
	title, text, onTopic := d.item(&r, n)
	return PlantedAnswer{HTML: r.page(title, text, r.besides(d, n)), OnTopic: onTopic, Name: record, Kind: d.kind()}, true
}

// draw returns a generator seeded by a name.
func (w *Planted) draw(name string) *rand.Rand {
	h := uint64(14695981039346656037)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	return rand.New(rand.NewPCG(w.seed, h))
}

func (w *Planted) withLinks(p *PlantedPage) string {
	rng := w.draw(p.URL)
	all := w.links[p.URL]
	for _, f := range w.footers[hostIn(p.URL)] {
		all = append(slices.Clone(all), fmt.Sprintf(f, 0), fmt.Sprintf(f, rng.IntN(Size/aList)))
	}
	if len(all) == 0 {
		return p.HTML
	}
	var b strings.Builder
	for _, l := range all {
		fmt.Fprintf(&b, "<p>%s <a href=%q>%s</a></p>\n", "See also", l, w.databases[place(l)].name())
	}
	body, tail, found := cutLast(p.HTML, "</body>")
	if !found {
		return p.HTML + b.String()
	}
	return body + b.String() + "</body>" + tail
}

// place returns the host and first folder of a URL.
func place(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	host, path, _ := strings.Cut(rest, "/")
	folder, _, _ := strings.Cut(path, "/")
	return host + "/" + folder
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

type database interface {
	kind() string
	name() string // anchor text of links to it
	// heading is the text above each list.
	heading(r *visit) string
	// entry is a record's name in lists.
	entry(r *visit, n int) string
	item(r *visit, n int) (title, text string, onTopic bool)
}

// aList is the number of records per list page.
const aList = 20

// visit is the context in which a page is generated.
type visit struct {
	web  *Planted
	base string // URL of the database
	rng  *rand.Rand
}

// list renders a list page: its records, neighbouring pages, and itself in other sort orders.
func (r *visit) list(d database, n int) string {
	var b strings.Builder
	for i := n * aList; i < (n+1)*aList; i++ {
		fmt.Fprintf(&b, "<li><a href=\"%s/item/%d\">%s</a></li>\n", r.base, i, html.EscapeString(d.entry(r, i)))
	}
	for _, to := range []int{n - 1, n + 1, n + 2, n + 10, r.rng.IntN(Size / aList)} {
		if to >= 0 && to < Size/aList {
			fmt.Fprintf(&b, "<li><a href=\"%s/list?page=%d\">%d</a></li>\n", r.base, to, to)
		}
	}
	for _, by := range []string{"name", "date", "size"} {
		fmt.Fprintf(&b, "<li><a href=\"%s/list?page=%d&sort=%s\">by %s</a></li>\n", r.base, n, by, by)
		fmt.Fprintf(&b, "<li><a href=\"%s/list?page=%d&sort=%s&visit=%x\">by %s</a></li>\n", r.base, n, by, r.rng.Uint32(), by)
	}
	all := *r
	all.rng = r.web.draw(r.base)
	return r.page(fmt.Sprint(d.name(), " ", n), d.heading(&all), "<ul>\n"+b.String()+"</ul>\n")
}

func (r *visit) besides(d database, n int) string {
	var b strings.Builder
	for range 5 {
		i := r.rng.IntN(Size)
		if r.rng.IntN(2) == 0 {
			i = min(Size-1, n+1+r.rng.IntN(aList))
		}
		fmt.Fprintf(&b, "<p><a href=\"%s/item/%d\">%s</a></p>\n", r.base, i, html.EscapeString(d.entry(r, i)))
	}
	fmt.Fprintf(&b, "<p><a href=\"%s/item/%d?visit=%x\">print</a> <a href=\"%s/list?page=%d\">list</a></p>\n", r.base, n, r.rng.Uint32(), r.base, n/aList)
	return b.String()
}

func (r *visit) page(title, text, links string) string {
	return fmt.Sprintf("<!DOCTYPE html>\n<html lang=\"en\"><head><title>%s</title></head><body>\n<h1>%[1]s</h1>\n<p>%s</p>\n%s</body></html>\n",
		html.EscapeString(title), html.EscapeString(text), links)
}

// wares are off topic, on a host with many pages on topic.
type wares struct{}

func (wares) kind() string                 { return "wares" }
func (wares) name() string                 { return "Wares" }
func (wares) heading(r *visit) string      { return some(r.rng, r.web.prose.other, 60) }
func (wares) entry(r *visit, _ int) string { return some(r.rng, r.web.prose.other, 3) }

func (wares) item(r *visit, n int) (title, text string, onTopic bool) {
	return fmt.Sprint(some(r.rng, r.web.prose.other, 2), " ", n), some(r.rng, r.web.prose.other, 120), false
}

// board has lists about the topic and threads off topic.
type board struct{}

func (board) kind() string            { return "board" }
func (board) name() string            { return "Talk about the subject" }
func (board) heading(r *visit) string { return some(r.rng, r.web.prose.topic, 120) }
func (board) entry(r *visit, _ int) string {
	return one(r.rng, r.web.prose.titles)
}

func (board) item(r *visit, n int) (title, text string, onTopic bool) {
	return fmt.Sprint("Thread ", n, ": ", one(r.rng, r.web.prose.titles)), some(r.rng, r.web.prose.other, 120), false
}

// archive has the pages on topic as every other one of its first records, and nothing after them.
type archive struct{ pages []*PlantedPage }

func newArchive(pages []*PlantedPage) archive { return archive{pages} }

func (archive) kind() string            { return "archive" }
func (archive) name() string            { return "Archive of the subject" }
func (archive) heading(r *visit) string { return some(r.rng, r.web.prose.topic, 60) }

func (a archive) entry(r *visit, n int) string {
	if n%2 == 0 && n/2 < len(a.pages) {
		return a.pages[n/2].Title
	}
	return some(r.rng, r.web.prose.other, 1) + " " + one(r.rng, r.web.prose.topic)
}

func (a archive) item(r *visit, n int) (title, text string, onTopic bool) {
	if n%2 == 0 && n/2 < len(a.pages) {
		p := a.pages[n/2]
		return p.Title, p.Text, true
	}
	return fmt.Sprint("Record ", n), some(r.rng, r.web.prose.other, 120), false
}

// thin has one text on topic in five versions, in which only a name and numbers change.
type thin struct{}

func (thin) kind() string            { return "thin" }
func (thin) name() string            { return "Table of the subject" }
func (thin) heading(r *visit) string { return some(r.rng, r.web.prose.topic, 60) }
func (thin) entry(r *visit, n int) string {
	return some(r.rng, r.web.prose.topic, 2) + fmt.Sprint(" ", n)
}

func (thin) item(r *visit, n int) (title, text string, onTopic bool) {
	const versions = 5
	name := some(r.rng, r.web.prose.topic, 2)
	text = r.web.prose.texts[n%versions%len(r.web.prose.texts)]
	text = fmt.Sprintf("%s, number %d of %d. %s %s has %d entries, the last by %s.", name, n, Size, text, name, r.rng.IntN(900), some(r.rng, r.web.prose.topic, 2))
	return fmt.Sprint(name, " ", n), text, false
}

// prose is the word material of generated texts.
type prose struct {
	topic, other []string // words of pages on topic and off topic
	titles       []string // of pages on topic
	texts        []string // beginnings of pages on topic
}

// maxPool bounds the words of each pool.
const maxPool = 1 << 16

func newProse(pages []PlantedPage) prose {
	var p prose
	for _, g := range pages {
		words := strings.FieldsFunc(g.Text, func(r rune) bool { return r < 'A' || r > 'z' || r > 'Z' && r < 'a' })
		words = words[:min(len(words), 300)]
		switch {
		case !g.OnTopic && len(p.other) < maxPool:
			p.other = append(p.other, words...)
		case g.OnTopic && len(p.topic) < maxPool:
			p.topic = append(p.topic, words...)
			p.titles = append(p.titles, g.Title)
			p.texts = append(p.texts, strings.Join(words[:min(len(words), 120)], " "))
		}
	}
	return p
}

func some(rng *rand.Rand, pool []string, n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = pool[rng.IntN(len(pool))]
	}
	return strings.Join(words, " ")
}

func one(rng *rand.Rand, of []string) string { return of[rng.IntN(len(of))] }
