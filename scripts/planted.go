//go:build ignore

// Planted crawls a stored web with planted databases of a million URLs each, virtually or
// through a proxy: docs/data/planted.tsv.
//
//	go run scripts/planted.go lab CORPUS TOPIC POLICY,... REQUESTS,... SEED,...     a line a crawl
//	go run scripts/planted.go serve ADDR CORPUS TOPIC SEED DIR                      a proxy
//
// serve writes the start pages, a model of 600 random pages and a log into DIR. A line of the log is a
// request: on topic and new or not, the kind of database, the URL.
package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"html"
	"log"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"fossick/crawler"
	"fossick/crawler/plan"
	"fossick/datasets"
	"fossick/internal/page"
	"fossick/models"
	"fossick/train"
)

func main() {
	log.SetFlags(0)
	var err error
	switch {
	case len(os.Args) == 7 && os.Args[1] == "lab":
		err = lab(os.Args[2], os.Args[3], strings.Split(os.Args[4], ","), numbers(os.Args[5]), numbers(os.Args[6]))
	case len(os.Args) == 7 && os.Args[1] == "serve":
		err = serve(os.Args[2], os.Args[3], os.Args[4], numbers(os.Args[5])[0], os.Args[6])
	default:
		log.Fatal("planted lab CORPUS TOPIC POLICY,... REQUESTS,... SEED,... or planted serve ADDR CORPUS TOPIC SEED DIR")
	}
	if err != nil {
		log.Fatal(err)
	}
}

func numbers(text string) (all []int) {
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(part)
		if err != nil {
			log.Fatal(err)
		}
		all = append(all, n)
	}
	return all
}

func read(corpus, topic string) (pages []storedPage, err error) {
	set, err := datasets.Open(corpus, datasets.Options{})
	if err != nil {
		return nil, err
	}
	truth := map[string]bool{}
	if t, err := datasets.ReadTruth(filepath.Join(corpus, "labels.tsv.zst")); err == nil {
		for _, u := range t.Targets(topic) {
			truth[u] = true
		}
	}
	for e, err := range set.Examples() {
		if err != nil {
			return nil, err
		}
		key, err := datasets.Key(e.URL)
		if err != nil || e.HTML == "" {
			continue
		}
		p, err := page.Parse([]byte(e.HTML), page.ParseOptions{URL: key, ContentType: "text/html; charset=utf-8"})
		if err != nil {
			continue
		}
		on := slices.Contains(append(e.Labels, e.Label), topic) || truth[key]
		pages = append(pages, storedPage{URL: key, HTML: e.HTML, Title: p.Title, Text: p.Text, OnTopic: on})
	}
	return pages, nil
}

// model trains on 600 random pages.
func model(ctx context.Context, pages []storedPage, topic string, seed int) (*models.Model, error) {
	rng := rand.New(rand.NewPCG(uint64(seed), 2))
	order := rng.Perm(len(pages))
	m, _, err := train.Train(ctx, func(yield func(*datasets.Example, error) bool) {
		for _, n := range order[:min(600, len(order))] {
			p := pages[n]
			e := &datasets.Example{URL: p.URL, Label: "other", HTML: p.HTML}
			if p.OnTopic {
				e.Label = topic
			}
			if !yield(e, nil) {
				return
			}
		}
	}, train.Options{Target: train.Target{Topic: topic}, Seed: int64(seed)})
	return m, err
}

// lab crawls virtually, with one worker and no rests.
func lab(corpus, topic string, policies []string, budgets, seeds []int) error {
	pages, err := read(corpus, topic)
	if err != nil {
		return err
	}
	for _, seed := range seeds {
		web := plantedIn(pages, uint64(seed))
		m, err := model(context.Background(), pages, topic, seed)
		if err != nil {
			return err
		}
		labeller, err := plan.NewLabeller(&models.Topic{Name: topic, Model: m})
		if err != nil {
			return err
		}
		for _, name := range policies {
			if err := crawl(web, labeller, name, topic, budgets, seed); err != nil {
				return err
			}
		}
	}
	return nil
}

func crawl(web *planted, labeller *plan.Labeller, name, topic string, budgets []int, seed int) error {
	name, follow := strings.CutSuffix(name, "+traps")
	pol, _, err := plan.Parse(name)
	if err != nil {
		return err
	}
	scorer, err := pol.Scorer(plan.Input{Labeller: labeller, Seed: uint64(seed)})
	if err != nil {
		return err
	}
	order, err := pol.Ordering(scorer)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	most := slices.Max(budgets)
	asked, found, kinds, hits := 0, 0, map[string]int{}, map[string]int{}
	seen := map[string]bool{}
	tell := func() {
		var by []string
		for _, k := range slices.Sorted(maps.Keys(kinds)) {
			by = append(by, fmt.Sprintf("%s:%d", k, kinds[k]))
		}
		fmt.Printf("%s\t%s\t%d\t%d\t%d\t%d\t%s\tarchive on topic:%d\n", topic, name, seed, asked, found, web.onTopic, strings.Join(by, " "), hits["archive"])
	}
	_, err = crawler.Virtual(ctx, crawler.Options{Scorer: scorer, Ordering: order, Seeds: web.starts, FollowTraps: follow}, func(url string) crawler.Answer {
		if strings.HasSuffix(url, "/robots.txt") {
			return crawler.Answer{}
		}
		asked++
		a, ok := web.at(url)
		switch {
		case !ok:
			kinds["missing"]++
		case a.Kind == "":
			kinds["stored"]++
		default:
			kinds[a.Kind]++
		}
		if a.OnTopic && !seen[a.Name] {
			seen[a.Name] = true
			hits[a.Kind]++
			found++
		}
		if os.Getenv("TRACE") != "" && asked > most-200 {
			fmt.Fprintln(os.Stderr, asked, a.OnTopic, a.Kind, url)
		}
		if slices.Contains(budgets, asked) {
			tell()
		}
		if asked == most {
			cancel()
		}
		if !ok {
			return crawler.Answer{}
		}
		p, err := page.Parse([]byte(a.HTML), page.ParseOptions{URL: url, ContentType: "text/html; charset=utf-8"})
		if err != nil {
			return crawler.Answer{}
		}
		return crawler.Answer{Page: p}
	})
	if ctx.Err() == nil {
		tell()
	} else {
		err = nil
	}
	return err
}

func serve(addr, corpus, topic string, seed int, dir string) error {
	pages, err := read(corpus, topic)
	if err != nil {
		return err
	}
	web := plantedIn(pages, uint64(seed))
	m, err := model(context.Background(), pages, topic, seed)
	if err != nil {
		return err
	}
	if err := m.WriteFile(filepath.Join(dir, "topic.model")); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "starts"), []byte(strings.Join(web.starts, "\n")+"\n"), 0o644); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, "requests"))
	if err != nil {
		return err
	}
	defer f.Close()
	var mu sync.Mutex // guards out
	out := bufio.NewWriter(f)
	log.Printf("serving %d pages, %d on topic", len(pages), web.onTopic)
	return http.ListenAndServe(addr, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		url := r.URL.String()
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		a, ok := web.at(url)
		if !ok {
			a.Kind = "missing"
		}
		mu.Lock()
		fmt.Fprintf(out, "%v\t%s\t%s\n", a.OnTopic, a.Kind, a.Name)
		err := out.Flush()
		mu.Unlock()
		if err != nil {
			log.Print(err)
		}
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(a.HTML)) // the client may be gone
	}))
}

// storedPage is a page of the stored web into which databases are planted.
type storedPage struct {
	URL, HTML   string
	Title, Text string
	OnTopic     bool
}

// planted is the stored web with its databases. It is safe for concurrent use.
type planted struct {
	seed      uint64
	pages     map[string]*storedPage
	moved     map[string]bool     // pages now reachable only through the archive
	footers   map[string][]string // database links at the foot of a host's pages, by host
	links     map[string][]string // database links on pages on topic, by URL
	databases map[string]database // by host and first folder
	prose     prose
	starts    []string
	onTopic   int
}

// answer is the page at a URL.
type answer struct {
	HTML    string
	OnTopic bool   // truly on topic, and no other record has the same text
	Name    string // identity of the content, whatever URL served it
	Kind    string // kind of database; "" for a page of the stored web
}

// records is the number of records of a database.
const records = 1_000_000

const (
	movedShare = 4 // the archive holds one page on topic in so many
	goodHosts  = 6 // number of hosts, those with most pages on topic, that get databases
)

// plantedIn plants databases. pages must include some on topic and some off topic.
func plantedIn(pages []storedPage, seed uint64) *planted {
	w := &planted{
		seed: seed, pages: map[string]*storedPage{}, moved: map[string]bool{}, footers: map[string][]string{},
		links: map[string][]string{}, databases: map[string]database{}, prose: newProse(pages),
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	var good []*storedPage
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

func hostsOf(pages []*storedPage) []string {
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

func (w *planted) plant(hosts []string, archive []*storedPage) {
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

// at returns the page at a URL, or false if there is none.
func (w *planted) at(address string) (answer, bool) {
	if p := w.pages[address]; p != nil {
		if w.moved[address] {
			return answer{}, false
		}
		return answer{HTML: w.withLinks(p), OnTopic: p.OnTopic, Name: address}, true
	}
	u, err := url.Parse(address)
	if err != nil {
		return answer{}, false
	}
	folder, rest, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	d := w.databases[u.Host+"/"+folder]
	if d == nil {
		return answer{}, false
	}
	r := visit{web: w, base: "http://" + u.Host + "/" + folder, rng: w.draw(address)}
	if rest == "list" {
		var n int
		if _, err := fmt.Sscan(u.Query().Get("page"), &n); err != nil || n < 0 || n >= records/aList {
			return answer{}, false
		}
		return answer{HTML: r.list(d, n), Name: fmt.Sprint(r.base, " list ", n), Kind: d.kind() + " list"}, true
	}
	var n int
	if _, err := fmt.Sscanf(rest, "item/%d", &n); err != nil || n < 0 || n >= records {
		return answer{}, false
	}
	// A record is the same under every session and sort order.
	record := fmt.Sprint(r.base, " ", n)
	r.rng = w.draw(record)
	title, text, onTopic := d.item(&r, n)
	return answer{HTML: r.page(title, text, r.besides(d, n)), OnTopic: onTopic, Name: record, Kind: d.kind()}, true
}

// draw returns a generator seeded by a name.
func (w *planted) draw(name string) *rand.Rand {
	h := uint64(14695981039346656037)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	return rand.New(rand.NewPCG(w.seed, h))
}

func (w *planted) withLinks(p *storedPage) string {
	rng := w.draw(p.URL)
	all := w.links[p.URL]
	for _, f := range w.footers[hostIn(p.URL)] {
		all = append(slices.Clone(all), fmt.Sprintf(f, 0), fmt.Sprintf(f, rng.IntN(records/aList)))
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
	web  *planted
	base string // URL of the database
	rng  *rand.Rand
}

// list renders a list page: its records, neighbouring pages, and itself in other sort orders.
func (r *visit) list(d database, n int) string {
	var b strings.Builder
	for i := n * aList; i < (n+1)*aList; i++ {
		fmt.Fprintf(&b, "<li><a href=\"%s/item/%d\">%s</a></li>\n", r.base, i, html.EscapeString(d.entry(r, i)))
	}
	for _, to := range []int{n - 1, n + 1, n + 2, n + 10, r.rng.IntN(records / aList)} {
		if to >= 0 && to < records/aList {
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
		i := r.rng.IntN(records)
		if r.rng.IntN(2) == 0 {
			i = min(records-1, n+1+r.rng.IntN(aList))
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
type archive struct{ pages []*storedPage }

func newArchive(pages []*storedPage) archive { return archive{pages} }

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
	text = fmt.Sprintf("%s, number %d of %d. %s %s has %d entries, the last by %s.", name, n, records, text, name, r.rng.IntN(900), some(r.rng, r.web.prose.topic, 2))
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

func newProse(pages []storedPage) prose {
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
