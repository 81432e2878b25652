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

// Page is a page of the web that databases are planted in.
type PlantedPage struct {
	URL, HTML   string
	Title, Text string
	OnTopic     bool
}

// Web is the stored web with its databases. It is safe for concurrent use.
type Planted struct {
	seed      uint64
	pages     map[string]*PlantedPage
	moved     map[string]bool     // pages that are in the archive now
	footers   map[string][]string // databases that pages of a host link to, by host
	links     map[string][]string // and pages on topic, by URL
	databases map[string]database // by host and first folder
	prose     prose
	starts    []string
	onTopic   int
}

// Answer is what the web says to a URL.
type PlantedAnswer struct {
	HTML    string
	OnTopic bool   // in truth, and no other record says the same
	Name    string // of what it shows, under which URL ever
	Kind    string // of the database; "" of a page of the stored web
}

// Size is how many records a database has.
const Size = 1_000_000

const (
	movedShare = 4 // one page on topic in so many is in the archive
	goodHosts  = 6 // the hosts with most pages on topic, which have databases
)

// New plants databases. There must be pages on topic and off.
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
			each int // one page on topic in so many links there
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

// starts is how many start pages there are.
const starts = 10

// Starts are pages on topic to start from.
func (w *Planted) Starts() []string { return w.starts }

// OnTopic is how many pages are on topic.
func (w *Planted) OnTopic() int { return w.onTopic }

// hostsOf returns the hosts of pages, that of most first.
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

// plant chooses where databases are.
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

// Answer returns what the web has at a URL; false where that is nothing.
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
	// A record is the same whatever session or order it is asked for in.
	record := fmt.Sprint(r.base, " ", n)
	r.rng = w.draw(record)
	title, text, onTopic := d.item(&r, n)
	return PlantedAnswer{HTML: r.page(title, text, r.besides(d, n)), OnTopic: onTopic, Name: record, Kind: d.kind()}, true
}

// draw returns the random numbers of a name.
func (w *Planted) draw(name string) *rand.Rand {
	h := uint64(14695981039346656037)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	return rand.New(rand.NewPCG(w.seed, h))
}

// withLinks returns a page with links to databases at its end.
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

// place is the host and first folder of a URL.
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

// database makes the records of one kind.
type database interface {
	kind() string
	name() string // in links to it
	// heading is what every list says above its records.
	heading(r *visit) string
	// entry is what a list calls a record.
	entry(r *visit, n int) string
	item(r *visit, n int) (title, text string, onTopic bool)
}

// aList is how many records a list names.
const aList = 20

// request is what a page is made for.
type visit struct {
	web  *Planted
	base string // URL of the database
	rng  *rand.Rand
}

// list makes the page of a list: its records, its neighbours, and itself in other orders.
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

// besides are the links of a record.
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

// wares are off topic, on a good host.
type wares struct{}

func (wares) kind() string                 { return "wares" }
func (wares) name() string                 { return "Wares" }
func (wares) heading(r *visit) string      { return some(r.rng, r.web.prose.other, 60) }
func (wares) entry(r *visit, _ int) string { return some(r.rng, r.web.prose.other, 3) }

func (wares) item(r *visit, n int) (title, text string, onTopic bool) {
	return fmt.Sprint(some(r.rng, r.web.prose.other, 2), " ", n), some(r.rng, r.web.prose.other, 120), false
}

// board has lists that speak of the topic, and threads that do not.
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

// archive has pages on topic among its first records, every other one, and then none.
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

// thin has one text on topic in five versions, in which a name and numbers change.
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

// prose is what databases' texts are made of.
type prose struct {
	topic, other []string // words of pages on topic and off
	titles       []string // of pages on topic
	texts        []string // of pages on topic, their beginnings
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

// some returns n words of a pool.
func some(rng *rand.Rand, pool []string, n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = pool[rng.IntN(len(pool))]
	}
	return strings.Join(words, " ")
}

// one returns one of a few.
func one(rng *rand.Rand, of []string) string { return of[rng.IntN(len(of))] }
