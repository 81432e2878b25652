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

// Corpus is a stored web in memory; all crawls share its parsed pages. Safe for concurrent use.
type Corpus struct {
	Name string
	Rows []*corpusRow // in corpus order, without repeated URLs

	index datasets.Index
	hosts map[string]struct{}
	web   *datasets.Web     // nil when the corpus has pages only
	moved map[string]string // redirect targets by Key
	gone  map[string]struct{}
	zstd  *zstd.Decoder

	mu     sync.Mutex // guards others
	others map[string]*page.Page
}

type corpusRow struct {
	URL    string
	Page   *page.Page // nil when the body cannot be parsed
	Labels datasets.Labels

	itself bool // Answer sends Page for this URL: no redirect or status comes first

	body  []byte // compressed
	plain bool   // text, not HTML
	print hosts.Fingerprint
}

// Load reads a corpus and parses its pages on all cores. It skips rows without an http URL and repeated URLs.
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

// parse parses a body as it would be served; nil when it is unparsable or too large.
func parse(body, url string, plain bool) *page.Page {
	contentType := "text/html; charset=utf-8"
	if plain {
		contentType = "text/plain; charset=utf-8"
	}
	if len(body) > datasets.MaxPageBytes {
		return nil // a crawl would give up on it
	}
	p, err := page.Parse([]byte(body), page.ParseOptions{URL: url, ContentType: contentType})
	if err != nil {
		return nil
	}
	return p
}

// Answer returns what datasets/web would send for a normalised URL, without robots.txt.
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
	return crawler.Answer{Page: c.spelt(n, url), Print: &c.Rows[n].print} // another spelling has the same text
}

// hasHost reports whether the corpus has the host under the other scheme: a served web answers both.
func (c *Corpus) hasHost(url string) bool {
	_, ok := c.hosts[page.Host(datasets.FlipScheme(url))]
	return ok
}

// trap generates the page of a URL in an endless URL space; nil outside of any.
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

// spelt returns a row's page at another spelling of its URL, with relative links resolved there.
func (c *Corpus) spelt(n int, url string) *page.Page {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p, ok := c.others[url]; ok {
		return p
	}
	var p *page.Page
	if body, err := c.zstd.DecodeAll(c.Rows[n].body, nil); err == nil { // cannot fail: we compressed it
		p = parse(string(body), url, c.Rows[n].plain)
	}
	c.others[url] = p
	return p
}

// example returns a row as a training example.
func (c *Corpus) example(n int) *datasets.Example {
	row := c.Rows[n]
	e := &datasets.Example{URL: row.URL, Label: row.Labels.Label, Labels: row.Labels.All, File: c.Name, Line: n + 1}
	body, err := c.zstd.DecodeAll(row.body, nil)
	if err != nil {
		return e // cannot happen: we compressed it
	}
	if row.plain {
		e.Text = string(body)
	} else {
		e.HTML = string(body)
	}
	return e
}

// Find returns the row of a normalised URL; -1 for none.
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
