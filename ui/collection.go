package ui

import (
	"cmp"
	"context"
	"math"
	"net/http"
	"slices"
	"sync"
	"time"

	"fossick/store"
)

// group is a stored page with the URLs that ended as its copies.
type group struct {
	Page   Row    `json:"page"`
	Number uint32 `json:"number"` // for like of /pages
	Copies int    `json:"copies"`
}

type groupsAnswer struct {
	Total    int     `json:"total"`
	Copies   int     `json:"copies"` // of all groups
	Complete bool    `json:"complete"`
	Groups   []group `json:"groups"` // the largest first
}

// groups answers GET /groups: the groups of like pages that the crawl has found (docs/duplicates.md).
func (f *Interface) groups(r *http.Request) (any, error) {
	offset, err := numberOf(r, "offset", 0, 0, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	limit, err := numberOf(r, "limit", 50, 1, 200)
	if err != nil {
		return nil, err
	}
	s, done, complete, err := f.openIndexed(r.Context())
	if err != nil {
		return nil, err
	}
	defer done()
	all, copies := f.index.groups()
	v := groupsAnswer{Total: len(all), Copies: copies, Complete: complete, Groups: []group{}}
	for _, g := range all[min(offset, len(all)):min(offset+limit, len(all))] {
		shown, err := f.shown(s, g.row, nil)
		if err != nil {
			return nil, err
		}
		v.Groups = append(v.Groups, group{shown, g.row.number, g.copies})
	}
	return v, nil
}

// openIndexed opens the store after its list; done must be called unless err is set.
func (f *Interface) openIndexed(ctx context.Context) (s *store.Store, done func() error, complete bool, err error) {
	if complete, err = f.indexed(ctx); err == nil {
		s, done, err = f.Open(ctx)
	}
	return s, done, complete, err
}

type groupRow struct {
	row    row
	copies int
}

func (x *index) groups() (all []groupRow, copies int) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	of := map[uint32]int{}
	for i := range x.others {
		if n := x.others[i].like; n != 0 {
			of[n]++
		}
	}
	for n, c := range of {
		if i, ok := find(x.pages, uint64(n)); ok { // a withdrawn page has copies too
			all, copies = append(all, groupRow{x.pages[i], c}), copies+c
		}
	}
	slices.SortFunc(all, func(a, b groupRow) int {
		return cmp.Or(cmp.Compare(b.copies, a.copies), cmp.Compare(a.row.number, b.row.number))
	})
	return all, copies
}

// linkNode is a host in the graph of links.
type linkNode struct {
	Host     string `json:"host"`
	Pages    int    `json:"pages"`
	Relevant int    `json:"relevant"`
	Out      int    `json:"out"` // links to stored pages of other hosts
	In       int    `json:"in"`
}

// linkEdge is the links from one host to another, by their places in the list of hosts.
type linkEdge struct {
	From  int `json:"from"`
	To    int `json:"to"`
	Links int `json:"links"`
}

type linksAnswer struct {
	Total    int        `json:"total"` // hosts with pages
	Complete bool       `json:"complete"`
	Hosts    []linkNode `json:"hosts"` // those with most pages on topic
	Links    []linkEdge `json:"links"` // among them, the most first
}

// linkTable is the links between hosts, read when they are asked for.
type linkTable struct {
	mu    sync.Mutex // guards the fields below, held while they are read
	made  time.Time
	took  time.Duration
	at    uint64 // the index's version
	nodes []linkNode
	edges map[[2]uint32]int
}

// linksOfHosts answers GET /links. Links within a host, and to URLs without a page, do not count.
func (f *Interface) linksOfHosts(r *http.Request) (any, error) {
	most, err := numberOf(r, "hosts", 40, 1, mostLinked)
	if err != nil {
		return nil, err
	}
	s, done, complete, err := f.openIndexed(r.Context())
	if err != nil {
		return nil, err
	}
	defer done()
	t := &f.links
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := f.readLinks(r.Context(), s); err != nil {
		return nil, err
	}
	v := linksAnswer{Complete: complete, Hosts: []linkNode{}, Links: []linkEdge{}}
	order := byRelevance(t.nodes)
	v.Total = len(order)
	place := map[uint32]int{}
	for i, host := range order[:min(most, len(order))] {
		place[host], v.Hosts = i, append(v.Hosts, t.nodes[host])
	}
	for ends, n := range t.edges {
		from, ok := place[ends[0]]
		to, also := place[ends[1]]
		if ok && also {
			v.Links = append(v.Links, linkEdge{from, to, n})
		}
	}
	slices.SortFunc(v.Links, func(a, b linkEdge) int {
		return cmp.Or(cmp.Compare(b.Links, a.Links), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	return v, nil
}

// mostLinked is the most hosts in a graph of links.
const mostLinked = 200

// byRelevance returns the places of hosts with pages, those with most pages on topic first.
func byRelevance(nodes []linkNode) (order []uint32) {
	for host := range nodes {
		if nodes[host].Pages > 0 {
			order = append(order, uint32(host))
		}
	}
	slices.SortFunc(order, func(a, b uint32) int {
		x, y := &nodes[a], &nodes[b]
		return cmp.Or(cmp.Compare(y.Relevant, x.Relevant), cmp.Compare(y.Pages, x.Pages), cmp.Compare(x.Host, y.Host))
	})
	return order
}

// readLinks counts the links of all pages, if it has not done so for these rows; mu is held.
func (f *Interface) readLinks(ctx context.Context, s *store.Store) error {
	t, x := &f.links, &f.index
	began := time.Now()
	x.mu.RLock()
	at, last := x.version, uint32(0)
	if !t.made.IsZero() && (t.at == at || time.Since(t.made) < max(hostsHold, passShare*t.took)) {
		x.mu.RUnlock()
		return nil
	}
	for i := range x.pages {
		last = max(last, x.pages[i].id)
	}
	hostOf := make([]uint32, last+1) // of a page's URL, plus 1
	nodes := make([]linkNode, len(x.hosts.list))
	for i, host := range x.hosts.list {
		nodes[i].Host = host
	}
	for i := range x.pages {
		r := &x.pages[i]
		hostOf[r.id] = r.host + 1
		if nodes[r.host].Pages++; r.flags&onTopic != 0 {
			nodes[r.host].Relevant++
		}
	}
	x.mu.RUnlock()
	edges := map[[2]uint32]int{} // among the hosts that may be shown, since there may be millions of others
	shown, order := make([]bool, len(nodes)), byRelevance(nodes)
	for _, host := range order[:min(mostLinked, len(order))] {
		shown[host] = true
	}
	for p, err := range s.Pages() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if uint64(p.ID) > uint64(last) || hostOf[p.ID] == 0 {
			continue
		}
		from := hostOf[p.ID] - 1
		for _, id := range p.Links {
			if uint64(id) > uint64(last) || hostOf[id] == 0 || hostOf[id]-1 == from {
				continue
			}
			to := hostOf[id] - 1
			if shown[from] && shown[to] {
				edges[[2]uint32{from, to}]++
			}
			nodes[from].Out++
			nodes[to].In++
		}
	}
	t.nodes, t.edges, t.at, t.made, t.took = nodes, edges, at, time.Now(), time.Since(began)
	return nil
}

// changes answers GET /changes.
func (f *Interface) changes(r *http.Request) (any, error) {
	s, done, err := f.Open(r.Context())
	if err != nil {
		return nil, err
	}
	defer done()
	return f.since(r.Context(), s, cmp.Or(r.URL.Query().Get("since"), "7d"), r.URL.Query().Get("url"))
}
