package control

import (
	"context"
	"net/http"
	"time"

	"fossick/crawler"
	"fossick/crawler/story"
)

// explainer is a scorer that says what it thinks of a URL now.
type explainer interface {
	Explain(url string) (crawler.Score, bool)
}

// waiter is an engine that says how a URL stands to what it waits for.
type waiter interface {
	Standing(ctx context.Context, url string) (*crawler.Standing, error)
}

// why is the crawl's end of the verb: the story as the store has it, and the scorer's
// present opinion.
func (c *Socket) why(w http.ResponseWriter, req *http.Request) {
	r, err := story.Of(c.Store, c.URLs, req.URL.Query().Get("url"), time.Now())
	if e, ok := c.Scorer.(explainer); ok && err == nil {
		if now, ok := e.Explain(r.URL); ok {
			r.Now = &story.Score{Value: &now.Value, Terms: now.Terms}
		}
	}
	if w, ok := c.Engine.(waiter); ok && err == nil {
		if s, _ := w.Standing(req.Context(), r.URL); s != nil { // a crawl that has just ended waits no more
			r.Standing(s.Price, s.Wait)
		}
	}
	reply(w, r, err)
}
