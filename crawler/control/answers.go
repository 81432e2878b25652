package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"fossick/crawler"
	"fossick/crawler/story"
	"fossick/internal/cli"
	"fossick/internal/page"
	"fossick/store"
)

// Label is one URL with its label.
type Label struct {
	URL   string `json:"url"`
	Label string `json:"label"` // yes, no, or none to take back an earlier one
}

// none takes a label back.
const none = "none"

// Check refuses what is no label.
func (l Label) Check() error {
	if l.Label != "yes" && l.Label != "no" && l.Label != none {
		return cli.Usagef("%.200s: label %.20q; want yes, no, or none to take a label back", l.URL, l.Label)
	}
	return nil
}

// LabelRequest is a request to a running crawl.
type LabelRequest struct {
	Labels []Label `json:"labels"`
	Topic  string  `json:"topic,omitempty"` // for the labels, where several topics share the crawl
}

// LabelAnswer is the answer to a LabelRequest.
type LabelAnswer struct {
	Labels  []Label `json:"labels"` // in normal form
	Topic   string  `json:"topic,omitempty"`
	Running bool    `json:"running"`
	Learned bool    `json:"learned"` // the scores change; without a running crawl at the resume
}

// marks turns labels into marks of normalised URLs, and normalises the labels.
func (r *LabelRequest) marks(s *store.Store, urls *page.Normalizer) ([]crawler.Mark, error) {
	topic, err := topicOf(s, r.Topic)
	if err != nil {
		return nil, err
	}
	marks := make([]crawler.Mark, len(r.Labels))
	for i, l := range r.Labels {
		u, err := story.Address(s, urls, l.URL)
		if err != nil {
			return nil, cli.Usagef("%q: %w; give an http or https URL", l.URL, err)
		}
		r.Labels[i].URL, marks[i] = u, crawler.Mark{URL: u, OnTopic: l.Label == "yes", Gone: l.Label == none, Topic: topic}
	}
	return marks, nil
}

// LabelStored writes labels into a store without a running crawl.
func LabelStored(s *store.Store, urls *page.Normalizer, r LabelRequest) (LabelAnswer, error) {
	marks, err := r.marks(s, urls)
	if err != nil {
		return LabelAnswer{}, err
	}
	return LabelAnswer{Labels: r.Labels, Topic: r.Topic}, crawler.Put(s, marks, time.Now().UnixMilli())
}

// label answers POST /label.
func (c *Socket) label(w http.ResponseWriter, req *http.Request) {
	const most = 64 << 20 // bytes; a million labels
	var asked LabelRequest
	if err := json.NewDecoder(http.MaxBytesReader(w, req.Body, most)).Decode(&asked); err != nil {
		reply(w, nil, fmt.Errorf("labels: %w; give fewer at once", err))
		return
	}
	answer, err := c.Label(req.Context(), asked)
	reply(w, answer, err)
}

// Label takes in labels of the crawl's URLs.
func (c *Socket) Label(ctx context.Context, r LabelRequest) (*LabelAnswer, error) {
	s, done, err := c.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	marks, err := r.marks(s, c.URLs)
	if err != nil {
		return nil, err
	}
	moves, err := c.Engine.Mark(ctx, marks)
	if errors.Is(err, crawler.ErrEnded) {
		err = fmt.Errorf("%w; run the command again", err)
	}
	return &LabelAnswer{Labels: r.Labels, Topic: r.Topic, Running: true, Learned: moves}, err
}

// ReadLabels reads lines of url TAB yes|no|none; it skips empty lines and comments.
func ReadLabels(r io.Reader, name string) ([]Label, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("--from %s: %w", name, err)
	}
	var labels []Label
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		url, label, _ := strings.Cut(line, "\t")
		l := Label{URL: strings.TrimSpace(url), Label: strings.TrimSpace(label)}
		if l.Check() != nil {
			return nil, cli.Usagef("--from %s, line %d: %q; want a URL, a tab, and yes, no or none", name, n, cli.Cut(line, 100))
		}
		labels = append(labels, l)
	}
	if len(labels) == 0 {
		return nil, cli.Usagef("--from %s: no line has a URL, a tab, and yes or no", name)
	}
	return labels, nil
}

// ForgetRequest names the pages that a running crawl must forget.
type ForgetRequest struct {
	Pages string `json:"pages"` // a URL, a host, or a prefix of URLs and *
}

// ForgetAnswer is the answer to a ForgetRequest.
type ForgetAnswer struct {
	Pages   uint64 `json:"pages"` // that lost their content
	Pattern string `json:"pattern"`
	Store   string `json:"store"`
}

// forgetting is a request whose client waits.
type forgetting struct {
	pattern string
	done    chan fulfilled // buffered for the one answer
}

type fulfilled struct {
	pages uint64
	err   error
}

// CheckForget refuses a text that names no pages, before a store is opened.
func CheckForget(text string) error {
	if strings.Trim(text, "*/ ") == "" {
		return cli.Usagef("give a URL, a host, or the beginning of URLs and *")
	}
	return nil
}

// ForgetPattern returns the pattern in the store's form; urls is the normal form of its crawl.
func ForgetPattern(s *store.Store, urls *page.Normalizer, text string) (string, error) {
	if err := CheckForget(text); err != nil {
		return "", err
	}
	if !strings.ContainsAny(text, "/*") {
		host := page.Host("http://" + strings.ToLower(text) + "/")
		if _, err := page.Normalize("http://" + text + "/"); err != nil || host == "" {
			return "", cli.Usagef("%q: want a host as example.org, or a URL", text)
		}
		return strings.ToLower(text), nil
	}
	address, prefix := strings.CutSuffix(text, "*")
	u, err := story.Address(s, urls, address)
	if err != nil {
		return "", cli.Usagef("%q: %v; want a URL, its beginning and *, or a host", text, err)
	}
	_, pattern, _ := strings.Cut(u, ":")
	if prefix {
		pattern += "*"
	}
	return pattern, nil
}

// errEndsFirst answers a waiting client when the crawl ends for another reason.
var errEndsFirst = errors.New("the crawl ended before the pages were deleted from the disk; the request is kept, and the next command that opens the store completes it")

// errNoStore answers when the crawl could not reopen its store.
var errNoStore = fmt.Errorf("%w with an error; run the command again", crawler.ErrEnded)

// forget answers POST /forget.
func (c *Socket) forget(w http.ResponseWriter, req *http.Request) {
	const most = 64 << 10 // bytes
	var asked ForgetRequest
	if err := json.NewDecoder(http.MaxBytesReader(w, req.Body, most)).Decode(&asked); err != nil {
		reply(w, nil, fmt.Errorf("pages to forget: %w", err))
		return
	}
	answer, err := c.await(req.Context(), asked.Pages)
	reply(w, answer, err)
}

// await passes a request to the crawl and waits until it is fulfilled.
func (c *Socket) await(ctx context.Context, text string) (*ForgetAnswer, error) {
	for {
		f, next, err := c.request(ctx, text)
		if err == nil {
			return c.awaitDone(ctx, f)
		}
		if !errors.Is(err, crawler.ErrEnded) {
			return nil, err
		}
		select { // the session may have ended for another request
		case <-next:
		case <-c.ending:
			return nil, fmt.Errorf("%w; run the command again", err)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// request passes a request to the present session; next is closed when another session
// follows.
func (c *Socket) request(ctx context.Context, text string) (f forgetting, next <-chan struct{}, err error) {
	c.session.RLock()
	defer c.session.RUnlock()
	if c.Store == nil {
		return f, nil, errNoStore
	}
	f = forgetting{done: make(chan fulfilled, 1)}
	if f.pattern, err = ForgetPattern(c.Store, c.URLs, text); err != nil {
		return f, nil, err
	}
	c.mu.Lock()
	c.forgetting = append(c.forgetting, f) // first: the session may end at once
	c.mu.Unlock()
	return f, c.pausing, c.Engine.Forget(ctx, f.pattern)
}

func (c *Socket) awaitDone(ctx context.Context, f forgetting) (*ForgetAnswer, error) {
	select {
	case r := <-f.done:
		return f.answer(r)
	case <-ctx.Done():
		return nil, ctx.Err() // no client reads it
	case <-c.ending:
	}
	select {
	case r := <-f.done: // just before
		return f.answer(r)
	default:
		return nil, errEndsFirst
	}
}

func (f forgetting) answer(r fulfilled) (*ForgetAnswer, error) {
	return &ForgetAnswer{Pages: r.pages, Pattern: f.pattern}, r.err
}

// Pause waits for answers in progress and holds back new questions, since the session has
// ended and its store closes. It cuts off copies of the store.
func (c *Socket) Pause() {
	close(c.pausing)
	c.session.Lock()
}

// Resume answers again after Pause, from the crawl's next session.
func (c *Socket) Resume(s *store.Store, engine engine, scorer crawler.Scorer) {
	c.Store, c.Engine, c.Scorer = s, engine, scorer
	c.pausing = make(chan struct{})
	c.session.Unlock()
}

// Fulfilled gives waiting clients the result of store.Fulfil.
func (c *Socket) Fulfilled(pages map[string]uint64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.forgetting {
		f.done <- fulfilled{pages[f.pattern], err}
	}
	c.forgetting = nil
}

// Open returns the store of the crawl's present session, which waits for done before it ends. Between
// two sessions Open waits.
func (c *Socket) Open(context.Context) (s *store.Store, done func() error, err error) {
	c.session.RLock()
	if c.Store == nil {
		c.session.RUnlock()
		return nil, nil, errNoStore
	}
	return c.Store, func() error { c.session.RUnlock(); return nil }, nil
}

// Ended is closed when the crawl ends.
func (c *Socket) Ended() <-chan struct{} { return c.ending }

// Pausing is closed when the session is about to end. Only who has the store by Open may ask.
func (c *Socket) Pausing() <-chan struct{} { return c.pausing }

// explainer is a scorer that explains its present score of a URL.
type explainer interface {
	Explain(url string) (crawler.Score, bool)
}

// waiter is an engine that says how a URL stands to what it waits for.
type waiter interface {
	Standing(ctx context.Context, url string) (*crawler.Standing, error)
}

// why answers GET /why.
func (c *Socket) why(w http.ResponseWriter, req *http.Request) {
	r, err := c.Story(req.Context(), req.URL.Query().Get("url"))
	reply(w, r, err)
}

// Story returns the story of a URL as the store has it, and the scorer's present opinion.
func (c *Socket) Story(ctx context.Context, url string) (*story.Story, error) {
	s, done, err := c.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	r, err := story.Of(s, c.URLs, url, time.Now())
	if e, ok := c.Scorer.(explainer); ok && err == nil {
		if now, ok := e.Explain(r.URL); ok {
			r.Now = &story.Score{Value: &now.Value, Terms: now.Terms}
		}
	}
	if w, ok := c.Engine.(waiter); ok && err == nil {
		if s, _ := w.Standing(ctx, r.URL); s != nil { // a crawl that has just ended waits no more
			r.Standing(s.Price, s.Wait, s.File)
		}
	}
	return r, err
}
