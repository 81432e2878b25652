package crawler

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"fossick/internal/page"
	"fossick/store"
)

// Book is what people have said of a crawl's URLs. It belongs to one goroutine, but for
// Read.
type Book struct {
	store *store.Store
	urls  *page.Normalizer
	marks map[subject]bool // on topic or not

	Times times // of labels, where several agents make the crawl; safe for concurrent use
}

// subject is what a mark is of.
type subject struct {
	id    store.ID
	topic int // as in Mark
}

// NewBook returns the book of a crawl, empty before Replay.
func NewBook(s *store.Store, urls *page.Normalizer) *Book {
	return &Book{store: s, urls: urls, marks: map[subject]bool{}}
}

// overrule lets what people said of a URL stand against what its page's score says.
func (b *Book) overrule(id store.ID, score *Score) {
	if onTopic, marked := b.marks[subject{id, 0}]; marked {
		score.Relevant = onTopic
	}
	if len(score.Topics) == 0 {
		return
	}
	score.Relevant = false
	for i := range score.Topics {
		v := &score.Topics[i]
		if onTopic, marked := b.marks[subject{id, i + 1}]; marked {
			v.Relevant = onTopic
		}
		score.Relevant = score.Relevant || v.Relevant
	}
}

// Read finds the URLs that are marked, with their pages as far as there are some. It is
// safe for concurrent use.
func (b *Book) Read(marks []Mark) ([]store.ID, []Marked, error) {
	return readMarks(b.store, b.parse, marks)
}

// enter journals marks, and is the owner's. A store that cannot be written ends
// the crawl.
func (b *Book) enter(ids []store.ID, marks []Mark, counts *store.Counts, now time.Time) (refused, broken error) {
	err := put(b.store, ids, marks, counts, now.UnixMilli())
	if errors.Is(err, store.ErrNoPage) {
		return err, nil // it ended meanwhile
	}
	if err != nil {
		return nil, err
	}
	for i, id := range ids {
		b.marks[subject{id, marks[i].Topic}] = marks[i].OnTopic
	}
	return nil, nil
}

// Replay shows the stored pages to a scorer that learns, in the order of the crawl, so that
// it goes on with what it knew. What people said of them comes in when they said it. learned
// says whether there was anything to show.
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

// maxHops bounds the redirects in a row that are followed back.
const maxHops = 10

// replayRedirects shows the scorer the redirects that led to a page, the first one first.
func (b *Book) replayRedirects(scorer Scorer, stored *store.Page) error {
	s, heeds := scorer.(Redirected)
	if !heeds {
		return nil
	}
	birth, err := b.store.URLs().Birth(stored.ID)
	hops := []string{stored.URL}
	for err == nil && birth.Via == store.ViaRedirect && len(hops) <= maxHops {
		if birth, err = b.store.URLs().Birth(birth.From); err == nil {
			hops = append(hops, birth.URL)
		}
	}
	for i := len(hops) - 1; i > 0; i-- {
		s.Lead(page.Key(hops[i-1]), s.Led(page.Key(hops[i])))
	}
	if errors.Is(err, store.ErrUnknown) { // with another agent, or of an import
		err = nil
	}
	return err
}

// restore returns what people said, in order of time.
func (b *Book) restore() ([]store.MarkedURL, error) {
	var marks []store.MarkedURL
	for m, err := range b.store.Marks() {
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

// replayMarks shows the scorer the marks that were made before a page was stored and
// returns those that are left; marks of one moment were made together.
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

// marked reads the pages of marks, those that had one when the marks were made.
func (b *Book) marked(marks []store.MarkedURL) ([]Marked, error) {
	all := make([]Marked, len(marks))
	for i, m := range marks {
		birth, err := b.store.URLs().Birth(m.ID)
		if err != nil {
			return nil, err
		}
		all[i] = Marked{URL: birth.URL, OnTopic: m.OnTopic, Topic: m.Topic}
		life, err := b.store.URLs().Life(birth.URL)
		if err != nil {
			return nil, err
		}
		if life.Page == nil || life.Page.Number > m.After || markable(life) != nil {
			continue // it came later, and will be known as marked then
		}
		if all[i].Page, err = b.parse(life.Page); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// parse reads a stored page again.
func (b *Book) parse(stored *store.Page) (*page.Page, error) { return parse(b.store, b.urls, stored) }

// Parse reads the stored page of a URL again; store.ErrNoPage when it has none.
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
