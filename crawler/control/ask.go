package control

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"fossick/crawler"
	"fossick/internal/page"
	"fossick/internal/printable"
	"fossick/internal/usage"
	"fossick/store"
)

// Asked is a page that a person is asked about, stored or not yet fetched.
type Asked struct {
	URL         string  `json:"url"`
	Why         string  `json:"why"`
	Probability float64 `json:"probability"`
	Title       string  `json:"title"`
	Text        string  `json:"text"` // how the page begins; of one that waits, the words around the link
	Link        *Link   `json:"link"` // to one that waits; null of a stored one
}

// Link is where a URL that waits was found.
type Link struct {
	Text  string `json:"text"`
	Page  string `json:"page"`
	Title string `json:"title"` // of that page
}

// Examiner asks what a crawl would like to know, and takes the answers.
type Examiner interface {
	Ask(ctx context.Context, n int) ([]Asked, error)
	Label(ctx context.Context, labels []Label) (LabelAnswer, error)
}

// errNoQuestions says that a crawl's scores do not learn.
var errNoQuestions = usage.Errorf("--ask needs a crawl with --score learned; the scores of this crawl do not learn from labels")

const (
	maxQuestions = 1000
	textShown    = 400 // runes of a page
)

// Lines tells of the page, but for its URL.
func (a *Asked) Lines() []string {
	if a.Link == nil {
		return []string{a.Title, a.Text, a.Why}
	}
	return []string{fmt.Sprintf("linked as %q on %s, %s", a.Link.Text, a.Link.Page, a.Link.Title), a.Text, a.Why}
}

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
	asked, err := questions(c.Store, c.URLs, c.Scorer, req.URL.Query().Get("topic"), n)
	reply(w, asked, err)
}

// questions are those of a crawl's scorer for a topic, with the pages that they are about.
func questions(s *store.Store, urls *page.Normalizer, scorer crawler.Scorer, topic string, n int) ([]Asked, error) {
	of, err := topicOf(s, topic)
	if err != nil {
		return nil, err
	}
	scorer = crawler.ScorerOf(scorer, of)
	asker, ok := scorer.(crawler.Asker)
	if !ok {
		return nil, errNoQuestions
	}
	// Of the URLs that a scorer knows some wait in no queue: no crawl is to ask for them.
	for most := n; ; most *= 2 {
		all := asker.Ask(most)
		asked, err := askable(s, urls, all, n)
		if err != nil || len(asked) == n || len(all) < most {
			explain(asked, scorer)
			return asked, err
		}
	}
}

// askable returns the first n of some questions that a person can answer, with what is to be
// seen of them.
func askable(s *store.Store, urls *page.Normalizer, all []crawler.Question, n int) ([]Asked, error) {
	asked := []Asked{}
	for _, q := range all {
		if len(asked) == n {
			break
		}
		p, err := crawler.Parse(s, urls, q.URL)
		if errors.Is(err, store.ErrNoPage) {
			continue // it was scored and is not stored yet
		}
		if err != nil {
			return nil, err
		}
		a := &Asked{URL: q.URL, Why: whyAsked(q), Probability: q.Probability, Title: p.Title, Text: printable.Cut(matter(p), textShown)}
		if q.Link != 0 {
			if a, err = linked(s, p, q); err != nil {
				return nil, err
			}
		}
		if a != nil {
			asked = append(asked, *a)
		}
	}
	return asked, nil
}

// linked is a question about a URL that p links to, nil if it does not wait.
func linked(s *store.Store, p *page.Page, q crawler.Question) (*Asked, error) {
	at := slices.IndexFunc(p.Links, func(l page.Link) bool { return page.Key(l.URL) == q.Link })
	if at < 0 {
		return nil, nil
	}
	l := &p.Links[at]
	life, err := s.URLs().Life(l.URL)
	if errors.Is(err, store.ErrUnknown) || err == nil && life.Queued == nil {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &Asked{
		URL: l.URL, Why: whyAsked(q), Probability: q.Probability, Text: printable.Cut(l.Context, textShown),
		Link: &Link{Text: printable.Cut(l.Anchor, textShown), Page: p.URL, Title: p.Title},
	}, nil
}

// explain adds what speaks most for a URL that waits, and most against it.
func explain(asked []Asked, scorer crawler.Scorer) {
	e, ok := scorer.(explainer)
	if !ok {
		return
	}
	for i := range asked {
		if score, ok := e.Explain(asked[i].URL); ok && asked[i].Link != nil {
			asked[i].Why += reasons(score.Terms)
		}
	}
}

// reasons are the strongest of a score's parts, but for what every link begins with.
func reasons(terms []store.Term) string {
	var most, least store.Term
	for _, t := range terms {
		switch {
		case t.Name == "expected" || t.Name == "start" || t.Name == "explored":
		case t.Value > most.Value:
			most = t
		case t.Value < least.Value:
			least = t
		}
	}
	var b strings.Builder
	for _, of := range []struct {
		what string
		term store.Term
	}{{"for it", most}, {"against it", least}} {
		if of.term.Name != "" {
			fmt.Fprintf(&b, "; %s: %s (%s)", of.what, of.term.Name, of.term.Note)
		}
	}
	return b.String()
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

func whyAsked(q crawler.Question) string {
	if q.Link != 0 {
		return "not fetched yet; " + expected(q)
	}
	return expected(q)
}

func expected(q crawler.Question) string {
	return fmt.Sprintf("on topic with probability %.2f; the links to %.0f %% of the next URLs share words with it", q.Probability, 100*q.Reach)
}

// Running asks the crawl that has a store.
type Running struct {
	Dir   string
	Topic string // of which it is asked, where several share the crawl
	Busy  error  // that the store is in use
}

// Ask implements Examiner.
func (r Running) Ask(ctx context.Context, n int) (asked []Asked, err error) {
	query := url.Values{"n": {strconv.Itoa(n)}, "topic": {r.Topic}}
	return asked, Ask(ctx, r.Dir, "/ask?"+query.Encode(), nil, &asked, r.Busy)
}

// Label implements Examiner.
func (r Running) Label(ctx context.Context, labels []Label) (answer LabelAnswer, err error) {
	return answer, Ask(ctx, r.Dir, "/label", LabelRequest{Labels: labels, Topic: r.Topic}, &answer, r.Busy)
}

// Resting asks for a crawl that does not run.
type Resting struct {
	store  *store.Store
	urls   *page.Normalizer
	book   *crawler.Book
	scorer crawler.Scorer
	topic  string
}

// Rest shows a stored crawl to its scorer, which knows then what to ask; topic is as in
// Running. It takes about a millisecond a page.
func Rest(s *store.Store, urls *page.Normalizer, scorer crawler.Scorer, topic string) (*Resting, error) {
	if _, err := topicOf(s, topic); err != nil {
		return nil, err
	}
	counts, err := s.Counts()
	if err != nil {
		return nil, err
	}
	r := &Resting{s, urls, crawler.NewBook(s, urls), scorer, topic}
	learned, err := r.book.Replay(scorer, counts.LastPage())
	if err == nil && counts.Pages > 0 && !learned {
		err = errNoQuestions
	}
	return r, err
}

// Ask implements Examiner.
func (r *Resting) Ask(_ context.Context, n int) ([]Asked, error) {
	return questions(r.store, r.urls, r.scorer, r.topic, n)
}

// Label implements Examiner.
func (r *Resting) Label(_ context.Context, labels []Label) (LabelAnswer, error) {
	said := LabelRequest{Labels: labels, Topic: r.topic}
	marks, err := said.marks(r.store, r.urls)
	if err != nil {
		return LabelAnswer{}, err
	}
	if err := crawler.Put(r.store, marks, time.Now().UnixMilli()); err != nil {
		return LabelAnswer{}, err
	}
	_, marked, err := r.book.Read(marks)
	if err == nil {
		crawler.Tell(r.scorer, marked)
	}
	return LabelAnswer{Labels: said.Labels, Topic: r.topic}, err
}
