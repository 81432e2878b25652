package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"fossick/crawlplan"
	"fossick/internal/printable"
	"fossick/page"
	"fossick/search"
	"fossick/store"
	"fossick/story"
)

type forgetCmd struct {
	Pages string `arg:"" name:"url|host|prefix" help:"A page, all pages of a host, or with * at its end all URLs that begin so."`
	Store string `required:"" placeholder:"DIR" help:"Folder of the crawl's store; no crawl may be running."`
}

func (forgetCmd) Help() string {
	return `Deletes what the store holds of pages, on their owner's request: bodies, titles, words, labels' reasons, the search index. It is gone from the disk when the verb ends. The URLs, when they were fetched and their links stay, as a record of what the crawl did, and the request itself, without who asked. A crawl that is resumed does not ask for these pages again. After an interruption run it again.

Not found by it: copies of the store, exports, what repair put into the folder quarantine, and words around links to other pages that their scores quote.

Examples:
  fossick forget http://example.org/private.html --store fossick-banking
  fossick forget 'http://example.org/people/*' --store fossick-banking
  fossick forget example.org --store fossick-banking`
}

type forgetResult struct {
	Pages   uint64 `json:"pages"`
	Pattern string `json:"pattern"`
	Store   string `json:"store"`
}

func (c forgetCmd) Run(a *app) error {
	if strings.Trim(c.Pages, "*/ ") == "" {
		return usagef("name a URL, a host, or the beginning of URLs and *")
	}
	s, err := store.Open(c.Store)
	if errors.Is(err, store.ErrBusy) {
		return fmt.Errorf("%w; stop the crawl first, and resume it afterwards: what is forgotten must leave the disk, and a crawl cannot do that", err)
	}
	if err != nil {
		return err
	}
	r := forgetResult{Store: c.Store}
	if r.Pattern, err = c.pattern(s); err == nil {
		end := a.step("deleting")
		r.Pages, err = store.ForgetPages(a.ctx, s, r.Pattern, time.Now().UnixMilli())
		end()
	}
	if err = errors.Join(err, s.Close()); err != nil {
		return err
	}
	if err := search.Remove(c.Store); err != nil {
		return err
	}
	defer a.step("writing the disk anew")()
	if err := store.Purge(a.ctx, c.Store); err != nil {
		return fmt.Errorf("the pages are forgotten, but still on disk: %w; run it again", err)
	}
	return a.emit(r, r.print)
}

// pattern is what is to be forgotten, as the store keeps it.
func (c forgetCmd) pattern(s *store.Store) (string, error) {
	if !strings.ContainsAny(c.Pages, "/*") {
		host := page.Host("http://" + strings.ToLower(c.Pages) + "/")
		if _, err := page.Normalize("http://" + c.Pages + "/"); err != nil || host == "" {
			return "", usagef("%q: want a host as example.org, or a URL", c.Pages)
		}
		return strings.ToLower(c.Pages), nil
	}
	address, prefix := strings.CutSuffix(c.Pages, "*")
	urls, err := crawlplan.URLs(s)
	if err != nil {
		return "", err
	}
	u, err := story.Address(s, urls, address)
	if err != nil {
		return "", usagef("%q: %v; want a URL, its beginning and *, or a host", c.Pages, err)
	}
	_, pattern, _ := strings.Cut(u, ":")
	if prefix {
		pattern += "*"
	}
	return pattern, nil
}

func (r forgetResult) print(w io.Writer) {
	printable.Fprintf(w, "%d pages forgotten, and gone from the disk\na resumed crawl asks for none of them; exports and copies of the store made before still have them\n", r.Pages)
}
