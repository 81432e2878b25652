package planted

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
)

// Page is a page of the web that databases are planted in.
type Page struct {
	URL, HTML   string
	Title, Text string
	OnTopic     bool
}

// Web is the stored web with its databases. It is safe for concurrent use.
type Web struct {
	seed      uint64
	pages     map[string]*Page
	moved     map[string]bool     // pages that are in the archive now
	footers   map[string][]string // databases that pages of a host link to, by host
	links     map[string][]string // and pages on topic, by URL
	databases map[string]database // by host and first folder
	prose     prose
	starts    []string
	onTopic   int
}

// Answer is what the web says to a URL.
type Answer struct {
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
func New(pages []Page, seed uint64) *Web {
	w := &Web{
		seed: seed, pages: map[string]*Page{}, moved: map[string]bool{}, footers: map[string][]string{},
		links: map[string][]string{}, databases: map[string]database{}, prose: newProse(pages),
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	var good []*Page
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
func (w *Web) Starts() []string { return w.starts }

// OnTopic is how many pages are on topic.
func (w *Web) OnTopic() int { return w.onTopic }

// hostsOf returns the hosts of pages, that of most first.
func hostsOf(pages []*Page) []string {
	count := map[string]int{}
	for _, p := range pages {
		count[hostOf(p.URL)]++
	}
	return slices.SortedFunc(maps.Keys(count), func(a, b string) int { return cmp.Or(count[b]-count[a], cmp.Compare(a, b)) })
}

func hostOf(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	host, _, _ := strings.Cut(rest, "/")
	return host
}

// plant chooses where databases are.
func (w *Web) plant(hosts []string, archive []*Page) {
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
func (w *Web) Answer(address string) (Answer, bool) {
	if p := w.pages[address]; p != nil {
		if w.moved[address] {
			return Answer{}, false
		}
		return Answer{HTML: w.withLinks(p), OnTopic: p.OnTopic, Name: address}, true
	}
	u, err := url.Parse(address)
	if err != nil {
		return Answer{}, false
	}
	folder, rest, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	d := w.databases[u.Host+"/"+folder]
	if d == nil {
		return Answer{}, false
	}
	r := request{web: w, base: "http://" + u.Host + "/" + folder, rng: w.draw(address)}
	if rest == "list" {
		var n int
		if _, err := fmt.Sscan(u.Query().Get("page"), &n); err != nil || n < 0 || n >= Size/aList {
			return Answer{}, false
		}
		return Answer{HTML: r.list(d, n), Name: fmt.Sprint(r.base, " list ", n), Kind: d.kind() + " list"}, true
	}
	var n int
	if _, err := fmt.Sscanf(rest, "item/%d", &n); err != nil || n < 0 || n >= Size {
		return Answer{}, false
	}
	// A record is the same whatever session or order it is asked for in.
	record := fmt.Sprint(r.base, " ", n)
	r.rng = w.draw(record)
	title, text, onTopic := d.item(&r, n)
	return Answer{HTML: r.page(title, text, r.besides(d, n)), OnTopic: onTopic, Name: record, Kind: d.kind()}, true
}

// draw returns the random numbers of a name.
func (w *Web) draw(name string) *rand.Rand {
	h := uint64(14695981039346656037)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	return rand.New(rand.NewPCG(w.seed, h))
}

// withLinks returns a page with links to databases at its end.
func (w *Web) withLinks(p *Page) string {
	rng := w.draw(p.URL)
	all := w.links[p.URL]
	for _, f := range w.footers[hostOf(p.URL)] {
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
