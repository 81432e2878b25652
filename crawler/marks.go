package crawler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"fossick/crawler/fetch"
	"fossick/internal/page"
	"fossick/store"
)

// Mark is what a person says of a URL: that its page is on topic, or that it is not.
type Mark struct {
	URL     string // in normal form
	OnTopic bool
	Gone    bool // the earlier mark is taken back
	Topic   int  // number among the topics that share the crawl, from 1; 0 if there is one topic
}

// Marked is a Mark with its page, as a Marker takes it in.
type Marked struct {
	URL     string
	Page    *page.Page // nil if it was not fetched
	OnTopic bool
	Gone    bool // as in Mark
	Topic   int  // as in Mark
}

// Marker is a Scorer that learns from marks. Waiting URLs are rescored afterwards.
type Marker interface {
	Rescorer
	Mark(marks []Marked)
}

// sharing is a Scorer of several topics that share a crawl. A mark of one topic is for the
// topic's own scorer.
type sharing interface {
	// OfTopic returns the scorer of a topic, numbered from 1.
	OfTopic(topic int) Scorer
}

// ScorerOf returns the scorer of a topic; topic 0 is the crawl's own scorer where no topics
// share the crawl. It returns nil if there is no such topic.
func ScorerOf(scorer Scorer, topic int) Scorer {
	s, shares := scorer.(sharing)
	switch {
	case topic == 0 && !shares:
		return scorer
	case topic == 0 || !shares:
		return nil
	}
	return s.OfTopic(topic)
}

// Tell passes marks to the scorers of their topics, in order. learned reports whether all of
// these learn.
func Tell(scorer Scorer, marks []Marked) (learned bool) {
	learned = true
	for len(marks) > 0 {
		n := 1
		for n < len(marks) && marks[n].Topic == marks[0].Topic {
			n++
		}
		m, learns := ScorerOf(scorer, marks[0].Topic).(Marker)
		if learns {
			m.Mark(marks[:n])
		}
		learned, marks = learned && learns, marks[n:]
	}
	return learned
}

// learns reports whether the scorers of all marks' topics learn from marks.
func learns(scorer Scorer, marks []Marked) bool {
	for _, m := range marks {
		if _, learns := ScorerOf(scorer, m.Topic).(Marker); !learns {
			return false
		}
	}
	return true
}

// Put stores marks for a crawl that does not run. A resumed crawl learns from them.
func Put(s *store.Store, marks []Mark, at int64) error {
	ids, _, err := readMarks(s, nil, marks)
	if err != nil {
		return err
	}
	counts, err := s.Counts()
	if err != nil {
		return err
	}
	return put(s, ids, marks, &counts, at)
}

// put writes marks in as few batches as possible; each mark is written with all its effects or
// not at all. counts become those of the store, also after an error.
func put(s *store.Store, ids []store.ID, marks []Mark, counts *store.Counts, at int64) error {
	for done := 0; done < len(marks); {
		n, err := putBatch(s, ids[done:], marks[done:], counts, at)
		if err != nil {
			return err
		}
		done += n
	}
	return nil
}

// putBatch writes as many of the marks as fit into a batch, at least one, and returns how many.
func putBatch(s *store.Store, ids []store.ID, marks []Mark, counts *store.Counts, at int64) (done int, err error) {
	b := s.Batch()
	defer b.Cancel() // of no effect after Commit
	then := *counts
	then.Topics = slices.Clone(counts.Topics)
	for ; done < len(marks) && b.Size() <= store.MaxBatchBytes; done++ {
		m := store.Mark{OnTopic: marks[done].OnTopic, Gone: marks[done].Gone, At: at, After: then.LastPage(), Topic: marks[done].Topic}
		if err := b.Mark(ids[done], m, &then); err != nil {
			return 0, fmt.Errorf("%s: %w", marks[done].URL, err)
		}
	}
	if err := b.Commit(); err != nil {
		return 0, err
	}
	*counts = then
	return done, nil
}

// readMarks finds the marked URLs, with their pages where parse is not nil.
func readMarks(s *store.Store, parse func(*store.Page) (*page.Page, error), marks []Mark) ([]store.ID, []Marked, error) {
	ids, marked := make([]store.ID, len(marks)), make([]Marked, len(marks))
	for i, m := range marks {
		l, err := s.URLs().Life(m.URL)
		if err != nil {
			return nil, nil, err
		}
		if err := markable(l); err != nil && !m.Gone {
			return nil, nil, err
		}
		ids[i], marked[i] = l.ID, Marked{URL: m.URL, OnTopic: m.OnTopic, Gone: m.Gone, Topic: m.Topic}
		if l.Page == nil || parse == nil || m.Gone {
			continue
		}
		if marked[i].Page, err = parse(l.Page); err != nil {
			return nil, nil, err
		}
	}
	return ids, marked, nil
}

// markable returns an error for a URL that has nothing to label.
func markable(l *store.Life) error {
	switch {
	case l.Outcome == nil || l.Outcome.State == "ok" && l.Outcome.Page != 0:
		return nil
	case l.Outcome.State == "duplicate" && l.Page != nil:
		return fmt.Errorf("%s: %w: it repeats %s; label that page instead", l.URL, store.ErrNoPage, l.Page.URL)
	}
	return fmt.Errorf("%s: %w: its state is %s %s; label a stored page or a waiting URL", l.URL, store.ErrNoPage, l.Outcome.State, l.Outcome.Reason)
}

// Mark takes in labels of URLs that the crawl knows, while Run goes on. When it returns nil,
// the marks are on disk, the scorer has learned, and the queue is reordered; Options.Progress
// was called at that moment. moves is false if the scorer does not learn from marks, so that
// only the pages' own relevance changed. If one URL cannot be marked, none is. It is safe for
// concurrent use.
func (c *Crawler) Mark(ctx context.Context, said []Mark) (moves bool, err error) {
	said, away, err := c.divide(said)
	if err != nil {
		return false, err
	}
	ids, marked, err := c.marks.Read(said)
	if err != nil {
		return false, err
	}
	if err := c.sendLabels(away, c.opt.Now()); err != nil {
		return false, err
	}
	if len(said) == 0 {
		return learns(c.opt.Scorer, away), nil // it learns once the agent with the page has answered
	}
	var at time.Time
	err = c.inTurn(ctx, func() (error, error) {
		at = c.opt.Now()
		return c.marks.enter(ids, said, &c.totals.Counts, at)
	})
	if err == nil {
		err = c.sendLabels(marked, at)
	}
	if err != nil || !Tell(c.opt.Scorer, marked) { // outside the owner's turn, so that the crawl goes on
		return false, err
	}
	return true, c.inTurn(ctx, func() (error, error) {
		c.rescoreNow()
		c.opt.Progress(c.progress()) // shows from which page on the marks count
		return nil, nil
	})
}

// datedMark is a Marked with its time.
type datedMark struct {
	Marked
	At int64 // Unix milliseconds
}

// said returns the latest n marks of this crawl, also those taken back, oldest first. It may run
// beside the crawl.
func (b *Book) said(n int) (said []datedMark, err error) {
	var marks []store.MarkedURL
	for m, err := range b.store.Marks(true) {
		if err != nil {
			return nil, err
		}
		marks = append(marks, m)
	}
	slices.SortStableFunc(marks, func(a, b store.MarkedURL) int { return cmp.Compare(a.At, b.At) })
	for _, m := range marks[max(0, len(marks)-n):] {
		m.After = ^uint64(0) // with its page, whenever that was stored
		marked, err := b.marked([]store.MarkedURL{m})
		if err != nil {
			return nil, err
		}
		said = append(said, datedMark{marked[0], m.At})
	}
	return said, nil
}

// times records when each URL was labelled last, at any agent. It is safe for concurrent use.
type times struct {
	mu sync.Mutex // guards at
	at map[labelled]moment
}

type moment struct {
	at      int64 // Unix milliseconds
	fetched bool  // with its page
}

type labelled struct {
	url   string
	topic int
}

// newer records a label, and reports whether it is later than any other of its URL, or as late
// and the first with its page.
func (t *times) newer(url string, topic int, at int64, fetched bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	of, now := labelled{url, topic}, moment{at, fetched}
	last, ok := t.at[of]
	if ok && (last.at > at || last.at == at && (last.fetched || !fetched)) {
		return false
	}
	if t.at == nil {
		t.at = map[labelled]moment{}
	}
	t.at[of] = now
	return true
}

// recall records the labels of a store.
func (t *times) recall(s *store.Store) error {
	for m, err := range s.Marks(true) {
		if err != nil {
			return err
		}
		discovery, err := s.URLs().Discovery(m.ID)
		if err != nil {
			return err
		}
		life, err := s.URLs().Life(discovery.URL)
		if err != nil {
			return err
		}
		t.newer(discovery.URL, m.Topic, m.At, life.Page != nil)
	}
	return nil
}

// Question is a page, stored or not yet fetched, whose label would teach the scorer much.
type Question struct {
	URL         string  // of the page, or of a stored page that links to one not yet fetched
	Link        uint64  // page.Key of a page not yet fetched, else 0
	Probability float64 // that it is on topic, by the present scorer
	Reach       float64 // share of the best waiting URLs whose links share words with it
}

// Asker is a Marker that can propose pages to label.
type Asker interface {
	Marker
	// Ask returns up to n pages, the most useful first. It is safe for concurrent use.
	Ask(n int) []Question
}

// Book keeps the marks of a crawl's URLs. It belongs to one goroutine, except Read.
type Book struct {
	store *store.Store
	urls  *page.Normalizer
	marks map[subject]bool // on topic or not

	Times times // of labels, where several agents crawl; safe for concurrent use
}

// subject is a URL and the topic of its mark.
type subject struct {
	id    store.ID
	topic int // as in Mark
}

// NewBook returns the book of a crawl, empty until Replay.
func NewBook(s *store.Store, urls *page.Normalizer) *Book {
	return &Book{store: s, urls: urls, marks: map[subject]bool{}}
}

// overrule lets marks of a URL override the score of its page.
func (b *Book) overrule(id store.ID, score *Score) {
	if onTopic, marked := b.marks[subject{id, 0}]; marked {
		score.Relevant, score.Overruled = onTopic, score.Relevant != onTopic
	}
	if len(score.Topics) == 0 {
		return
	}
	score.Relevant = false
	for i := range score.Topics {
		v := &score.Topics[i]
		if onTopic, marked := b.marks[subject{id, i + 1}]; marked {
			v.Relevant, v.Overruled = onTopic, v.Relevant != onTopic
		}
		score.Relevant = score.Relevant || v.Relevant
	}
}

// Read finds the marked URLs, with their pages if there are any. It is safe for concurrent
// use.
func (b *Book) Read(marks []Mark) ([]store.ID, []Marked, error) {
	return readMarks(b.store, b.parse, marks)
}

// enter journals marks in the owner's turn. A store that cannot be written ends the crawl.
func (b *Book) enter(ids []store.ID, marks []Mark, counts *store.Counts, now time.Time) (refused, broken error) {
	err := put(b.store, ids, marks, counts, now.UnixMilli())
	if errors.Is(err, store.ErrNoPage) {
		return err, nil // it ended meanwhile
	}
	if err != nil {
		return nil, err
	}
	for i, id := range ids {
		of := subject{id, marks[i].Topic}
		if b.marks[of] = marks[i].OnTopic; marks[i].Gone {
			delete(b.marks, of)
		}
	}
	return nil, nil
}

// Replay shows the stored pages to a scorer that learns, in the order of the crawl, each mark
// when it was made. learned reports whether there was anything to show.
func (b *Book) Replay(scorer Scorer, pages uint64) (learned bool, err error) {
	marks, err := b.restore()
	if err != nil {
		return false, err
	}
	if _, learns := scorer.(Rescorer); !learns || pages == 0 {
		return false, nil
	}
	for stored, err := range b.store.Pages() {
		if err != nil {
			return false, err
		}
		if marks, err = b.replayMarks(scorer, marks, stored.Number); err != nil {
			return false, err
		}
		p, err := b.parse(stored)
		if err != nil {
			return false, err
		}
		if err := b.replayRedirects(scorer, stored); err != nil {
			return false, err
		}
		scorer.ScoreLinks(nil, p, scorer.ScorePage(p, stored.Parent))
	}
	if _, err := b.replayMarks(scorer, marks, pages+1); err != nil {
		return false, err
	}
	return true, nil
}

// maxHops bounds the redirects in a row that are followed.
const maxHops = 10

// replayRedirects shows the scorer the redirects that led to a page, the first one first.
func (b *Book) replayRedirects(scorer Scorer, stored *store.Page) error {
	s, heeds := scorer.(Redirected)
	if !heeds {
		return nil
	}
	discovery, err := b.store.URLs().Discovery(stored.ID)
	hops := []string{stored.URL}
	for err == nil && discovery.Via == store.ViaRedirect && len(hops) <= maxHops {
		if discovery, err = b.store.URLs().Discovery(discovery.From); err == nil {
			hops = append(hops, discovery.URL)
		}
	}
	for i := len(hops) - 1; i > 0; i-- {
		s.Lead(page.Key(hops[i-1]), s.Led(page.Key(hops[i])))
	}
	if errors.Is(err, store.ErrUnknown) { // the redirect is at another agent, or the page was imported
		err = nil
	}
	return err
}

// restore returns the marks in order of time.
func (b *Book) restore() ([]store.MarkedURL, error) {
	var marks []store.MarkedURL
	for m, err := range b.store.Marks(false) {
		if err != nil {
			return nil, err
		}
		b.marks[subject{m.ID, m.Topic}] = m.OnTopic
		marks = append(marks, m)
	}
	slices.SortFunc(marks, func(a, b store.MarkedURL) int {
		return cmp.Or(cmp.Compare(a.After, b.After), cmp.Compare(a.At, b.At), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Topic, b.Topic))
	})
	return marks, nil
}

// replayMarks shows the scorer the marks that were made before a page was stored, and returns
// the rest. Marks of one moment are shown together.
func (b *Book) replayMarks(scorer Scorer, marks []store.MarkedURL, before uint64) ([]store.MarkedURL, error) {
	for len(marks) > 0 && marks[0].After < before {
		n := 1
		for n < len(marks) && marks[n].After == marks[0].After && marks[n].At == marks[0].At {
			n++
		}
		together, err := b.marked(marks[:n])
		if err != nil {
			return nil, err
		}
		Tell(scorer, together)
		marks = marks[n:]
	}
	return marks, nil
}

// marked returns marks with the pages that existed when the marks were made.
func (b *Book) marked(marks []store.MarkedURL) ([]Marked, error) {
	all := make([]Marked, len(marks))
	for i, m := range marks {
		discovery, err := b.store.URLs().Discovery(m.ID)
		if err != nil {
			return nil, err
		}
		all[i] = Marked{URL: discovery.URL, OnTopic: m.OnTopic, Gone: m.Gone, Topic: m.Topic}
		life, err := b.store.URLs().Life(discovery.URL)
		if err != nil {
			return nil, err
		}
		if life.Page == nil || life.Page.Number > m.After || m.Gone || markable(life) != nil {
			continue // the page came later, and Replay marks it then
		}
		if all[i].Page, err = b.parse(life.Page); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (b *Book) parse(stored *store.Page) (*page.Page, error) { return parse(b.store, b.urls, stored) }

// Parse reads the stored page of a URL again; store.ErrNoPage if it has none.
func Parse(s *store.Store, urls *page.Normalizer, url string) (*page.Page, error) {
	life, err := s.URLs().Life(url)
	if err != nil {
		return nil, err
	}
	if life.Page == nil {
		return nil, fmt.Errorf("%s: %w", url, store.ErrNoPage)
	}
	return parse(s, urls, life.Page)
}

func parse(s *store.Store, urls *page.Normalizer, stored *store.Page) (*page.Page, error) {
	body, err := s.Body(stored.Number)
	if err != nil {
		return nil, err
	}
	p, err := page.Parse(body, page.ParseOptions{URL: stored.URL, ContentType: stored.ContentType, RobotsTag: stored.RobotsTag, Normalizer: urls})
	if err != nil {
		return nil, fmt.Errorf("stored page %d, %s: %w", stored.Number, stored.URL, err)
	}
	return p, nil
}

// Forget takes in an owner's request to forget pages, while Run goes on. When it returns nil,
// the request is on disk, and these pages are neither requested nor stored any more. Run ends
// soon with StopForget, because store.Fulfil needs the store for itself. Then the crawl can be
// resumed. It is safe for concurrent use.
func (c *Crawler) Forget(ctx context.Context, pattern string) error {
	return c.inTurn(ctx, func() (error, error) {
		if err := store.KeepForget(c.opt.Store, pattern, c.opt.Now().UnixMilli()); err != nil {
			return nil, err
		}
		c.opt.Scope.Forgotten = append(c.opt.Scope.Forgotten, store.Forget{Pattern: pattern})
		if c.stopped == "" {
			c.stopped = StopForget
		}
		c.interrupt()
		return nil, nil
	})
}

// forgotten reports whether an exchange brought a page that is to be forgotten by now.
func (o *Options) forgotten(of *jobResult) bool {
	return of.task == taskPage && o.Scope.Forgotten.Has(of.Discovery.URL)
}

// dismissed is the outcome of such a URL.
func (c *Crawler) dismissed() store.Outcome {
	return c.outcome(string(fetch.StateNone), store.ForgottenReason)
}
