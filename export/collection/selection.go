package collection

import (
	"context"
	"iter"

	"fossick/export/sources"
	"fossick/internal/usage"
	"fossick/store"
)

// Want says what of a page is worked out besides its record.
type Want struct {
	Text     bool
	Markdown bool
	Body     bool
	Links    bool

	Exchanges bool
	Refs      bool
}

// With returns what either wants.
func (w Want) With(other Want) Want {
	return Want{w.Text || other.Text, w.Markdown || other.Markdown, w.Body || other.Body, w.Links || other.Links, w.Exchanges || other.Exchanges, w.Refs || other.Refs}
}

// Selection is the chosen pages of a collection. For one pass.
type Selection struct {
	c      *Collection
	choice Choice
	want   Want
	linked []linked // of each source, with Want.Links
	led    []led    // of each source, with Want.Exchanges
	left   Left
}

// Left says which pages were not handed on, or without their text.
type Left struct {
	Withdrawn int // their authors asked for that
	Refused   int // their owners refuse the purpose
	Repeated  int // they are in an earlier store, as fetched in the same moment
	Damaged   int // records or bodies that cannot be read
}

// linked leads from the links of a store's pages to nodes.
type linked struct {
	node map[store.ID]uint32 // of chosen pages
	same sources.Aliases
}

// Select chooses pages. With Want.Links it looks at all of them first.
func (c *Collection) Select(ctx context.Context, choice Choice, want Want) (*Selection, error) {
	s := &Selection{c: c, choice: choice, want: want}
	if err := c.refined(choice); err != nil {
		return nil, err
	}
	if want.Exchanges {
		for _, from := range c.sources {
			l, err := ledIn(ctx, from.Store)
			if err != nil && !s.passes(err) {
				return nil, err
			}
			s.led = append(s.led, l)
		}
	}
	if !want.Links && !want.Refs {
		return s, nil
	}
	for _, from := range c.sources {
		same, err := from.aliases(ctx)
		if err != nil {
			return nil, err
		}
		s.linked = append(s.linked, linked{node: map[store.ID]uint32{}, same: same})
	}
	if !want.Links {
		return s, nil
	}
	for p, err := range s.chosen(ctx, func() {}) {
		if err != nil {
			return nil, err
		}
		if err := s.link(p); err != nil {
			return nil, err
		}
	}
	s.left = Left{}
	return s, nil
}

// refined refuses to choose by what refine keeps where refine has not been.
func (c *Collection) refined(choice Choice) error {
	if !choice.Kept {
		return nil
	}
	for _, from := range c.sources {
		for _, err := range from.Store.Labels() {
			if err != nil {
				return err
			}
			return nil
		}
	}
	return usage.Errorf("--kept needs refined pages; run fossick refine first, or choose pages by --label")
}

// link enters a page with each store that knows its URL.
func (s *Selection) link(p picked) error {
	s.linked[p.at].node[p.page.ID] = p.node
	for i, from := range s.c.sources {
		if i == p.at {
			continue
		}
		seen, err := from.Store.Lookup([]store.Hash{store.HashURL(p.page.URL)})
		if err != nil {
			return err
		}
		if id := seen[0].ID; id != 0 {
			s.linked[i].node[id] = p.node
		}
	}
	return nil
}

// Left says what was left out, after the pass.
func (s *Selection) Left() Left { return s.left }

// picked is a chosen page on its way.
type picked struct {
	known
	at      int // its source
	node    uint32
	id      string
	earlier []ref // records of the same node
}

// ref is where a record is.
type ref struct {
	at     int // source
	number uint64
}

// chosen yields the chosen pages with their nodes, in order.
func (s *Selection) chosen(ctx context.Context, looked func()) iter.Seq2[picked, error] {
	return func(yield func(picked, error) bool) {
		n := numbering{several: len(s.c.sources) > 1}
		records := 0
		for i, from := range s.c.sources {
			for p, err := range s.records(from) {
				if err == nil {
					err = ctx.Err()
				}
				if err != nil {
					yield(picked{}, err)
					return
				}
				looked()
				k := known{page: p, topic: from.info.Topic}
				if k.label, err = s.labelOf(from, p); err != nil {
					yield(picked{}, err)
					return
				}
				if !s.choice.wants(&k) {
					continue
				}
				if s.choice.refused(p, from.purpose) {
					s.left.Refused++
					continue
				}
				if p.Number <= s.choice.After {
					continue
				}
				one := picked{known: k, at: i, id: idOf(p.URL, p.At)}
				if n.repeats(one.id) {
					s.left.Repeated++
					continue
				}
				one.node, one.earlier = n.node(p.URL, ref{i, p.Number})
				if !yield(one, nil) {
					return
				}
				if records++; records == s.choice.Limit {
					return
				}
			}
		}
	}
}

// labelOf asks what refine said, where the choice goes by that.
func (s *Selection) labelOf(from *Source, p *store.Page) (*store.Label, error) {
	if !s.choice.asksRefine() {
		return nil, nil
	}
	return from.Store.Label(p.Number)
}

// records yields the records of the pages that have not been withdrawn.
func (s *Selection) records(from *Source) iter.Seq2[*store.Page, error] {
	return func(yield func(*store.Page, error) bool) {
		last := uint64(0)
		var damage error
		for p, err := range from.Store.Pages() {
			if damage = err; err != nil {
				break
			}
			if last = p.Number; p.Withdrawn {
				s.left.Withdrawn++
			} else if !yield(p, nil) {
				return
			}
		}
		if damage == nil {
			return
		}
		if !s.c.opt.Partial {
			yield(nil, damage)
			return
		}
		for last++; last <= from.lastPage(); last++ { // one by one, as the walk ends at damage
			p, err := from.Store.Page(last)
			if err != nil {
				s.left.Damaged++
			} else if p.SameAs != "" {
				continue // as in the walk
			} else if p.Withdrawn {
				s.left.Withdrawn++
			} else if !yield(p, nil) {
				return
			}
		}
	}
}
