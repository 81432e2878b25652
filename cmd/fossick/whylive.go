package main

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"fossick/store"
)

// whyMark is what a person said of a URL.
type whyMark struct {
	Label string    `json:"label"` // yes or no
	At    time.Time `json:"at"`
}

// tellMark says what a person said.
func (r *whyResult) tellMark(l *store.Life) {
	if l.Mark == nil {
		return
	}
	r.Marked = &whyMark{"no", at(l.Mark.At)}
	if l.Mark.OnTopic {
		r.Marked.Label = "yes"
	}
	r.Reasons = append(r.Reasons, fmt.Sprintf("%s at %s, which overrules the model", l.Mark, r.Marked.At.Format(time.DateTime)))
}

// storyOf tells of a URL as a person writes it.
func storyOf(s *store.Store, address string) (*whyResult, error) {
	urls, err := urlsOf(s)
	if err != nil {
		return nil, err
	}
	u, err := addressIn(s, urls, address)
	if err != nil {
		return nil, usageError{fmt.Errorf("%q: %w; give an http or https URL", address, err)}
	}
	return story(s, u)
}

// ask asks the crawl that has the store.
func (c whyCmd) ask(a *app, busy error) error {
	r := &whyResult{}
	if err := askCrawl(a.ctx, c.Store, "/why?url="+url.QueryEscape(c.URL), nil, r, busy); err != nil {
		return err
	}
	return a.emit(r, func(w io.Writer) { r.print(w, c.All) })
}

// why is the crawl's end of the verb: the story as the store has it, and the scorer's
// present opinion.
func (d *door) why(w http.ResponseWriter, req *http.Request) {
	r, err := storyOf(d.store, req.URL.Query().Get("url"))
	if err == nil && d.explain != nil {
		if now, ok := d.explain(r.URL); ok {
			r.Now = &whyScore{&now.Value, now.Terms}
		}
	}
	reply(w, r, err)
}
