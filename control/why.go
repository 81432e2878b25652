package control

import (
	"net/http"
	"time"

	"fossick/crawler"
	"fossick/story"
)

// explainer is a scorer that says what it thinks of a URL now.
type explainer interface {
	Explain(url string) (crawler.Score, bool)
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
	reply(w, r, err)
}
