package control

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"fossick/crawler"
	"fossick/crawler/people"
	"fossick/internal/printable"
	"fossick/internal/usage"
	"fossick/page"
	"fossick/store"
)

// Asked is a page that a person is asked about.
type Asked struct {
	URL         string  `json:"url"`
	Why         string  `json:"why"`
	Probability float64 `json:"probability"`
	Title       string  `json:"title"`
	Text        string  `json:"text"` // how the page begins
}

// Examiner asks what a crawl would like to know, and takes the answers.
type Examiner interface {
	Ask(ctx context.Context, n int) ([]Asked, error)
	Label(ctx context.Context, labels []Label) (LabelAnswer, error)
}

// errNoQuestions says that a crawl's scores do not learn.
var errNoQuestions = usage.Errorf("this crawl's scores do not learn from labels; a crawl with --score learned knows what to ask")

const (
	maxQuestions = 1000
	textShown    = 400 // runes of a page
)

// CheckQuestions refuses a number that cannot be asked.
func CheckQuestions(n int) error {
	if n < 1 || n > maxQuestions {
		return usage.Errorf("--ask %d: want 1 to %d", n, maxQuestions)
	}
	return nil
}

// ask is the running crawl's end of the verb.
func (c *Socket) ask(w http.ResponseWriter, req *http.Request) {
	n, err := strconv.Atoi(req.URL.Query().Get("n"))
	if err == nil {
		err = CheckQuestions(n)
	}
	if err != nil {
		reply(w, nil, err)
		return
	}
	asked, err := questions(c.Store, c.URLs, c.Scorer, n)
	reply(w, asked, err)
}

// questions are those of a scorer, with the pages that they are about.
func questions(s *store.Store, urls *page.Normalizer, scorer crawler.Scorer, n int) ([]Asked, error) {
	if err := ofOneTopic(s); err != nil {
		return nil, err
	}
	asker, ok := scorer.(people.Asker)
	if !ok {
		return nil, errNoQuestions
	}
	asked := []Asked{}
	for _, q := range asker.Ask(n) {
		p, err := people.Parse(s, urls, q.URL)
		if errors.Is(err, store.ErrNoPage) {
			continue // it was scored and is not stored yet
		}
		if err != nil {
			return nil, err
		}
		asked = append(asked, Asked{URL: q.URL, Why: whyAsked(q), Probability: q.Probability, Title: p.Title, Text: printable.Cut(matter(p), textShown)})
	}
	return asked, nil
}

// matter is a page's text from its heading on, where the title stands in it: what comes
// before is mostly navigation.
func matter(p *page.Page) string {
	heading, _, _ := strings.Cut(p.Title, " - ")
	if at := strings.LastIndex(p.Text, heading); heading != "" && at >= 0 && len(p.Text)-at > len(heading)+textShown/2 {
		return p.Text[at+len(heading):]
	}
	return p.Text
}

func whyAsked(q people.Question) string {
	return fmt.Sprintf("on topic with probability %.2f; %.0f %% of the next URLs have words of it in their links", q.Probability, 100*q.Reach)
}

// Running asks the crawl that has a store.
type Running struct {
	Dir  string
	Busy error // that the store is in use
}

// Ask implements Examiner.
func (r Running) Ask(ctx context.Context, n int) (asked []Asked, err error) {
	return asked, Ask(ctx, r.Dir, "/ask?n="+strconv.Itoa(n), nil, &asked, r.Busy)
}

// Label implements Examiner.
func (r Running) Label(ctx context.Context, labels []Label) (answer LabelAnswer, err error) {
	return answer, Ask(ctx, r.Dir, "/label", LabelRequest{Labels: labels}, &answer, r.Busy)
}

// Resting asks for a crawl that does not run.
type Resting struct {
	store  *store.Store
	urls   *page.Normalizer
	book   *people.Book
	scorer crawler.Scorer
}

// Rest shows a stored crawl to its scorer, which knows then what to ask. It takes about a
// millisecond a page.
func Rest(s *store.Store, urls *page.Normalizer, scorer crawler.Scorer) (*Resting, error) {
	counts, err := s.Counts()
	if err != nil {
		return nil, err
	}
	r := &Resting{s, urls, people.NewBook(s, urls), scorer}
	learned, err := r.book.Replay(scorer, counts.Pages)
	if err == nil && counts.Pages > 0 && !learned {
		err = errNoQuestions
	}
	return r, err
}

// Ask implements Examiner.
func (r *Resting) Ask(_ context.Context, n int) ([]Asked, error) {
	return questions(r.store, r.urls, r.scorer, n)
}

// Label implements Examiner.
func (r *Resting) Label(_ context.Context, labels []Label) (LabelAnswer, error) {
	marks, err := marksOf(r.store, r.urls, labels)
	if err != nil {
		return LabelAnswer{}, err
	}
	if err := people.Put(r.store, marks, time.Now().UnixMilli()); err != nil {
		return LabelAnswer{}, err
	}
	_, marked, err := r.book.Read(marks)
	if err == nil {
		r.scorer.(people.Marker).Mark(marked)
	}
	return LabelAnswer{Labels: labels}, err
}
