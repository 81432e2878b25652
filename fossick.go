// Package fossick crawls the web in order of relevance to a topic, from a program. Crawl runs a
// crawl; a Scorer of your own replaces the built-in order. Open reads what a crawl has stored,
// Train and Model label pages. This package's names are stable; those of other packages in the
// module may change.
package fossick

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math"
	"net/netip"
	"sync/atomic"
	"time"

	"fossick/classify"
	"fossick/crawler"
	"fossick/crawler/fetch"
	"fossick/crawler/plan"
	"fossick/datasets"
	"fossick/graph/orders"
	"fossick/internal/page"
	"fossick/models"
	"fossick/models/features"
	"fossick/store"
	"fossick/train"
)

// Options of a crawl: its topic, where it begins and when it ends. One of Topic, Keywords and
// Scorer is required, and Contact for the public web.
type Options struct {
	Topic    string   // a built-in topic, or a folder made by fossick topic new
	Keywords []string // words and phrases of a topic without a model
	Scorer   Scorer   // scores pages and links instead of the topic's model
	Seeds    []string // start pages [the topic's]
	Store    string   // folder of the crawl [fossick-TOPIC]; an existing crawl is continued

	MaxPages uint64         // pages to store [1000]
	MaxTime  time.Duration  // of this session [no limit]
	Workers  int            // simultaneous exchanges, never two with one host [32]
	Delay    time.Duration  // of a host after each exchange [ten times its response time]; negative: none
	Contact  string         // mail address or URL where site owners can reach you
	Proxy    string         // URL of a proxy that carries all requests
	AllowNet []netip.Prefix // private networks that the crawl may enter

	Log *slog.Logger // [silent]
}

// Page is a fetched page.
type Page struct {
	URL   string // normalised
	Title string
	Text  string // visible text, one block per line
	Lang  string // "en", or "" if unknown
	Links []Link // in page order
	Score Score  // set for a page in a Store
}

type Link struct {
	URL     string
	Anchor  string // its text
	Context string // the words around it
}

// Score tells how far a page is on topic.
type Score struct {
	Value    float64 // degree of relevance, in [0, 1]
	Relevant bool    // on topic: counts for the harvest
	Label    string  // "" if no model labels pages
}

// Scorer orders a crawl. It must be safe for concurrent use.
type Scorer interface {
	// ScorePage scores a page. parent is the Value of the page whose link led here, or 1 for a
	// start page.
	ScorePage(p *Page, parent float64) Score
	// ScoreLinks scores each of p.Links in [0, 1]; the highest is fetched first.
	ScoreLinks(p *Page, s Score) []float64
}

// Result is the result of a crawl over all its sessions.
type Result struct {
	Store    string // folder, for Open
	Pages    uint64 // stored
	Relevant uint64 // stored pages on topic
	Stopped  string // why the session ended: max_pages, max_time, frontier_empty, interrupted, …
}

// Crawl crawls until MaxPages pages are stored, nothing is left, or ctx ends, which is no error.
// Calling it again with the same options continues the crawl.
func Crawl(ctx context.Context, opt Options) (_ *Result, err error) {
	c := opt.crawl()
	if err := c.NameStore(); err != nil {
		return nil, err
	}
	var s *store.Store
	if c.Resume = store.Exists(c.Store); c.Resume {
		if s, err = store.OpenWhenFree(ctx, c.Store); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		if _, err := c.Recall(s); err != nil {
			return nil, err
		}
	}
	c.Rendering = plan.Rendering{} // a program runs no browser
	plan, err := c.Plan(plan.Program{Seed: 1, Log: opt.log(), Say: func(string, ...any) {}})
	if err != nil {
		return nil, err
	}
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var scoring atomic.Pointer[error]
	if err := opt.score(&plan.Crawl, func(err error) { scoring.Store(&err); fail(err) }); err != nil {
		return nil, err
	}
	fetcher, err := fetch.New(plan.Fetch)
	if err != nil {
		return nil, err
	}
	defer fetcher.Close()
	if s == nil {
		if s, err = store.Create(c.Store, store.Info{Topic: c.Topic}); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
	}
	if err := c.Keep(s, plan); err != nil {
		return nil, err
	}
	plan.Crawl.Store, plan.Crawl.Fetcher = s, fetcher
	engine, err := crawler.New(plan.Crawl)
	if err != nil {
		return nil, err
	}
	r, err := engine.Run(ctx)
	if failed := scoring.Load(); failed != nil {
		err = errors.Join(*failed, err)
	}
	return &Result{c.Store, r.Counts.Pages, r.Counts.Relevant, string(r.Stopped)}, err
}

// crawl returns the crawl as the command line would request it.
func (o *Options) crawl() *plan.Crawl {
	c := &plan.Crawl{Topic: o.Topic, Store: o.Store}
	c.Keywords, c.Seed, c.MaxPages, c.MaxTime = o.Keywords, o.Seeds, o.MaxPages, o.MaxTime
	c.Workers, c.Contact, c.Proxy = o.Workers, o.Contact, o.Proxy
	for _, net := range o.AllowNet {
		c.AllowNet = append(c.AllowNet, net.String())
	}
	switch {
	case o.Delay > 0:
		c.Delay = o.Delay.String()
	case o.Delay < 0:
		c.Delay = "0"
	}
	if o.Scorer != nil && len(c.Keywords) == 0 {
		c.Keywords = []string{"own scorer"} // keywords of a policy that the scorer replaces
	}
	if c.Topic == "" && len(c.Keywords) > 0 {
		c.Topic = "own"
	}
	if o.Scorer != nil {
		c.Score = "paper"
	}
	return c
}

func (o *Options) log() *slog.Logger {
	if o.Log != nil {
		return o.Log
	}
	return slog.New(slog.DiscardHandler)
}

// score installs the scorer. fail ends the crawl.
func (o *Options) score(c *crawler.Options, fail func(error)) (err error) {
	if o.Scorer == nil {
		return nil
	}
	c.Scorer, c.Threshold = scorer{o.Scorer, fail}, 0
	c.Ordering, err = orders.OrderingByName("relevance")
	return err
}

// scorer adapts a Scorer to the crawler's pages.
type scorer struct {
	own  Scorer
	fail func(error)
}

func (s scorer) ScorePage(p *page.Page, parent float64) crawler.Score {
	v := s.own.ScorePage(pageOf(p), parent)
	return crawler.Score{Value: unit(v.Value), Relevant: v.Relevant, Label: v.Label}
}

func (s scorer) ScoreLinks(dst []float64, p *page.Page, v crawler.Score) []float64 {
	scores := s.own.ScoreLinks(pageOf(p), scoreOf(v))
	if len(scores) != len(p.Links) {
		s.fail(fmt.Errorf("fossick: ScoreLinks returned %d scores for the %d links of %s; return one for each", len(scores), len(p.Links), p.URL))
		scores = make([]float64, len(p.Links))
	}
	for _, x := range scores {
		dst = append(dst, unit(x))
	}
	return dst
}

// unit clips a score to [0, 1]; NaN becomes 0.
func unit(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return min(max(x, 0), 1)
}

func scoreOf(s crawler.Score) Score { return Score{s.Value, s.Relevant, s.Label} }

func pageOf(p *page.Page) *Page {
	links := make([]Link, len(p.Links))
	for i, l := range p.Links {
		links[i] = Link{l.URL, l.Anchor, l.Context}
	}
	return &Page{URL: p.URL, Title: p.Title, Text: p.Text, Lang: p.Lang, Links: links}
}

// Store is a stored crawl, opened for reading, even while the crawl runs.
type Store struct{ s *store.Store }

func Open(dir string) (*Store, error) {
	s, err := store.OpenToRead(dir)
	if err != nil {
		return nil, err
	}
	return &Store{s}, nil
}

func (s *Store) Close() error { return s.s.Close() }

// Pages yields the stored pages in crawl order with their scores, except those withdrawn by their
// owners. It ends at the first error.
func (s *Store) Pages() iter.Seq2[*Page, error] {
	return func(yield func(*Page, error) bool) {
		for p, err := range s.s.Pages() {
			if err == nil && p.Withdrawn {
				continue
			}
			var read *Page
			if err == nil {
				read, err = s.read(p)
			}
			if !yield(read, err) || err != nil {
				return
			}
		}
	}
}

func (s *Store) read(p *store.Page) (*Page, error) {
	body, err := s.s.Body(p.Number)
	if err != nil {
		return nil, err
	}
	parsed, err := page.Parse(body, page.ParseOptions{URL: p.URL, ContentType: p.ContentType})
	if err != nil {
		return nil, err
	}
	read := pageOf(parsed)
	read.Score = Score{p.Score, p.Relevant, p.Label}
	return read, nil
}

// Label is a model's verdict on a text.
type Label struct {
	Name        string
	Probability float64 // calibrated
	Unknown     string  // why the model cannot tell, or ""
}

// Example is a labelled text for training.
type Example struct {
	Label string
	Title string
	Text  string
}

type Model struct {
	m *models.Model
	c *classify.Classifier
}

// Train trains a model of all labels, at least two with five examples each. Equal examples in equal
// order give equal models.
func Train(ctx context.Context, examples []Example) (*Model, error) {
	rows := func(yield func(*datasets.Example, error) bool) {
		for _, e := range examples {
			if !yield(&datasets.Example{Label: e.Label, Title: e.Title, Text: e.Text}, nil) {
				return
			}
		}
	}
	m, _, err := train.Train(ctx, rows, train.Options{Classifier: models.LinearSVM, Seed: 1})
	if err != nil {
		return nil, err
	}
	return newModel(m)
}

// ReadModel reads a file written by WriteFile or fossick train.
func ReadModel(path string) (*Model, error) {
	m, err := models.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return newModel(m)
}

func newModel(m *models.Model) (*Model, error) {
	c, err := classify.New(m)
	if err != nil {
		return nil, err
	}
	return &Model{m, c}, nil
}

// WriteFile writes the model for ReadModel and fossick focus --model.
func (m *Model) WriteFile(path string) error { return m.m.WriteFile(path) }

func (m *Model) Label(title, text string) Label {
	r := m.c.Classify(features.Doc{Title: title, Text: text})
	return Label{r.Label, r.Score, r.Unknown}
}
