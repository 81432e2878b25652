package control

import (
	"net/http"
	"time"

	"fossick/story"
)

// why is the crawl's end of the verb: the story as the store has it, and the scorer's
// present opinion.
func (c *Socket) why(w http.ResponseWriter, req *http.Request) {
	r, err := story.Of(c.Store, c.URLs, req.URL.Query().Get("url"), time.Now())
	if err == nil && c.Explain != nil {
		if now, ok := c.Explain(r.URL); ok {
			r.Now = &story.Score{Value: &now.Value, Terms: now.Terms}
		}
	}
	reply(w, r, err)
}
