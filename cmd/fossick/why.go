package main

import (
	"errors"
	"io"
	"net/url"
	"time"

	"fossick/crawler/control"
	"fossick/crawler/plan"
	"fossick/crawler/story"
	"fossick/store"
)

type whyCmd struct {
	URL   string `arg:"" name:"url" help:"The URL to ask about."`
	Store string `required:"" placeholder:"DIR" help:"Folder of the crawl's store."`
	All   bool   `help:"Print all parts of the score, not only those with the most weight."`
}

func (c whyCmd) Run(a *app) (err error) {
	s, err := store.OpenToRead(c.Store)
	if errors.Is(err, store.ErrBusy) {
		return c.ask(a, err)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Damaged(), s.Close()) }()
	r, err := storyOf(s, c.URL)
	if err != nil {
		return err
	}
	return a.emit(r, func(w io.Writer) { r.Print(w, c.All) })
}

// ask gets the story from the crawl that has the store open.
func (c whyCmd) ask(a *app, busy error) error {
	r := &story.Story{}
	if err := control.Ask(a.ctx, c.Store, "/why?url="+url.QueryEscape(c.URL), nil, r, busy); err != nil {
		return err
	}
	return a.emit(r, func(w io.Writer) { r.Print(w, c.All) })
}

func (whyCmd) Help() string {
	return `Tells the history of one URL: its outcome and the main reason, the page that led to it, its score and the reasons, and each event.

Examples:
  fossick why http://example.org/loans --store fossick-banking
  fossick why http://example.org/loans --store fossick-banking --all`
}

// storyOf returns the story of a URL as a person types it.
func storyOf(s *store.Store, address string) (*story.Story, error) {
	urls, err := plan.URLs(s)
	if err != nil {
		return nil, err
	}
	return story.Of(s, urls, address, time.Now())
}
