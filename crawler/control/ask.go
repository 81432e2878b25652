package control

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"fossick/crawler"
	"fossick/internal/cli"
	"fossick/internal/page"
	"fossick/store"
)

// Asked is a page in a question to a person, stored or not yet fetched.
type Asked struct {
	URL         string  `json:"url"`
	Why         string  `json:"why"`
	Probability float64 `json:"probability"`
	Title       string  `json:"title"`
	Text        string  `json:"text"` // beginning of the page; for a waiting URL the words around the link
	Link        *Link   `json:"link"` // to a waiting URL; null for a stored page
}

// Link is the discovery of a waiting URL.
type Link struct {
	Text  string `json:"text"`
	Page  string `json:"page"`
	Title string `json:"title"` // of that page
}

// Examiner returns a crawl's questions and takes the answers.
type Examiner interface {
	Ask(ctx context.Context, n int) ([]Asked, error)
	Label(ctx context.Context, labels []Label) (LabelAnswer, error)
}

// errNoQuestions reports a crawl whose scores do not learn.
var errNoQuestions = cli.Usagef("--ask needs a crawl with --score learned; the scores of this crawl do not learn from labels")

const (
	maxQuestions = 1000
	textShown    = 400 // runes of a page
)

// Lines describes the page without its URL.
func (a *Asked) Lines() []string {
	if a.Link == nil {
		return []string{a.Title, a.Text, a.Why}
	}
	return []string{fmt.Sprintf("linked as %q on %s, %s", a.Link.Text, a.Link.Page, a.Link.Title), a.Text, a.Why}
}

// CheckQuestions refuses a number that cannot be asked.
func CheckQuestions(n int) error {
	if n < 1 || n > maxQuestions {
		return cli.Usagef("--ask %d: want 1 to %d", n, maxQuestions)
	}
	return nil
}

// ask answers the question for /ask.
func (c *Socket) ask(w http.ResponseWriter, req *http.Request) {
	n, err := strconv.Atoi(req.URL.Query().Get("n"))
	var asked []Asked
	if err == nil {
		asked, err = c.Ask(req.Context(), req.URL.Query().Get("topic"), n)
	}
	reply(w, asked, err)
}

// Ask returns the n pages and links whose labels would change the crawl most.
func (c *Socket) Ask(ctx context.Context, topic string, n int) ([]Asked, error) {
	if err := CheckQuestions(n); err != nil {
		return nil, err
	}
	s, done, err := c.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	return questions(s, c.URLs, c.Scorer, topic, n)
}

// questions returns a scorer's questions for a topic, with their pages.
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
	// Some URLs that a scorer knows wait in no queue, so ask for more until enough remain.
	for most := n; ; most *= 2 {
		all := asker.Ask(most)
		asked, err := askable(s, urls, all, n)
		if err != nil || len(asked) == n || len(all) < most {
			explain(asked, scorer)
			return asked, err
		}
	}
}

// askable returns the first n questions that a person can answer, with the text to show.
func askable(s *store.Store, urls *page.Normalizer, all []crawler.Question, n int) ([]Asked, error) {
	asked := []Asked{}
	for _, q := range all {
		if len(asked) == n {
			break
		}
		p, err := crawler.Parse(s, urls, q.URL)
		if errors.Is(err, store.ErrNoPage) {
			continue // scored and not stored yet
		}
		if err != nil {
			return nil, err
		}
		a := &Asked{URL: q.URL, Why: whyAsked(q), Probability: q.Probability, Title: p.Title, Text: cli.Cut(matter(p), textShown)}
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

// linked returns a question about a URL that p links to; nil if it does not wait.
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
		URL: l.URL, Why: whyAsked(q), Probability: q.Probability, Text: cli.Cut(l.Context, textShown),
		Link: &Link{Text: cli.Cut(l.Anchor, textShown), Page: p.URL, Title: p.Title},
	}, nil
}

// explain adds the strongest reasons for and against a waiting URL.
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

// reasons returns the strongest terms of a score, without those of every link.
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

// matter returns a page's text from the heading that repeats the title: the text before it is
// mostly navigation.
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

// Running asks the crawl that holds a store.
type Running struct {
	Dir   string
	Topic string // of the questions, where several share the crawl
	Busy  error  // the error that the store is in use
}

func (r Running) Ask(ctx context.Context, n int) (asked []Asked, err error) {
	query := url.Values{"n": {strconv.Itoa(n)}, "topic": {r.Topic}}
	return asked, Ask(ctx, r.Dir, "/ask?"+query.Encode(), nil, &asked, r.Busy)
}

func (r Running) Label(ctx context.Context, labels []Label) (answer LabelAnswer, err error) {
	return answer, Ask(ctx, r.Dir, "/label", LabelRequest{Labels: labels, Topic: r.Topic}, &answer, r.Busy)
}

// resting asks for a crawl that is not running.
type resting struct {
	store  *store.Store
	urls   *page.Normalizer
	book   *crawler.Book
	scorer crawler.Scorer
	topic  string
}

// Rest shows a stored crawl to its scorer, which then has questions; topic is as in Running.
// It takes about a millisecond a page.
func Rest(s *store.Store, urls *page.Normalizer, scorer crawler.Scorer, topic string) (*resting, error) {
	if _, err := topicOf(s, topic); err != nil {
		return nil, err
	}
	counts, err := s.Counts()
	if err != nil {
		return nil, err
	}
	r := &resting{s, urls, crawler.NewBook(s, urls), scorer, topic}
	learned, err := r.book.Replay(scorer, counts.LastPage())
	if err == nil && counts.Pages > 0 && !learned {
		err = errNoQuestions
	}
	return r, err
}

func (r *resting) Ask(_ context.Context, n int) ([]Asked, error) {
	return questions(r.store, r.urls, r.scorer, r.topic, n)
}

// Queue returns the n best URLs that wait, by the present scores, and how many wait.
func (r *resting) Queue(n int) ([]Best, int, error) {
	topic, err := topicOf(r.store, r.topic)
	if err != nil {
		return nil, 0, err
	}
	return queueOf(r.store, r.urls, crawler.ScorerOf(r.scorer, topic), n)
}

func (r *resting) Label(_ context.Context, labels []Label) (LabelAnswer, error) {
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

// Interview asks a person about pages, one key an answer. Each answer counts at once, before
// the next question.
type Interview struct {
	Examiner Examiner
	Count    int                          // of questions
	Key      func() (key byte, err error) // waits for a key; io.EOF at the end
	Out      io.Writer
}

// Interviewed is the result of an Interview.
type Interviewed struct {
	Asked   []Asked `json:"asked"`
	Labels  []Label `json:"labels"`
	Skipped int     `json:"skipped"`
	Running bool    `json:"running"`
	Learned bool    `json:"learned"`
}

// Hold asks until Count pages were shown, no question is left, or the person stops.
func (v *Interview) Hold(ctx context.Context) (*Interviewed, error) {
	r := &Interviewed{Asked: []Asked{}, Labels: []Label{}}
	skipped := map[string]bool{}
	for len(r.Asked) < v.Count {
		q, err := v.next(ctx, skipped)
		if err != nil || q == nil {
			return r, err
		}
		v.show(q, len(r.Asked)+1)
		answer, err := v.answer()
		if err != nil {
			return r, err
		}
		switch answer {
		case answerEnd:
			return r, nil
		case answerSkip:
			skipped[q.URL] = true
			r.Skipped++
		default:
			got, err := v.Examiner.Label(ctx, []Label{{URL: q.URL, Label: string(answer)}})
			if err != nil {
				return r, err
			}
			r.Labels = append(r.Labels, got.Labels...)
			r.Running, r.Learned = got.Running, got.Learned
		}
		r.Asked = append(r.Asked, *q)
	}
	return r, nil
}

// next returns the most useful page that was not skipped; nil when there is none.
func (v *Interview) next(ctx context.Context, skipped map[string]bool) (*Asked, error) {
	some, err := v.Examiner.Ask(ctx, len(skipped)+1)
	if err != nil {
		return nil, err
	}
	for _, q := range some {
		if !skipped[q.URL] {
			return &q, nil
		}
	}
	return nil, nil
}

func (v *Interview) show(q *Asked, number int) {
	cli.Fprintf(v.Out, "\n%d of %d  %s\n", number, v.Count, q.URL)
	for _, text := range q.Lines() {
		for _, line := range wrapped(text, lineWidth) {
			cli.Fprintf(v.Out, "  %s\n", line)
		}
	}
}

// lineWidth is the width of a page's text in characters.
const lineWidth = 76

func wrapped(text string, width int) (lines []string) {
	line, room := "", 0
	for _, word := range strings.Fields(text) {
		if n := utf8.RuneCountInString(word) + 1; line != "" && n <= room {
			line, room = line+" "+word, room-n
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		line, room = word, width-utf8.RuneCountInString(word)
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

type answer string

const (
	answerYes  answer = "yes"
	answerNo   answer = "no"
	answerSkip answer = "skip"
	answerEnd  answer = "end"
)

// answer waits for a valid key.
func (v *Interview) answer() (answer, error) {
	io.WriteString(v.Out, "on topic? y yes, n no, s skip, q end: ")
	for {
		key, err := v.Key()
		if err == io.EOF {
			return v.said(answerEnd), nil
		}
		if err != nil {
			return answerEnd, err
		}
		if a, known := answers[key]; known {
			return v.said(a), nil
		}
	}
}

func (v *Interview) said(a answer) answer {
	io.WriteString(v.Out, string(a)+"\n")
	return a
}

// answers maps keys, including those that end a program at a terminal.
var answers = map[byte]answer{
	'y': answerYes, 'Y': answerYes, 'n': answerNo, 'N': answerNo, 's': answerSkip, 'S': answerSkip, ' ': answerSkip,
	'q': answerEnd, 'Q': answerEnd, 'c' & 0x1f: answerEnd, 'd' & 0x1f: answerEnd, 0x1b: answerEnd,
}

// Print writes the result.
func (r *Interviewed) Print(w io.Writer) {
	cli.Fprintf(w, "\n%d labelled, %d skipped\n", len(r.Labels), r.Skipped)
	switch {
	case len(r.Labels) == 0:
	case r.Running:
		io.WriteString(w, "the running crawl has applied them\n")
	default:
		io.WriteString(w, "kept; no crawl is running. A resumed crawl learns from them\n")
	}
}

// topicOf returns a topic's place among those that share the crawl, from 1; 0 for a crawl of
// one topic, which need not be named.
func topicOf(s *store.Store, name string) (int, error) {
	names, all := s.Info().Topics, strings.Join(s.Info().Topics, ", ")
	switch i := slices.Index(names, name); {
	case len(names) == 0 && (name == "" || name == s.Info().Topic):
		return 0, nil
	case len(names) == 0:
		return 0, cli.Usagef("--topic %s: this crawl's topic is %s; leave --topic out", name, s.Info().Topic)
	case name == "":
		return 0, cli.Usagef("this crawl has the topics %s; give the topic of the label with --topic NAME", all)
	case i < 0:
		return 0, cli.Usagef("--topic %s: this crawl has the topics %s; give one of them", name, all)
	default:
		return i + 1, nil
	}
}
