package network

import (
	"context"
	"encoding/csv"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"fossick/export"
	"fossick/export/collection"
)

// Sites writes two tables, hosts.csv and sites.csv: for each host and each site its pages,
// and the links between them that stay in it, leave it and come from others. Memory grows
// with hosts, and by 4 bytes a node.
type Sites struct {
	hosts, sites io.WriteCloser
	edges        *scratch
	known        map[string]uint32 // place of a host in all
	all          []host
	hostOf       []uint32 // by node
}

// host is a host with what is counted of it.
type host struct {
	name, site string
	counts
}

// counts are what hosts and sites have alike.
type counts struct {
	hosts, pages, relevant, kept int
	refined                      bool // of a page at least it is known whether it is kept
	bytes                        int64
	score                        float64 // of all pages together
	first, last                  time.Time
	within, out, in              int64 // links
}

// NewSites begins the tables in a folder of the export, which ends in a slash or is "".
func NewSites(at export.Place, folder string) (*Sites, error) {
	hosts, err := at.Create(folder + "hosts.csv")
	if err != nil {
		return nil, err
	}
	sites, err := at.Create(folder + "sites.csv")
	if err != nil {
		return nil, errors.Join(err, hosts.Close())
	}
	edges, err := newScratch()
	if err != nil {
		return nil, errors.Join(err, hosts.Close(), sites.Close())
	}
	return &Sites{hosts: hosts, sites: sites, edges: edges, known: map[string]uint32{}}, nil
}

// Write implements export.Sink.
func (s *Sites) Write(_ context.Context, p *collection.Page) error {
	at, ok := s.known[p.Host]
	if !ok {
		at = uint32(len(s.all))
		s.known[p.Host] = at
		s.all = append(s.all, host{name: p.Host, site: p.Site, counts: counts{hosts: 1}})
	}
	if !p.Again {
		s.hostOf = append(s.hostOf, at)
	}
	one := counts{pages: 1, bytes: p.Bytes, score: p.Score, first: p.Fetched, last: p.Fetched, refined: p.Kept != nil}
	if p.Relevant {
		one.relevant = 1
	}
	if p.Kept != nil && *p.Kept {
		one.kept = 1
	}
	s.all[at].add(&one)
	return s.edges.add(p)
}

// add adds what was counted of other pages.
func (c *counts) add(o *counts) {
	if c.pages == 0 || o.first.Before(c.first) {
		c.first = o.first
	}
	if o.last.After(c.last) {
		c.last = o.last
	}
	c.hosts += o.hosts
	c.pages += o.pages
	c.relevant += o.relevant
	c.kept += o.kept
	c.refined = c.refined || o.refined
	c.bytes += o.bytes
	c.score += o.score
}

// link counts a link.
func link(from, to *counts) {
	if from == to {
		from.within++
		return
	}
	from.out++
	to.in++
}

// Finish implements export.Sink.
func (s *Sites) Finish(ctx context.Context) error {
	sites := map[string]*counts{}
	for i := range s.all {
		h := &s.all[i]
		if sites[h.site] == nil {
			sites[h.site] = &counts{}
		}
		sites[h.site].add(&h.counts)
	}
	err := s.edges.each(ctx, func(source, target uint32) error {
		from, to := &s.all[s.hostOf[source]], &s.all[s.hostOf[target]]
		link(&from.counts, &to.counts)
		link(sites[from.site], sites[to.site])
		return nil
	})
	if err != nil {
		return err
	}
	w := csv.NewWriter(s.hosts)
	_ = w.Write(append([]string{"host", "site"}, countNames...))
	for _, name := range slices.Sorted(maps.Keys(s.known)) {
		h := &s.all[s.known[name]]
		_ = w.Write(append([]string{valid(h.name), valid(h.site)}, h.row()...))
	}
	w.Flush()
	if err := w.Error(); err != nil { // of any of the writes
		return err
	}
	w = csv.NewWriter(s.sites)
	_ = w.Write(append([]string{"site", "hosts"}, countNames...))
	for _, name := range slices.Sorted(maps.Keys(sites)) {
		c := sites[name]
		_ = w.Write(append([]string{valid(name), strconv.Itoa(c.hosts)}, c.row()...))
	}
	w.Flush()
	return w.Error()
}

var countNames = []string{"pages", "relevant", "kept", "mean_score", "bytes", "first", "last", "links_within", "links_out", "links_in"}

// row are the values of countNames.
func (c *counts) row() []string {
	kept := "" // not known
	if c.refined {
		kept = strconv.Itoa(c.kept)
	}
	return []string{
		strconv.Itoa(c.pages), strconv.Itoa(c.relevant), kept,
		strconv.FormatFloat(c.score/float64(c.pages), 'g', 6, 64), strconv.FormatInt(c.bytes, 10),
		c.first.Format(time.RFC3339), c.last.Format(time.RFC3339),
		strconv.FormatInt(c.within, 10), strconv.FormatInt(c.out, 10), strconv.FormatInt(c.in, 10),
	}
}

// Close implements export.Sink.
func (s *Sites) Close() error { return errors.Join(s.hosts.Close(), s.sites.Close(), s.edges.close()) }
