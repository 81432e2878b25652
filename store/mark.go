package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/dgraph-io/badger/v4"
)

// Mark is a person's verdict that a URL's page is on topic or not. It overrides every model. A URL
// has one mark, the latest; in a crawl of several topics, one per topic. One that was taken back
// stays as a trace, so that an agent that missed this does not bring it back.
type Mark struct {
	OnTopic bool   `cbor:"1,keyasint,omitempty"`
	At      int64  `cbor:"2,keyasint"`           // Unix milliseconds
	After   uint64 `cbor:"3,keyasint,omitempty"` // pages stored by then: where a replay of the crawl applies it

	Gone bool `cbor:"4,keyasint,omitempty" json:",omitempty"` // taken back

	Topic int `cbor:"-" json:",omitempty"` // index in Info.Topics, from 1; 0 in a crawl of one topic
}

// ErrNoPage reports a URL that ended without a page to judge.
var ErrNoPage = errors.New("it has no page")

func (m Mark) String() string {
	if m.OnTopic {
		return "marked yes by a person"
	}
	return "marked no by a person"
}

type MarkedURL struct {
	ID ID
	Mark
}

// Marks yields the marks by discovery of their URLs, then by topic; with gone also those taken back.
func (s *Store) Marks(gone bool) iter.Seq2[MarkedURL, error] {
	kind := key(keyMark)
	if len(s.info.Topics) > 0 {
		kind = key(keyMarkFor)
	}
	return func(yield func(MarkedURL, error) bool) {
		for m, err := range each(s.records, kind, readMark) {
			if (err != nil || gone || !m.Gone) && !yield(m, err) {
				return
			}
		}
	}
}

func readMark(k, v []byte) (m MarkedURL, err error) {
	if m.ID, m.Topic, err = markOf(k); err != nil {
		return MarkedURL{}, err
	}
	return m, decode(k, v, &m.Mark)
}

// Mark writes a mark. The URL's page, if any, becomes as relevant as the mark says, whatever refine
// found. A mark that is taken back makes it what it was before. Mark updates counts and writes them.
func (b *Batch) Mark(id ID, m Mark, counts *Counts) error {
	if err := b.put(markKey(id, m.Topic), m); err != nil {
		return err
	}
	if m.Gone {
		return b.unmark(id, m.Topic, counts)
	}
	return b.judge(id, m, counts, func(p *Page) { p.heed(m) }, func(l Label, topic string) Label { return l.Marked(m, topic) })
}

// unmark removes a mark's effect on the URL's page.
func (b *Batch) unmark(id ID, topic int, counts *Counts) error {
	err := b.judge(id, Mark{Topic: topic}, counts, func(p *Page) { p.unheed(topic) }, func(l Label, _ string) Label {
		if l.Was != nil {
			return *l.Was
		}
		return l
	})
	if errors.Is(err, ErrNoPage) {
		return nil // nothing was judged
	}
	return err
}

// judge changes the URL's page and its label from refine, as far as there are any.
func (b *Batch) judge(id ID, m Mark, counts *Counts, change func(*Page), refined func(l Label, topic string) Label) error {
	outcome, err := b.Outcome(id)
	if errors.Is(err, ErrUnknown) {
		return nil
	}
	if err != nil {
		return err
	}
	if outcome.State != "ok" || outcome.Page == 0 {
		return fmt.Errorf("%w: its state is %s", ErrNoPage, outcome.State)
	}
	p := &Page{}
	if err := get(b.txn, numKey(keyPage, outcome.Page), p); err != nil {
		return err
	}
	p.Number = outcome.Page
	counts.count(p, true)
	change(p)
	counts.count(p, false)
	if err := b.PutCounts(counts); err != nil {
		return err
	}
	if err := b.PutPageRecord(p); err != nil {
		return err
	}
	return b.overrule(p.Number, m, refined)
}

func (c *Counts) count(p *Page, away bool) {
	c.Judged(p.Topics, away)
	switch {
	case p.Relevant && away:
		c.Relevant--
	case p.Relevant:
		c.Relevant++
	}
}

// heed makes a page as relevant as a mark says, and reports whether that changed it.
func (p *Page) heed(m Mark) (news bool) {
	if m.Topic == 0 {
		return obey(&p.Relevant, &p.Overruled, m.OnTopic)
	}
	if m.Topic > len(p.Topics) {
		return false
	}
	v := &p.Topics[m.Topic-1]
	news = obey(&v.Relevant, &v.Overruled, m.OnTopic)
	p.Relevant = slices.ContainsFunc(p.Topics, func(v Verdict) bool { return v.Relevant })
	return news
}

// unheed makes a page as relevant as the scorer found it.
func (p *Page) unheed(topic int) {
	switch {
	case topic == 0 && p.Overruled:
		p.heed(Mark{OnTopic: !p.Relevant})
	case topic > 0 && topic <= len(p.Topics) && p.Topics[topic-1].Overruled:
		p.heed(Mark{OnTopic: !p.Topics[topic-1].Relevant, Topic: topic})
	}
}

// overrule changes the label from refine, if there is one for the mark's topic.
func (b *Batch) overrule(page uint64, m Mark, change func(l Label, topic string) Label) error {
	var l Label
	err := get(b.txn, numKey(keyLabel, page), &l)
	if errors.Is(err, ErrUnknown) {
		return nil
	}
	if err != nil {
		return err
	}
	topic := b.s.info.Topic
	if m.Topic > 0 {
		if topic = b.s.info.Topics[m.Topic-1]; l.Topic != topic {
			return nil // refine ran for another topic
		}
	}
	return b.PutLabel(page, change(l, topic))
}

// Marked returns the label that a mark makes of l; it keeps the model's own.
func (l Label) Marked(m Mark, topic string) Label {
	if l.Was == nil {
		own := l
		l.Was = &own
	}
	l.Kept, l.Score, l.Rule = m.OnTopic, 0, m.String()
	switch {
	case m.OnTopic:
		l.Label, l.Score = topic, 1
	case l.Label == topic:
		l.Label = "not " + topic
	}
	return l
}

type Ranking struct {
	Method     string  `cbor:"1,keyasint"`
	Damping    float64 `cbor:"2,keyasint,omitempty"`
	Personal   string  `cbor:"3,keyasint,omitempty"` // pages where random surfers restart; "" for all
	Nodes      int     `cbor:"4,keyasint"`           // of the graph, including URLs without a page
	Edges      int64   `cbor:"5,keyasint"`
	Iterations int     `cbor:"6,keyasint"`
	Residual   float64 `cbor:"7,keyasint"`
	Pages      uint64  `cbor:"8,keyasint"` // pages with a rank
	At         int64   `cbor:"9,keyasint"` // Unix milliseconds
	Side       byte    `cbor:"10,keyasint,omitempty"`
}

type Rank struct {
	Score float64 `cbor:"1,keyasint"`           // share of all nodes' PageRank, or authority
	Hub   float64 `cbor:"2,keyasint,omitempty"` // hub score of HITS
}

type NumberedRank struct {
	Page uint64
	Rank
}

func rankKey(side byte, page uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{keyRank, side}, page)
}

type Ranks struct{ s *Store }

func (s *Store) Ranks() Ranks { return Ranks{s} }

func (r Ranks) Last() (last *Ranking, err error) {
	err = r.s.records.view(func(txn *badger.Txn) error { return optional(txn, key(keyRanking), &last) })
	return last, err
}

// All yields the ranks of the last ranking, by page number. Pages stored later have none.
func (r Ranks) All() iter.Seq2[NumberedRank, error] {
	return func(yield func(NumberedRank, error) bool) {
		last, err := r.Last()
		if err != nil {
			yield(NumberedRank{}, err)
		}
		if err != nil || last == nil {
			return
		}
		each(r.s.records, []byte{keyRank, last.Side}, func(k, v []byte) (NumberedRank, error) {
			if len(k) != 10 {
				return NumberedRank{}, fmt.Errorf("store key %q: %w: %d bytes, want 10", k, ErrDamaged, len(k))
			}
			n := NumberedRank{Page: binary.BigEndian.Uint64(k[2:])}
			return n, decode(k, v, &n.Rank)
		})(yield)
	}
}

// Of returns a page's rank and the ranking. Both may be nil; later pages have no rank.
func (r Ranks) Of(page uint64) (rank *Rank, last *Ranking, err error) {
	err = r.s.records.view(func(txn *badger.Txn) error {
		if err := optional(txn, key(keyRanking), &last); err != nil || last == nil {
			return err
		}
		return optional(txn, rankKey(last.Side, page), &rank)
	})
	return rank, last, err
}

// Put replaces the ranking and its ranks, in many batches. Ranks go to the unused side; the last
// batch, with the Ranking, switches sides, so a kill leaves the old or the new one whole.
func (r Ranks) Put(ctx context.Context, ranking Ranking, ranks iter.Seq[NumberedRank]) error {
	old, err := r.Last()
	if err != nil && !errors.Is(err, ErrDamaged) {
		return err
	}
	if ranking.Side = 0; err == nil && old != nil {
		ranking.Side = 1 - old.Side&1
	}
	if err := r.clear(ctx, ranking.Side); err != nil {
		return err
	}
	made := batches{s: r.s}
	defer made.cancel()
	ranking.Pages = 0
	for rank := range ranks {
		if err := ctx.Err(); err != nil {
			return err
		}
		ranking.Pages++
		if err := made.add(func(b *Batch) error { return b.put(rankKey(ranking.Side, rank.Page), rank.Rank) }); err != nil {
			return err
		}
	}
	if err := made.add(func(b *Batch) error { return b.put(key(keyRanking), ranking) }); err != nil {
		return err
	}
	if err := made.flush(); err != nil {
		return err
	}
	return r.clear(ctx, 1-ranking.Side)
}

func (r Ranks) clear(ctx context.Context, side byte) error {
	gone := batches{s: r.s}
	defer gone.cancel()
	err := r.s.records.view(func(txn *badger.Txn) error {
		for item := range items(txn, []byte{keyRank, side}) {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := gone.add(func(b *Batch) error { return b.delete(item.KeyCopy(nil)) }); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return gone.flush()
}

func (b *Batch) dropRank(page uint64) error {
	return errors.Join(b.delete(rankKey(0, page)), b.delete(rankKey(1, page)))
}

func (b *Batch) moveRank(from, to uint64) error {
	var ranking Ranking
	err := get(b.txn, key(keyRanking), &ranking)
	var rank Rank
	if err == nil {
		err = get(b.txn, rankKey(ranking.Side, from), &rank)
	}
	switch {
	case err == nil:
		err = b.put(rankKey(ranking.Side, to), rank)
	case errors.Is(err, ErrUnknown) || errors.Is(err, ErrDamaged):
		err = b.dropRank(to)
	}
	if err != nil {
		return err
	}
	return b.dropRank(from)
}

// Round is one revisit of all stored pages by a watch.
type Round struct {
	Began int64 `cbor:"1,keyasint"`           // Unix milliseconds
	Ended int64 `cbor:"2,keyasint,omitempty"` // 0 while it runs, or if it was interrupted
}

func Rounds(s *Store) (all []Round, err error) {
	err = s.records.get(key(keyRounds), &all)
	if errors.Is(err, ErrUnknown) {
		err = nil
	}
	return all, err
}

// PutRounds replaces the rounds. No batch may be open.
func PutRounds(s *Store, all []Round) error {
	b := s.Batch()
	defer b.Cancel()
	if err := b.put(key(keyRounds), all); err != nil {
		return err
	}
	return b.Commit()
}

// Chances returns the success statistics over all hosts, encoded by the crawler, or nil.
func Chances(s *Store) (kept []byte, err error) {
	err = s.records.get(key(keyChances), &kept)
	if errors.Is(err, ErrUnknown) {
		err = nil
	}
	return kept, err
}

func PutChances(b *Batch, kept []byte) error { return b.put(key(keyChances), kept) }

func VisitsOf(s *Store, id ID) (all []Visit, err error) {
	err = s.records.view(func(txn *badger.Txn) error {
		all, err = visitsOf(txn, id)
		return err
	})
	return all, err
}

// Announced is the state of a host's sitemaps and feeds for a watch, and of their reliability.
type Announced struct {
	Sources []Source `cbor:"1,keyasint,omitempty"`
	Checks  int      `cbor:"2,keyasint,omitempty"` // visits that could verify a lastmod
	Failed  int      `cbor:"3,keyasint,omitempty"` // failed checks
}

type Source struct {
	URL      string `cbor:"1,keyasint"`           // in normal form
	At       int64  `cbor:"2,keyasint,omitempty"` // when it was last requested, Unix milliseconds
	ETag     string `cbor:"3,keyasint,omitempty"` // of the version read last
	Modified string `cbor:"4,keyasint,omitempty"` // likewise
}

// Seen returns when a URL's page was last found unchanged (Unix milliseconds); 0 without a page.
func (u URLs) Seen(id ID) (at int64, err error) {
	var f Outcome
	var p Page
	err = u.records.view(func(txn *badger.Txn) error {
		if err := get(txn, numKey(keyOutcome, uint64(id)), &f); err != nil || !f.HasPage() {
			return err
		}
		return get(txn, numKey(keyPage, f.Page), &p)
	})
	if errors.Is(err, ErrUnknown) {
		return 0, nil
	}
	return p.Seen(), err
}
