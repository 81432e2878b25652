package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"fossick/crawler/control"
	"fossick/crawler/plan"
	"fossick/internal/cli"
	"fossick/store"
)

type forgetCmd struct {
	Pages string `arg:"" name:"url|host|prefix" help:"A URL, a host for all its pages, or the beginning of URLs with * at its end."`
	Store string `required:"" placeholder:"DIR" help:"Folder of the crawl's store; a crawl may be running."`
}

func (forgetCmd) Help() string {
	return `Deletes pages from the store at their owner's request: bodies, titles, words, reasons of labels, and their part of the search index. They are gone from the disk when the command ends. Their URLs, fetch times and links stay as a record of the crawl, and so does the request, without the name of its sender. No crawl of this store fetches these pages again. If the deletion is interrupted, the next command that opens the store completes it.

A running crawl pauses, closes its store, and continues when the pages are off the disk.

It does not reach copies of the store, exports, the folder quarantine that repair makes, or words around links to other pages that the scores of those pages quote.

Examples:
  fossick forget http://example.org/private.html --store fossick-banking
  fossick forget 'http://example.org/people/*' --store fossick-banking
  fossick forget example.org --store fossick-banking`
}

func (c forgetCmd) Run(a *app) error {
	r, err := c.forget(a)
	if err != nil {
		return err
	}
	r.Store = c.Store
	return a.emit(r, func(w io.Writer) {
		if r.Pages == 0 {
			cli.Fprintf(w, "no stored page matches %s; crawls of this store will not fetch it\n", c.Pages)
			if !strings.HasSuffix(c.Pages, "*") && strings.Contains(c.Pages, "/") {
				cli.Fprintf(w, "to forget all URLs with this beginning, give '%s*'\n", c.Pages)
			}
			return
		}
		cli.Fprintf(w, "%d pages forgotten, and gone from the disk\nno crawl of this store will fetch them again; earlier exports and copies of the store still have them\n", r.Pages)
	})
}

func (c forgetCmd) forget(a *app) (r control.ForgetAnswer, err error) {
	if err := control.CheckForget(c.Pages); err != nil {
		return r, err
	}
	s, err := store.Open(c.Store)
	if errors.Is(err, store.ErrBusy) {
		defer a.step("waiting until the crawl has deleted them")()
		return r, control.Ask(a.ctx, c.Store, "/forget", control.ForgetRequest{Pages: c.Pages}, &r, err)
	}
	if err != nil {
		return r, err
	}
	urls, err := plan.URLs(s)
	if err == nil {
		r.Pattern, err = control.ForgetPattern(s, urls, c.Pages)
	}
	if err == nil {
		err = store.KeepForget(s, r.Pattern, time.Now().UnixMilli())
	}
	if err != nil {
		return r, errors.Join(err, s.Close())
	}
	defer a.step("deleting pages and rewriting the files")()
	s, pages, err := store.Fulfil(a.ctx, s)
	r.Pages = pages[r.Pattern]
	if err != nil {
		err = fmt.Errorf("%w; the request is kept, and the next command that opens the store completes it", err)
	}
	if s != nil {
		err = errors.Join(err, s.Close())
	}
	return r, err
}
