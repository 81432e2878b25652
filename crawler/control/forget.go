package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"fossick/crawler"
	"fossick/crawler/story"
	"fossick/internal/page"
	"fossick/internal/usage"
	"fossick/store"
)

// ForgetRequest names what a running crawl is to forget, as a person writes it.
type ForgetRequest struct {
	Pages string `json:"pages"` // a URL, a host, or the beginning of URLs and *
}

// ForgetAnswer is what came of a request to forget pages.
type ForgetAnswer struct {
	Pages   uint64 `json:"pages"` // that lost their content
	Pattern string `json:"pattern"`
	Store   string `json:"store"`
}

// forgetting is a request to forget pages that somebody waits for.
type forgetting struct {
	pattern string
	done    chan fulfilled // has room for the one answer
}

type fulfilled struct {
	pages uint64
	err   error
}

// CheckForget refuses what names no pages, before any store is looked at.
func CheckForget(text string) error {
	if strings.Trim(text, "*/ ") == "" {
		return usage.Errorf("give a URL, a host, or the beginning of URLs and *")
	}
	return nil
}

// ForgetPattern returns what is to be forgotten, as the store keeps it; urls are the normal
// form by which its crawl knows URLs.
func ForgetPattern(s *store.Store, urls *page.Normalizer, text string) (string, error) {
	if err := CheckForget(text); err != nil {
		return "", err
	}
	if !strings.ContainsAny(text, "/*") {
		host := page.Host("http://" + strings.ToLower(text) + "/")
		if _, err := page.Normalize("http://" + text + "/"); err != nil || host == "" {
			return "", usage.Errorf("%q: want a host as example.org, or a URL", text)
		}
		return strings.ToLower(text), nil
	}
	address, prefix := strings.CutSuffix(text, "*")
	u, err := story.Address(s, urls, address)
	if err != nil {
		return "", usage.Errorf("%q: %v; want a URL, its beginning and *, or a host", text, err)
	}
	_, pattern, _ := strings.Cut(u, ":")
	if prefix {
		pattern += "*"
	}
	return pattern, nil
}

// errEndsFirst is the answer to who waits when the crawl ends for another reason.
var errEndsFirst = errors.New("the crawl ended before the pages were deleted from the disk; the request is kept, and the next command that opens the store completes it")

// errNoStore is the answer of a crawl that ends because its store could not be opened again.
var errNoStore = fmt.Errorf("%w with an error; run the command again", crawler.ErrEnded)

// forget is the crawl's end of the verb.
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

// await hands a request to the crawl and waits until it is fulfilled.
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

// request asks the session of the moment; next is closed when there is to be another.
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
		return nil, ctx.Err() // nobody reads it
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

// Pause waits for the answers under way and holds back those to come: the crawl's session
// has ended, and its store is about to be closed. Copies of the store are cut off.
func (c *Socket) Pause() {
	close(c.pausing)
	c.session.Lock()
}

// Resume answers again, after Pause, from the next session of the crawl.
func (c *Socket) Resume(s *store.Store, engine Engine, scorer crawler.Scorer) {
	c.Store, c.Engine, c.Scorer = s, engine, scorer
	c.pausing = make(chan struct{})
	c.session.Unlock()
}

// Fulfilled tells who waits what store.Fulfil came to.
func (c *Socket) Fulfilled(pages map[string]uint64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.forgetting {
		f.done <- fulfilled{pages[f.pattern], err}
	}
	c.forgetting = nil
}

// answering holds a question back while the crawl has no session.
func (c *Socket) answering(answer http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		c.session.RLock()
		defer c.session.RUnlock()
		if c.Store == nil {
			reply(w, nil, errNoStore)
			return
		}
		answer(w, req)
	}
}
