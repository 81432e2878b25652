package collection

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"fossick/internal/page"
	"fossick/internal/rights"
	"fossick/store"
)

// read makes a Page of a record. It is called by many goroutines.
func (s *Selection) read(one picked) (*Page, error) {
	from, r := s.c.sources[one.at], one.page
	p := &Page{
		ID: one.id, Node: one.node, Source: from, Number: r.Number,
		URL: r.URL, Host: page.Host(r.URL), Site: page.Site(r.URL), Title: r.Title,
		Language: r.Lang, ContentType: r.ContentType, Fetched: time.UnixMilli(r.At).UTC(),
		Bytes: r.Bytes, Checksum: hex.EncodeToString(r.Checksum),
		Rights: said(r), Licence: rights.Licence(said(r)), Relevant: r.Relevant, Score: r.Score, Depth: r.Depth,
	}
	for _, part := range []func(*Page, *picked) error{s.readLabel, s.readStory, s.readText, s.readExchanges} {
		if err := part(p, &one); err != nil {
			return nil, fmt.Errorf("%s: page %d, %s: %w", from.Store.Dir(), r.Number, r.URL, err)
		}
	}
	p.Again = len(one.earlier) > 0
	if s.want.Refs {
		s.readRefs(p, &one)
	}
	if s.want.Links {
		return p, s.readLinks(p, &one)
	}
	return p, nil
}

// readLinks finds the nodes that a page links to, without those of its node's earlier
// records.
func (s *Selection) readLinks(p *Page, one *picked) error {
	had := map[uint32]bool{one.node: true}
	for _, r := range one.earlier {
		before, err := s.c.sources[r.at].Store.Page(r.number)
		if err != nil {
			return err
		}
		s.linked[r.at].of(before, had)
	}
	p.Links = s.linked[one.at].of(one.page, had)
	return nil
}

// readLabel tells what the page is held to be, and why.
func (s *Selection) readLabel(p *Page, one *picked) (err error) {
	if one.label == nil {
		if one.label, err = p.Source.Store.Label(p.Number); err != nil {
			return err
		}
	}
	r := one.page
	p.Label = one.named()
	switch {
	case one.label != nil:
		p.Kept, p.Probability, p.Why = &one.label.Kept, &one.label.Score, one.label.Rule
	case r.Label != "":
		if r.Label == one.topic {
			p.Probability = &r.Probability
		}
		p.Why = r.Rule
	default:
		p.Why = told(r.Terms)
	}
	return nil
}

// told is a score's terms in a line.
func told(terms []store.Term) string {
	parts := make([]string, 0, len(terms))
	for _, t := range terms {
		parts = append(parts, fmt.Sprintf("%s %.4g", t.Name, t.Value))
	}
	return strings.Join(parts, ", ")
}

// readStory tells how the page was found, and its rank.
func (s *Selection) readStory(p *Page, one *picked) error {
	urls := p.Source.Store.URLs()
	b, err := urls.Birth(one.page.ID)
	if err != nil && !s.passes(err) {
		return err
	}
	p.Via = string(b.Via)
	switch {
	case b.Exchange != 0:
		x, err := p.Source.Store.Exchange(b.AtHost, b.Exchange)
		if err != nil && !errors.Is(err, store.ErrUnknown) && !s.passes(err) { // repair may have taken it out
			return err
		}
		p.FoundBy = x.URL
	case b.From != 0:
		finder, err := urls.Birth(b.From)
		if err != nil && !errors.Is(err, store.ErrUnknown) && !s.passes(err) {
			return err
		}
		p.FoundBy = finder.URL
	}
	rank, _, err := p.Source.Store.Ranks().Of(p.Number)
	if rank != nil {
		p.Rank = &rank.Score
	}
	return err
}

// passes says whether an export goes on without what cannot be read.
func (s *Selection) passes(err error) bool {
	return s.c.opt.Partial && (errors.Is(err, store.ErrDamaged) || errors.Is(err, store.ErrUnknown))
}

// readText reads the body and what it says.
func (s *Selection) readText(p *Page, _ *picked) error {
	if !s.want.Body && !s.want.Text && !s.want.Markdown {
		return nil
	}
	body, err := p.Source.Store.Body(p.Number)
	if err != nil {
		if p.Damaged = s.passes(err); p.Damaged {
			return nil
		}
		return fmt.Errorf("%w; --partial exports the rest", err)
	}
	if s.want.Body {
		p.Body = body
	}
	if s.want.Text || s.want.Markdown {
		p.Text, p.Markdown = s.c.opt.Text(body, p, s.want)
	}
	return nil
}

// of returns the nodes that a page links to besides those that it had, and notes them there.
func (l *linked) of(p *store.Page, had map[uint32]bool) []uint32 {
	nodes := make([]uint32, 0, len(p.Links))
	for _, id := range l.same.Of(nil, p.Links) {
		if to, ok := l.node[id]; ok && !had[to] {
			had[to] = true
			nodes = append(nodes, to)
		}
	}
	return nodes
}
