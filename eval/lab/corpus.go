package lab

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/errgroup"

	"fossick/crawler"
	"fossick/crawler/hosts"
	"fossick/datasets"
	"fossick/internal/page"
)

// Corpus is a stored web in memory: every page is parsed once and shared by all
// crawls. Safe for concurrent use.
type Corpus struct {
	Name string
	Rows []*corpusRow // in the order of the corpus, without those that repeat a URL

	index datasets.Index
	hosts map[string]struct{}
	web   *datasets.Web     // nil when the pages are all there is
	moved map[string]string // redirects, by Key
	gone  map[string]struct{}
	zstd  *zstd.Decoder

	mu     sync.Mutex // guards others
	others map[string]*page.Page
}

type corpusRow struct {
	URL    string     // its Key
	Page   *page.Page // nil where the body is no page
	Labels datasets.Labels

	itself bool // its URL is answered by Page: no redirect or status is in the way

	body  []byte            // compressed
	plain bool              // text, not HTML
	print hosts.Fingerprint // of Page
}

// Load reads a corpus and parses its pages, on all cores. As when the corpus is
// served, a row that has no http URL, or a URL that came before, is left out.
func Load(ctx context.Context, set *datasets.Set) (*Corpus, error) {
	c := &Corpus{
		Name: set.Name(), hosts: map[string]struct{}{},
		moved: map[string]string{}, gone: map[string]struct{}{}, others: map[string]*page.Page{},
	}
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err == nil {
		c.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(0))
	}
	if err != nil {
		return nil, fmt.Errorf("corpus %s: %w", c.Name, err)
	}
	prints := hosts.NewFingerprinter()
	var parsing errgroup.Group
	parsing.SetLimit(runtime.GOMAXPROCS(0))
	var readErr error
	for e, err := range set.Examples() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			readErr = err
			break
		}
		key, err := datasets.Key(e.URL)
		if err != nil || !c.index.Add(key, len(c.Rows)) {
			continue
		}
		row := &corpusRow{URL: key, Labels: datasets.Labels{Label: e.Label, All: e.Labels}, plain: e.HTML == ""}
		c.Rows = append(c.Rows, row)
		c.hosts[page.Host(key)] = struct{}{}
		text := e.HTML + e.Text // one of them is empty
		parsing.Go(func() error {
			row.body = encoder.EncodeAll([]byte(text), nil)
			if row.Page = parse(text, key, row.plain); row.Page != nil {
				row.print = prints.Of(row.Page)
			}
			return nil
		})
	}
	if err := errors.Join(readErr, parsing.Wait()); err != nil {
		return nil, fmt.Errorf("corpus %s: %w", c.Name, err)
	}
	if len(c.Rows) == 0 {
		return nil, fmt.Errorf("corpus %s: no page with an http URL", c.Name)
	}
	c.web = set.Web()
	if err := c.addWeb(); err != nil {
		return nil, err
	}
	for _, row := range c.Rows {
		row.itself = c.search(row.URL).Print == &row.print
	}
	return c, nil
}

func (c *Corpus) addWeb() error {
	if c.web == nil {
		return nil
	}
	for from, to := range c.web.Redirects {
		key, err := datasets.Key(from)
		if err != nil {
			return fmt.Errorf("corpus %s: redirect from %s: %w", c.Name, from, err)
		}
		c.moved[key] = to.To
		c.hosts[page.Host(key)] = struct{}{}
	}
	for at, original := range c.web.Copies {
		if err := c.addCopy(at, original); err != nil {
			return fmt.Errorf("corpus %s: copy at %s: %w", c.Name, at, err)
		}
	}
	for at := range c.web.Status {
		key, err := datasets.Key(at)
		if err != nil {
			return fmt.Errorf("corpus %s: status of %s: %w", c.Name, at, err)
		}
		c.gone[key] = struct{}{}
		c.hosts[page.Host(key)] = struct{}{}
	}
	return nil
}

// addCopy enters a URL at which the page of another stands; that one may be missing.
func (c *Corpus) addCopy(at, original string) error {
	key, err := datasets.Key(at)
	if err != nil {
		return err
	}
	if row, _, ok := c.index.Find(original); ok && c.index.Add(key, row) {
		c.hosts[page.Host(key)] = struct{}{}
	}
	return nil
}

// parse reads a body as it would be served; nil when no page comes of it.
func parse(body, url string, plain bool) *page.Page {
	contentType := "text/html; charset=utf-8"
	if plain {
		contentType = "text/plain; charset=utf-8"
	}
	if len(body) > datasets.MaxPageBytes {
		return nil // a crawl gives up on it
	}
	p, err := page.Parse([]byte(body), page.ParseOptions{URL: url, ContentType: contentType})
	if err != nil {
		return nil
	}
	return p
}

// Answer is the web of a virtual crawl: what datasets/web would send for a URL in
// normal form. Robots.txt is not asked.
func (c *Corpus) Answer(url string) crawler.Answer {
	if n, ok := c.index.Row(url); ok && c.Rows[n].itself {
		return crawler.Answer{Page: c.Rows[n].Page, Print: &c.Rows[n].print}
	}
	return c.search(url)
}

func (c *Corpus) search(url string) crawler.Answer {
	if _, ok := c.hosts[page.Host(url)]; !ok && !c.hasHost(url) {
		return crawler.Answer{DeadHost: true}
	}
	key, err := datasets.Key(url)
	if err != nil {
		return crawler.Answer{}
	}
	for _, k := range [2]string{key, datasets.FlipScheme(key)} {
		if to, ok := c.moved[k]; ok {
			return crawler.Answer{Moved: to}
		}
		if _, ok := c.gone[k]; ok {
			return crawler.Answer{}
		}
	}
	n, moved, ok := c.index.Find(key)
	switch {
	case moved != "":
		return crawler.Answer{Moved: moved}
	case !ok:
		return crawler.Answer{Page: c.trap(key)}
	case c.Rows[n].URL == url:
		return crawler.Answer{Page: c.Rows[n].Page, Print: &c.Rows[n].print}
	}
	return crawler.Answer{Page: c.spelt(n, url), Print: &c.Rows[n].print} // its text is the same
}

// hasHost says whether the other scheme's host of this name is in the corpus: a
// served web answers by either.
func (c *Corpus) hasHost(url string) bool {
	_, ok := c.hosts[page.Host(datasets.FlipScheme(url))]
	return ok
}

// trap makes the page at a URL of an endless space, nil where there is none.
func (c *Corpus) trap(key string) *page.Page {
	if c.web == nil {
		return nil
	}
	for _, t := range c.web.Traps {
		if strings.HasPrefix(key, t.Prefix) {
			if html, ok := t.Page(key); ok {
				return parse(html, key, false)
			}
		}
	}
	return nil
}

// spelt returns a row's page as it is at another spelling of its URL: its relative
// links have that scheme and host.
func (c *Corpus) spelt(n int, url string) *page.Page {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p, ok := c.others[url]; ok {
		return p
	}
	var p *page.Page
	if body, err := c.zstd.DecodeAll(c.Rows[n].body, nil); err == nil { // we compressed it
		p = parse(string(body), url, c.Rows[n].plain)
	}
	c.others[url] = p
	return p
}

// Example returns a row as a training set has it.
func (c *Corpus) Example(n int) *datasets.Example {
	row := c.Rows[n]
	e := &datasets.Example{URL: row.URL, Label: row.Labels.Label, Labels: row.Labels.All, File: c.Name, Line: n + 1}
	body, err := c.zstd.DecodeAll(row.body, nil)
	if err != nil {
		return e // cannot be: we compressed it
	}
	if row.plain {
		e.Text = string(body)
	} else {
		e.HTML = string(body)
	}
	return e
}

// Find returns the row that a URL in normal form asks for, -1 for none.
func (c *Corpus) Find(url string) int {
	key, err := datasets.Key(url)
	if err != nil {
		return -1
	}
	if n, _, ok := c.index.Find(key); ok {
		return n
	}
	return -1
}
