package ui

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"fossick/export/search"
	"fossick/internal/cli"
	"fossick/store"
)

// filter selects rows; the zero value selects all pages.
type filter struct {
	text string // the query without offset and limit

	q           string
	want        [facetCount][]string // values of which one must hold; none: any
	from, to    int64                // Unix seconds
	least, most float64
	sort        string
	falling     bool
	like        uint32 // number of the page whose copies are wanted; 0: any

	hits  map[uint32]int // number of a page that q finds → its place; nil without q
	found int            // how many q finds
}

const sortedByHit = "hit"

// filterOf reads a filter from a query.
func filterOf(values url.Values) (f filter, err error) {
	get := func(name string) string { return values.Get(name) }
	f = filter{
		q: get("q"), to: math.MaxInt64, least: math.Inf(-1), most: math.Inf(1), sort: get("sort"), falling: get("order") != "asc",
	}
	for i, name := range facetNames {
		f.want[i] = slices.DeleteFunc(slices.Clone(values[name]), func(v string) bool { return v == "" })
	}
	if f.sort == "" {
		if f.sort = "time"; f.q != "" {
			f.sort, f.falling = sortedByHit, false
		}
	} else if !slices.Contains([]string{"time", "score", "title", "host", "url"}, f.sort) {
		return f, cli.Usagef("sort=%.50q: want time, score, title, host or url", f.sort)
	} else if get("order") == "" {
		f.falling = f.sort == "time" || f.sort == "score"
	}
	for facet, names := range map[int][]string{facetLabel: labelNames, facetTopic: topicNames} {
		for _, value := range f.want[facet] {
			if !slices.Contains(names, value) {
				return f, cli.Usagef("%s=%.50q: want %s", facetNames[facet], value, strings.Join(names, " or "))
			}
		}
	}
	if text := get("like"); text != "" {
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return f, cli.Usagef("like=%.50q: want the number of a page; /groups has it", text)
		}
		f.like = uint32(n)
	}
	for name, into := range map[string]*float64{"min": &f.least, "max": &f.most} {
		if text := get(name); text != "" {
			if *into, err = strconv.ParseFloat(text, 64); err != nil {
				return f, cli.Usagef("%s=%.50q: want a score from 0 to 1", name, text)
			}
		}
	}
	for name, into := range map[string]*int64{"from": &f.from, "to": &f.to} {
		if text := get(name); text != "" {
			at, err := time.Parse(time.RFC3339, text)
			if err != nil {
				if at, err = time.Parse(time.DateOnly, text); err != nil {
					return f, cli.Usagef("%s=%.50q: want a day or a time, as 2026-11-28 or 2026-11-28T12:00:00Z", name, text)
				}
				if name == "to" {
					at = at.Add(24*time.Hour - time.Second)
				}
			}
			*into = at.Unix()
		}
	}
	rest := url.Values{}
	for name, v := range values {
		if name != "offset" && name != "limit" && name != "format" {
			rest[name] = v
		}
	}
	f.text = rest.Encode()
	return f, nil
}

// The facets of the list.
const (
	facetTopic = iota
	facetLabel
	facetState
	facetHost
	facetLang
	facetType
	facetCount
)

// facetNames are the parameters of the facets.
var facetNames = [facetCount]string{"on_topic", "label", "state", "host", "lang", "type"}

// numbered is a filter in the numbers of an index.
type numbered struct {
	*filter
	want [facetCount][]int64 // numbers of the wanted values; none: any; -1 is of a value that no row has
}

// numbered translates the names; mu is held.
func (x *index) numbered(f *filter) numbered {
	n := numbered{filter: f}
	in := [facetCount]*names{facetState: &x.states, facetHost: &x.hosts, facetLang: &x.langs, facetType: &x.kinds}
	for i, values := range f.want {
		for _, value := range values {
			switch i {
			case facetLabel:
				n.want[i] = append(n.want[i], int64(slices.Index(labelNames, value)))
			case facetTopic:
				n.want[i] = append(n.want[i], int64(slices.Index(topicNames, value)))
			case facetHost: // also a name without its port
				n.want[i] = append(n.want[i], in[i].find(value), in[i].find(value+":443"), in[i].find(value+":80"))
			default:
				n.want[i] = append(n.want[i], in[i].find(value))
			}
		}
	}
	return n
}

// find returns the number of a text; -1 if it has none.
func (n *names) find(text string) int64 {
	if i, ok := n.number[text]; ok {
		return int64(i)
	}
	return -1
}

// The values of facets that are no names of the index, by number.
var (
	labelNames = []string{"none", "yes", "no"}
	topicNames = []string{"no", "yes"}
)

func (r *row) value(facet int) int64 {
	switch facet {
	case facetTopic:
		return int64(r.flags & onTopic)
	case facetLabel:
		switch {
		case r.flags&labelledYes != 0:
			return 1
		case r.flags&labelledNo != 0:
			return 2
		}
		return 0
	case facetState:
		return int64(r.state)
	case facetHost:
		return int64(r.host)
	case facetLang:
		return int64(r.lang)
	}
	return int64(r.kind)
}

// misses returns how many facets refuse a row, and the last of them; 2 for a row that something else
// refuses. Without a state, only pages and wanted copies count.
func (n *numbered) misses(r *row) (count, facet int) {
	if at := int64(r.at); at < n.from || at > n.to || float64(r.score) < n.least || float64(r.score) > n.most {
		return 2, 0
	}
	if n.like != 0 && n.like != r.number && n.like != r.like {
		return 2, 0
	}
	if n.hits != nil {
		if _, hit := n.hits[r.number]; !hit || r.number == 0 {
			return 2, 0
		}
	}
	if len(n.want[facetState]) == 0 && n.like == 0 && r.number == 0 {
		count, facet = 1, facetState
	}
	for i, want := range n.want {
		if len(want) > 0 && !slices.Contains(want, r.value(i)) {
			count, facet = count+1, i
		}
	}
	return count, facet
}

type facetValue struct {
	Value string `json:"value"`
	Count int    `json:"count"`
}

type facets struct {
	Topic []facetValue `json:"on_topic"`
	Label []facetValue `json:"label"`
	State []facetValue `json:"state"`
	Host  []facetValue `json:"host"`
	Lang  []facetValue `json:"lang"`
	Type  []facetValue `json:"type"`
}

// selection is what a filter has selected.
type selection struct {
	text    string
	version uint64
	rows    []row // in the order of the filter
	facets  facets
	found   int // pages that q finds, also beyond mostHits; 0 without q
}

// ordersTried bounds the orders made for one question.
const ordersTried = 5

// chosen returns the rows that a filter selects, in its order.
func (x *index) chosen(s *store.Store, f *filter) (*selection, error) {
	x.mu.RLock()
	last, version := x.last, x.version
	x.mu.RUnlock()
	if last != nil && last.version == version && last.text == f.text {
		return last, nil
	}
	by, err := x.order(s, f)
	if err != nil {
		return nil, err
	}
	x.mu.RLock()
	for range ordersTried { // a pass may have replaced the rows meanwhile
		if by.passes == x.passes {
			break
		}
		x.mu.RUnlock()
		if by, err = x.order(s, f); err != nil {
			return nil, err
		}
		x.mu.RLock()
	}
	if by.passes != x.passes {
		x.mu.RUnlock()
		return nil, fmt.Errorf("%w: it changes too fast for this order; ask again", errIncomplete)
	}
	n := x.numbered(f)
	sel := &selection{text: f.text, version: x.version, found: f.found}
	var counts [facetCount]map[int64]int
	for i := range counts {
		counts[i] = map[int64]int{}
	}
	total := len(by.places) + len(x.pages) - by.pages
	for k := range total {
		if f.falling {
			k = total - 1 - k
		}
		r := by.row(x, k)
		switch missed, facet := n.misses(r); {
		case missed == 0:
			sel.rows = append(sel.rows, *r)
			for i := range counts {
				counts[i][r.value(i)]++
			}
		case missed == 1:
			counts[facet][r.value(facet)]++
		}
	}
	sel.facets = x.facets(counts)
	x.mu.RUnlock()
	if f.sort == sortedByHit {
		slices.SortStableFunc(sel.rows, func(a, b row) int { return cmp.Compare(f.hits[a.number], f.hits[b.number]) })
	}
	x.mu.Lock()
	x.last = sel
	x.mu.Unlock()
	return sel, nil
}

// hostsShown is the most values of the facet of hosts.
const hostsShown = 50

// facets names the counts; mu is held.
func (x *index) facets(counts [facetCount]map[int64]int) facets {
	name := func(facet int, list []string, most int) []facetValue {
		all := []facetValue{}
		for value, n := range counts[facet] {
			if list[value] != "" {
				all = append(all, facetValue{list[value], n})
			}
		}
		slices.SortFunc(all, func(a, b facetValue) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value)) })
		return all[:min(most, len(all))]
	}
	return facets{
		Topic: name(facetTopic, topicNames, math.MaxInt),
		Label: name(facetLabel, labelNames, math.MaxInt), State: name(facetState, x.states.list, math.MaxInt), Host: name(facetHost, x.hosts.list, hostsShown),
		Lang: name(facetLang, x.langs.list, math.MaxInt), Type: name(facetType, x.kinds.list, math.MaxInt),
	}
}

// order is the places of all rows in one order. Pages that came later follow.
type order struct {
	version, passes uint64
	made            time.Time
	took            time.Duration

	places []uint32 // of pages, and from the number of pages on of others
	pages  int      // how many there were
}

// row returns the k-th row; mu is held.
func (o *order) row(x *index, k int) *row {
	if k >= len(o.places) {
		return &x.pages[o.pages+k-len(o.places)]
	}
	if at := int(o.places[k]); at >= o.pages {
		return &x.others[at-o.pages]
	}
	return &x.pages[o.places[k]]
}

// order returns the rows in the order of a filter. That of a running crawl may be a little old.
func (x *index) order(s *store.Store, f *filter) (*order, error) {
	x.orderMu.Lock()
	defer x.orderMu.Unlock()
	x.mu.RLock()
	o := x.orders[f.sort]
	if o != nil && o.passes == x.passes && (o.version == x.version || time.Since(o.made) < passShare*o.took) {
		x.mu.RUnlock()
		return o, nil
	}
	rows := slices.Concat(x.pages, x.others)
	hosts := x.hosts.list[:len(x.hosts.list):len(x.hosts.list)]
	o = &order{version: x.version, passes: x.passes, made: time.Now(), places: make([]uint32, len(rows)), pages: len(x.pages)}
	x.mu.RUnlock()
	for i := range o.places {
		o.places[i] = uint32(i)
	}
	compare, err := comparing(s, f.sort, rows, hosts)
	if err != nil {
		return nil, err
	}
	if compare != nil {
		slices.SortFunc(o.places, func(a, b uint32) int { return cmp.Or(compare(a, b), cmp.Compare(rows[a].id, rows[b].id)) })
	}
	o.took = time.Since(o.made)
	if x.orders == nil {
		x.orders = map[string]*order{}
	}
	x.orders[f.sort] = o
	return o, nil
}

// comparing returns how two rows compare; nil for the order of the list.
func comparing(s *store.Store, by string, rows []row, hosts []string) (func(a, b uint32) int, error) {
	switch by {
	case sortedByHit:
		return nil, nil
	case "time":
		return func(a, b uint32) int {
			return cmp.Or(cmp.Compare(rows[a].at, rows[b].at), cmp.Compare(rows[a].number, rows[b].number))
		}, nil
	case "score":
		return func(a, b uint32) int { return cmp.Compare(rows[a].score, rows[b].score) }, nil
	case "host":
		return func(a, b uint32) int { return strings.Compare(hosts[rows[a].host], hosts[rows[b].host]) }, nil
	}
	keys, err := keysOf(s, by, rows)
	return func(a, b uint32) int { return strings.Compare(keys[a], keys[b]) }, err
}

// keyBytes is how much of a title or an address orders the list.
const keyBytes = 48

// keysOf reads the titles or addresses of rows from the store. Only the order stays in memory.
func keysOf(s *store.Store, by string, rows []row) ([]string, error) {
	keys := make([]string, len(rows))
	key := func(text string) string {
		return strings.Clone(strings.ToLower(text[:min(len(text), keyBytes)]))
	}
	at := 0
	for p, err := range s.Pages() {
		if err != nil {
			return nil, err
		}
		for at < len(rows) && rows[at].number != 0 && uint64(rows[at].number) < p.Number {
			at++
		}
		if at == len(rows) || uint64(rows[at].number) != p.Number {
			continue
		}
		if keys[at] = key(p.Title); by == "url" {
			keys[at] = key(bare(p.URL))
		}
	}
	if by != "url" {
		return keys, nil
	}
	return keys, s.URLs().Walk(func(name func(id store.ID) (string, error)) error {
		for i := range rows {
			if rows[i].number == 0 {
				if url, err := name(store.ID(rows[i].id)); err == nil {
					keys[i] = key(bare(url))
				}
			}
		}
		return nil
	})
}

// bare returns an address without its scheme.
func bare(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	return rest
}

// searches keeps the hits of the last query.
type searches struct {
	mu      sync.Mutex // held while one goes on
	q       string
	at      time.Time
	changed int
	hits    map[uint32]int
	found   int // also beyond hits
}

// Bounds of a search.
const (
	mostHits    = 10000
	searchHolds = 10 * time.Second // at a running crawl
)

// find returns the places of the pages that a query finds, the best first and at most mostHits, and how
// many it finds.
func (f *Interface) find(ctx context.Context, s *store.Store, q string) (map[uint32]int, int, error) {
	query, err := search.Parse(q)
	if err != nil {
		return nil, 0, cli.Usage(err)
	}
	k := &f.search
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.q == q && k.changed == f.changed() && (f.crawl == nil || time.Since(k.at) < searchHolds) {
		return k.hits, k.found, nil
	}
	index, _, err := search.Fresh(ctx, s, search.Options{Text: f.text})
	if err != nil {
		return nil, 0, err
	}
	defer index.Close()
	best, found, err := index.Find(ctx, query, search.Filter{}, mostHits)
	if err != nil {
		return nil, 0, err
	}
	k.q, k.at, k.changed, k.hits, k.found = q, time.Now(), f.changed(), map[uint32]int{}, found
	for i, h := range best {
		k.hits[uint32(h.Number)] = i
	}
	return k.hits, found, nil
}

// Row is a URL in the list.
type Row struct {
	URL     string    `json:"url"`
	Title   string    `json:"title"`
	Host    string    `json:"host"`
	State   string    `json:"state"`
	Code    *int      `json:"code"` // of the last answer; null without one
	Score   float64   `json:"score"`
	Topic   string    `json:"topic"` // label by a model; "" for none
	OnTopic bool      `json:"on_topic"`
	Label   *string   `json:"label"` // by a person
	Lang    string    `json:"lang"`
	Type    string    `json:"type"`
	Time    time.Time `json:"time"`
	Bytes   int64     `json:"bytes"`
	Reason  string    `json:"reason,omitempty"`  // why it ended so, where the state does not tell
	Snippet []string  `json:"snippet,omitempty"` // the odd elements are hits
}

// titleShown is the most characters of a title in an answer.
const titleShown = 300

// shown reads what a row shows beside its columns.
func (f *Interface) shown(s *store.Store, r row, marker *search.Marker) (v Row, err error) {
	if r.number != 0 {
		p, err := s.Page(uint64(r.number))
		if err != nil {
			return v, err
		}
		v = f.shownPage(r, p)
		if marker != nil {
			body, err := s.Body(p.Number)
			if err != nil {
				return v, nil // the list is there to find damage too
			}
			text, _ := f.text(body, p)
			v.Snippet = marker.Snippet(text, p.Lang)
		}
		return v, nil
	}
	v = f.columns(r)
	discovery, err := s.URLs().Discovery(store.ID(r.id))
	if err != nil {
		return v, err
	}
	v.URL = discovery.URL
	life, err := s.URLs().Life(v.URL)
	if err != nil {
		return v, err
	}
	if life.Outcome != nil {
		v.Reason = cli.Cut(life.Outcome.Reason, titleShown)
	}
	if n := len(life.Visits); n > 0 && life.Visits[n-1].Code != 0 {
		v.Code = &life.Visits[n-1].Code
	}
	return v, nil
}

// shownPage is shown of a page that has been read.
func (f *Interface) shownPage(r row, p *store.Page) Row {
	v, ok := f.columns(r), http.StatusOK
	v.URL, v.Title, v.Code = p.URL, cli.Cut(p.Title, titleShown), &ok
	return v
}

// columns returns what the list itself knows of a row.
func (f *Interface) columns(r row) Row {
	x := &f.index
	x.mu.RLock()
	defer x.mu.RUnlock()
	v := Row{
		State: x.states.list[r.state], Score: float64(r.score), Topic: x.topics.list[r.topic], OnTopic: r.flags&onTopic != 0,
		Lang: x.langs.list[r.lang], Type: x.kinds.list[r.kind], Time: time.Unix(int64(r.at), 0).UTC(), Bytes: int64(r.bytes), Host: x.hosts.list[r.host],
	}
	if label := r.value(facetLabel); label != 0 {
		v.Label = &labelNames[label]
	}
	return v
}

type pagesAnswer struct {
	Total    int     `json:"total"`
	Found    int     `json:"found,omitempty"` // pages that q finds without the other filters; the list has the best 10,000
	Complete bool    `json:"complete"`        // false while the list is being read from the store
	Rows     []Row   `json:"rows"`
	Facets   *facets `json:"facets,omitempty"` // with offset 0
}

// pages answers GET /pages.
func (f *Interface) pages(r *http.Request) (any, error) {
	offset, err := numberOf(r, "offset", 0, 0, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	limit, err := numberOf(r, "limit", 100, 1, 1000)
	if err != nil {
		return nil, err
	}
	sel, done, s, complete, err := f.selected(r.Context(), r.URL.Query())
	if err != nil {
		return nil, err
	}
	defer done()
	v := pagesAnswer{Total: len(sel.rows), Found: sel.found, Complete: complete, Rows: []Row{}}
	if offset == 0 {
		v.Facets = &sel.facets
	}
	var marker *search.Marker
	if q := r.URL.Query().Get("q"); q != "" {
		if query, err := search.Parse(q); err == nil {
			marker = search.NewMarker(query)
		}
	}
	for _, one := range sel.rows[min(offset, len(sel.rows)):min(offset+limit, len(sel.rows))] {
		shown, err := f.shown(s, one, marker)
		if err != nil {
			return nil, err
		}
		v.Rows = append(v.Rows, shown)
	}
	return v, nil
}

// selected returns the rows that a query's filter selects, with the open store.
func (f *Interface) selected(ctx context.Context, values url.Values) (sel *selection, done func() error, s *store.Store, complete bool, err error) {
	filter, err := filterOf(values)
	if err != nil {
		return nil, nil, nil, false, err
	}
	if complete, err = f.indexed(ctx); err != nil {
		return nil, nil, nil, false, err
	}
	if s, done, err = f.Open(ctx); err != nil {
		return nil, nil, nil, false, err
	}
	if filter.q != "" {
		filter.hits, filter.found, err = f.find(ctx, s, filter.q)
	}
	if err == nil {
		sel, err = f.index.chosen(s, &filter)
	}
	if err != nil {
		_ = done()
		return nil, nil, nil, false, err
	}
	return sel, done, s, complete, nil
}

func sortCounts(all []stateCount) {
	slices.SortFunc(all, func(a, b stateCount) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.State, b.State)) })
}
