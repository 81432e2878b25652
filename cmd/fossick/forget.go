package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"fossick/control"
	"fossick/crawlplan"
	"fossick/internal/printable"
	"fossick/store"
)

type forgetCmd struct {
	Pages string `arg:"" name:"url|host|prefix" help:"A page, all pages of a host, or with * at its end all URLs that begin so."`
	Store string `required:"" placeholder:"DIR" help:"Folder of the crawl's store; a crawl may be running."`
}

func (forgetCmd) Help() string {
	return `Deletes what the store holds of pages, on their owner's request: bodies, titles, words, labels' reasons, the search index. It is gone from the disk when the verb ends. The URLs, when they were fetched and their links stay, as a record of what the crawl did, and the request itself, without who asked. No crawl asks for these pages again. After an interruption the next command that opens the store goes on with it.

A running crawl makes a pause for it: it lets go of its store, and goes on when the pages are off the disk.

Not found by it: copies of the store, exports, what repair put into the folder quarantine, and words around links to other pages that their scores quote.

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
			printable.Fprintf(w, "no stored page is called %s; crawls of this store will not ask for it\n", c.Pages)
			if !strings.HasSuffix(c.Pages, "*") && strings.Contains(c.Pages, "/") {
				printable.Fprintf(w, "all URLs that begin so are '%s*'\n", c.Pages)
			}
			return
		}
		printable.Fprintf(w, "%d pages forgotten, and gone from the disk\nno crawl asks for them again; exports and copies of the store made before still have them\n", r.Pages)
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
	urls, err := crawlplan.URLs(s)
	if err == nil {
		r.Pattern, err = control.ForgetPattern(s, urls, c.Pages)
	}
	if err == nil {
		err = store.KeepForget(s, r.Pattern, time.Now().UnixMilli())
	}
	if err != nil {
		return r, errors.Join(err, s.Close())
	}
	defer a.step("deleting, and writing the disk anew")()
	s, pages, err := store.Fulfil(a.ctx, s)
	r.Pages = pages[r.Pattern]
	if err != nil {
		err = fmt.Errorf("%w; the request is kept, and the next command that opens the store goes on", err)
	}
	if s != nil {
		err = errors.Join(err, s.Close())
	}
	return r, err
}
