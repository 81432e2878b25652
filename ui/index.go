package ui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"fossick/crawler/control"
	"fossick/crawler/fetch"
	"fossick/internal/document"
	"fossick/internal/page"
	"fossick/store"
)

// row is a URL that has ended, in 40 bytes. Title and address stay in the store.
type row struct {
	id     uint32
	number uint32 // of its page; 0 without one
	host   uint32
	at     uint32 // Unix seconds
	bytes  uint32 // at most 4 GiB
	like   uint32 // number of the page that it is a copy of; 0 for none
	score  float32

	state, topic, lang, kind uint16 // of the names of the index

	flags uint8
}

// Flags of a row.
const (
	onTopic uint8 = 1 << iota
	labelledYes
	labelledNo
)

// names numbers texts that many rows share.
type names struct {
	number map[string]uint32
	list   []string
}

func (n *names) of(text string) uint32 {
	if i, ok := n.number[text]; ok {
		return i
	}
	if n.number == nil {
		n.number = map[string]uint32{}
	}
	text = strings.Clone(text)
	i := uint32(len(n.list))
	n.number[text], n.list = i, append(n.list, text)
	return i
}

// few is of for a column of two bytes.
func (n *names) few(text string) uint16 { return uint16(min(n.of(text), 1<<16-1)) }

// index is the list of a store's URLs in memory, made by one pass over the store. Questions see what
// it has so far. Zero value: empty.
type index struct {
	mu                                  sync.RWMutex // guards the fields below
	pages                               []row        // by number
	others                              []row        // without a page, by discovery
	hosts, states, topics, langs, kinds names

	version uint64 // changes with the rows
	passes  uint64 // changes with their places
	ended   bool   // a pass has come to its end
	last    *selection

	orderMu sync.Mutex // guards orders, held while one is made
	orders  map[string]*order

	passMu  sync.Mutex    // guards the fields below
	passing chan struct{} // closed at the end of the pass under way; nil without one
	tried   time.Time     // end of the last pass
	failed  error         // of the last pass
	ready   time.Time     // end of the last pass that did not fail
	took    time.Duration // of that pass
	changed int           // resting.changed at its begin
}

// Times of the list's passes.
const (
	firstRows = time.Second     // how long a question waits for the pass, before it shows the rows so far
	passEvery = 5 * time.Second // least time between two passes over the store of a running crawl
	passShare = 100             // a pass takes at most one part in so many of the time
	chunk     = 4096            // rows that are entered together
)

// indexed brings the list up to date, or begins to, and waits a moment for it. complete is false
// while the first pass goes on.
func (f *Interface) indexed(ctx context.Context) (complete bool, err error) {
	s, done, err := f.Open(ctx)
	if err != nil {
		return false, err
	}
	x := &f.index
	x.passMu.Lock()
	if x.passing == nil && f.ctx.Err() == nil && f.passDue() {
		end := make(chan struct{})
		x.passing = end
		f.work.Go(func() {
			defer done()
			began, changed := time.Now(), f.changed()
			ctx, stop := f.untilPause()
			defer stop()
			err := x.safely(ctx, s, x.ready.IsZero())
			x.passMu.Lock()
			defer x.passMu.Unlock()
			if x.tried, x.failed = time.Now(), err; ctx.Err() != nil {
				x.failed = nil // a later question begins again
			} else if err == nil {
				x.ready, x.took, x.changed = x.tried, time.Since(began), changed
			}
			x.passing = nil
			close(end)
		})
		x.passMu.Unlock()
	} else {
		x.passMu.Unlock()
		if f.crawl != nil {
			err = x.append(ctx, s)
		}
		_ = done()
		if err != nil {
			return false, err
		}
	}
	return x.await(ctx, f.crawl != nil)
}

// untilPause returns a context for work beside answers, for whose end the crawl must not wait between
// two sessions.
func (f *Interface) untilPause() (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancel(f.ctx)
	pausing := f.Pausing()
	go func() {
		select {
		case <-pausing:
			stop()
		case <-ctx.Done():
		}
	}()
	return ctx, stop
}

// await waits a moment for the end of the pass; while a crawl runs, only of the first.
func (x *index) await(ctx context.Context, runs bool) (complete bool, err error) {
	x.passMu.Lock()
	end, first := x.passing, x.ready.IsZero()
	x.passMu.Unlock()
	if end == nil || !first && runs {
		return !first, nil
	}
	late := time.NewTimer(firstRows)
	defer late.Stop()
	select {
	case <-end:
		x.passMu.Lock()
		defer x.passMu.Unlock()
		return !x.ready.IsZero() && x.failed == nil, nil
	case <-late.C:
		return !first, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// errIncomplete refuses an answer that needs all rows.
var errIncomplete = errors.New("the list of pages is not complete")

// whole reports why the list is incomplete; complete is of indexed.
func (x *index) whole(complete bool) error {
	if complete {
		return nil
	}
	x.passMu.Lock()
	defer x.passMu.Unlock()
	if x.failed != nil {
		return fmt.Errorf("%w: %w; fossick verify tells what is damaged", errIncomplete, x.failed)
	}
	return fmt.Errorf("%w; ask again when it has been read", errIncomplete)
}

// changed tells passDue of other commands that have written to a store at rest.
func (f *Interface) changed() int {
	if r, ok := f.source.(*resting); ok {
		return r.changed()
	}
	return 0
}

// passDue reports whether the list needs a pass; passMu is held.
func (f *Interface) passDue() bool {
	x := &f.index
	switch {
	case x.ready.IsZero():
		return x.failed == nil || time.Since(x.tried) > passEvery
	case f.crawl == nil:
		return x.changed != f.changed()
	}
	return time.Since(x.ready) > max(passEvery, passShare*x.took)
}

// scan collects rows.
type scan struct {
	x     *index
	marks map[store.ID]uint8
	topic string
}

// safely is pass, whose panic must not end the crawl.
func (x *index) safely(ctx context.Context, s *store.Store, first bool) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the list could not be read: %v; run fossick verify", p)
		}
	}()
	return x.pass(ctx, s, first)
}

// pass reads the whole store. The first pass shows its rows as it goes; a later one replaces them at
// its end.
func (x *index) pass(ctx context.Context, s *store.Store, first bool) error {
	sc := scan{x: x, marks: map[store.ID]uint8{}, topic: s.Info().Topic}
	for m, err := range s.Marks(false) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		sc.marks[m.ID] = flagOf(m.OnTopic)
	}
	pages, err := sc.pages(ctx, s, first)
	if err != nil {
		return err
	}
	others, err := sc.others(ctx, s, pages)
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, r := range x.pages { // stored meanwhile
		if n := len(pages); n == 0 || r.number > pages[n-1].number {
			pages = append(pages, r)
		}
	}
	x.pages, x.others, x.ended = pages, others, true
	x.version++
	x.passes++
	return nil
}

func flagOf(yes bool) uint8 {
	if yes {
		return labelledYes
	}
	return labelledNo
}

func (sc *scan) pages(ctx context.Context, s *store.Store, show bool) (all []row, err error) {
	for p, err := range s.Listed() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		if p.Withdrawn {
			continue
		}
		if all = append(all, sc.row(&p.Page, p.Refined)); show && len(all)%chunk == 0 {
			sc.x.mu.Lock()
			sc.x.pages = all[:len(all):len(all)]
			sc.x.version++
			sc.x.mu.Unlock()
		}
	}
	return all, nil
}

// row makes the row of a page. It locks the index, since names are shared.
func (sc *scan) row(p *store.Page, refined *store.Label) row {
	r := row{
		id: uint32(p.ID), number: uint32(p.Number), at: uint32(p.At / 1000), bytes: uint32(min(p.Bytes, 1<<32-1)), score: float32(p.Score),
		flags: sc.marks[p.ID],
	}
	if p.Relevant {
		r.flags |= onTopic
	}
	topic := p.Label
	switch {
	case refined != nil:
		topic = refined.Label
	case topic == "" && p.Relevant:
		topic = sc.topic
	}
	x := sc.x
	x.mu.Lock()
	defer x.mu.Unlock()
	r.host, r.state, r.topic = x.hosts.of(page.Host(p.URL)), x.states.few("ok"), x.topics.few(topic)
	r.lang, r.kind = x.langs.few(p.Lang), x.kinds.few(document.TypeOf(p.ContentType))
	return r
}

// others returns the rows of URLs without a page, and corrects the states of pages that were visited
// again.
func (sc *scan) others(ctx context.Context, s *store.Store, pages []row) (all []row, err error) {
	for e, err := range s.URLs().Ended("") {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		if !e.HasPage() {
			all = append(all, sc.other(&e))
		} else if i, ok := find(pages, e.Page); ok && e.State != "ok" {
			sc.correct(&pages[i], e.State)
		}
	}
	return all, nil
}

// other makes the row of a URL without a page.
func (sc *scan) other(e *store.Ended) row {
	x := sc.x
	x.mu.Lock()
	defer x.mu.Unlock()
	r := row{
		id: uint32(e.ID), host: x.hosts.of(page.Host(e.URL)), at: uint32(e.Outcome.At / 1000), score: float32(e.Score), state: x.states.few(e.State),
		topic: x.topics.few(""), lang: x.langs.few(""), kind: x.kinds.few(""), flags: sc.marks[e.ID],
	}
	if e.State == string(fetch.StateDuplicate) {
		r.like = uint32(e.Page)
	}
	return r
}

func (sc *scan) correct(r *row, state string) {
	sc.x.mu.Lock()
	defer sc.x.mu.Unlock()
	r.state = sc.x.states.few(state)
}

// find returns the place of a page by its number.
func find(pages []row, number uint64) (int, bool) {
	return slices.BinarySearchFunc(pages, number, func(r row, n uint64) int { return cmp.Compare(uint64(r.number), n) })
}

// appended bounds the pages that append enters at once; a pass brings the rest.
const appended = 1000

// append enters the pages that a running crawl has stored since.
func (x *index) append(ctx context.Context, s *store.Store) error {
	counts, err := s.Counts()
	if err != nil {
		return err
	}
	x.mu.RLock()
	last := uint64(0)
	if n := len(x.pages); n > 0 {
		last = uint64(x.pages[n-1].number)
	}
	ended := x.ended
	x.mu.RUnlock()
	if !ended || counts.LastPage()-min(last, counts.LastPage()) > appended {
		return nil
	}
	sc := scan{x: x, topic: s.Info().Topic}
	var rows []row
	for n := last + 1; n <= counts.LastPage() && ctx.Err() == nil; n++ {
		p, err := s.Page(n)
		if errors.Is(err, store.ErrUnknown) {
			continue
		}
		if err != nil {
			return err
		}
		if !p.Withdrawn && p.SameAs == "" {
			rows = append(rows, sc.row(p, nil))
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, r := range rows {
		if n := len(x.pages); n == 0 || r.number > x.pages[n-1].number { // another question may have entered it
			x.pages = append(x.pages, r)
			x.version++
		}
	}
	return nil
}

// labelled enters labels by a person at once; a later pass finds them in the store.
func (f *Interface) labelled(ctx context.Context, labels []control.Label) error {
	s, done, err := f.Open(ctx)
	if err != nil {
		return err
	}
	defer done()
	x := &f.index
	for _, l := range labels[:min(len(labels), appended)] {
		life, err := s.URLs().Life(l.URL)
		if errors.Is(err, store.ErrUnknown) {
			continue // it is another agent's
		}
		if err != nil {
			return err
		}
		x.mu.Lock()
		if life.Page != nil && life.Outcome.HasPage() {
			if i, ok := find(x.pages, life.Page.Number); ok {
				if x.pages[i].flags = 0; life.Mark != nil || len(life.Marks) > 0 {
					x.pages[i].flags = flagOf(l.Label == "yes")
				}
				if life.Page.Relevant {
					x.pages[i].flags |= onTopic
				}
			}
		}
		x.version++
		x.mu.Unlock()
	}
	return nil
}

// relevant returns which pages are on topic, in the order of the crawl.
func (f *Interface) relevant(ctx context.Context) ([]bool, error) {
	if _, err := f.indexed(ctx); err != nil {
		return nil, err
	}
	x := &f.index
	x.mu.RLock()
	defer x.mu.RUnlock()
	all := make([]bool, len(x.pages))
	for i, r := range x.pages {
		all[i] = r.flags&onTopic != 0
	}
	return all, nil
}
