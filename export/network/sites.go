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

	"fossick/collection"
	"fossick/export"
)

// Sites writes a table of hosts: for each its site, its pages, and links to and from
// others. Memory grows with hosts, and by 4 bytes a node.
type Sites struct {
	to     io.WriteCloser
	edges  *scratch
	hosts  map[string]*host
	hostOf []*host // by node
}

// host is a row.
type host struct {
	name, site            string
	pages, relevant, kept int
	bytes                 int64
	score                 float64 // of all pages together
	first, last           time.Time
	within, out, in       int // links
}

// NewSites begins a table of that name.
func NewSites(at export.Place, name string) (*Sites, error) {
	edges, err := newScratch()
	if err != nil {
		return nil, err
	}
	to, err := at.Create(name)
	if err != nil {
		return nil, errors.Join(err, edges.close())
	}
	return &Sites{to: to, edges: edges, hosts: map[string]*host{}}, nil
}

// Write implements export.Sink.
func (s *Sites) Write(_ context.Context, p *collection.Page) error {
	h := s.hosts[p.Host]
	if h == nil {
		h = &host{name: p.Host, site: p.Site, first: p.Fetched, last: p.Fetched}
		s.hosts[p.Host] = h
	}
	if !p.Again {
		s.hostOf = append(s.hostOf, h)
	}
	h.pages++
	h.bytes += p.Bytes
	h.score += p.Score
	if p.Relevant {
		h.relevant++
	}
	if p.Kept != nil && *p.Kept {
		h.kept++
	}
	if p.Fetched.Before(h.first) {
		h.first = p.Fetched
	}
	if p.Fetched.After(h.last) {
		h.last = p.Fetched
	}
	return s.edges.add(p)
}

// Finish implements export.Sink.
func (s *Sites) Finish(ctx context.Context) error {
	err := s.edges.each(ctx, func(from, to uint32) error {
		if a, b := s.hostOf[from], s.hostOf[to]; a == b {
			a.within++
		} else {
			a.out++
			b.in++
		}
		return nil
	})
	if err != nil {
		return err
	}
	w := csv.NewWriter(s.to)
	_ = w.Write([]string{"host", "site", "pages", "relevant", "kept", "mean_score", "bytes", "first", "last", "links_within", "links_out", "links_in"})
	for _, name := range slices.Sorted(maps.Keys(s.hosts)) {
		h := s.hosts[name]
		_ = w.Write([]string{
			valid(h.name), valid(h.site), strconv.Itoa(h.pages), strconv.Itoa(h.relevant), strconv.Itoa(h.kept),
			strconv.FormatFloat(h.score/float64(h.pages), 'g', 6, 64), strconv.FormatInt(h.bytes, 10),
			h.first.Format(time.RFC3339), h.last.Format(time.RFC3339), strconv.Itoa(h.within), strconv.Itoa(h.out), strconv.Itoa(h.in),
		})
	}
	w.Flush()
	return w.Error() // of any of the writes
}

// Close implements export.Sink.
func (s *Sites) Close() error { return errors.Join(s.to.Close(), s.edges.close()) }
