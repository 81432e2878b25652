package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"fossick/datasets"
	"fossick/internal/cli"
	"fossick/models"
	"fossick/models/features"
)

// corpus is a training set as counts, without text.
type corpus struct {
	extractor features.ExtractorOptions
	terms     []string
	rows      []features.Vector             // counts, by page
	y         []int                         // class, by page
	sites     []string                      // by page; "" is unknown
	from      []source                      // by page, with Options.Explain
	classes   []string                      // sorted
	nouns     *nouns                        // words from which K is chosen
	best      [][]string                    // by class: candidates for K
	lengths   []length                      // by page
	titles    map[string][]models.TitleWord // by class, see titles
	marks     []uint64                      // of the pages, sorted, at most as many as a card keeps; see models.Mark
	texts     []uint64                      // by page: its mark; nil if unknown
	common    *common                       // what the pages have in common; nil if plain
	room      *room                         // limit of the words in rows; nil: none
}

// Other is the label of pages that are off topic.
const Other = models.Other

// Class returns the class of an example, or "" if it has none. With Topic it is Topic or Other.
func (t *Target) Class(e *datasets.Example) string {
	switch {
	case e.Label == "" && len(e.Labels) == 0:
		return ""
	case t.Topic != "":
		if e.Matches(t.Topic) {
			return t.Topic
		}
		return Other
	case len(t.Labels) == 0:
		return e.Label
	case slices.Contains(t.Labels, e.Label):
		return e.Label
	}
	for _, l := range e.Labels {
		if slices.Contains(t.Labels, l) {
			return l
		}
	}
	return ""
}

// gather reads the examples once, and keeps as much of them as Options.Memory allows (docs/classifiers.md).
func gather(ctx context.Context, examples datasets.Stream, opt *Options, rep *Report) (*corpus, error) {
	return gatherBy(ctx, examples, opt, rep, opt.Class, false)
}

// gatherBy is gather with a function for classes; "" leaves a row out. plain is for trials, which need no K.
func gatherBy(ctx context.Context, examples datasets.Stream, opt *Options, rep *Report, class func(*datasets.Example) string, plain bool) (_ *corpus, err error) {
	g := newGatherer(opt, plain)
	defer func() { err = errors.Join(err, g.rows.close()) }()
	if err := g.read(ctx, examples, rep, class); err != nil {
		return nil, err
	}
	if err := g.c.check(opt, rep); err != nil {
		return nil, err
	}
	rep.LostBelow, rep.Spilled = int(g.lossy.bound), g.rows.bytes
	if g.lossy.bound > 0 {
		opt.log().Warn("the vocabulary did not fit into memory: rare terms were dropped, and some counts may be too low; raise --memory to keep them",
			"terms", g.lossy.limit, "pages_at_most", g.lossy.bound)
	}
	if err := g.load(ctx); err != nil {
		return nil, fmt.Errorf("reading the training set's rows back: %w", err)
	}
	return g.c, nil
}

// gatherer reads a training set into a corpus.
type gatherer struct {
	opt      *Options
	plain    bool // no model is made: K needs no words
	c        *corpus
	x        *features.Extractor
	lossy    lossy
	rows     *rowLog
	row      features.Vector   // scratch
	beside   *counting         // while read runs
	name     map[string]string // labels and sites, each stored once
	titles   titles
	titleCut *features.Analyzer
	langs    map[string]int // pages by language
	y        map[string]int // class by label, in order of first appearance
}

func newGatherer(opt *Options, plain bool) *gatherer {
	lex := features.NewLexicon()
	return &gatherer{
		opt: opt, plain: plain, c: &corpus{extractor: opt.extractor(plain), nouns: newNouns(opt.lexiconTerms())},
		y: map[string]int{}, titles: titles{}, x: features.NewExtractor(opt.extractor(plain), lex),
		lossy:    lossy{lex: lex, limit: opt.lexiconTerms()},
		rows:     &rowLog{limit: opt.rowBytes()},
		titleCut: features.NewAnalyzer(features.AnalyzerOptions{NoStem: true, Numbers: features.NumbersKeep}),
		name:     map[string]string{}, langs: map[string]int{},
	}
}

func (g *gatherer) read(ctx context.Context, examples datasets.Stream, rep *Report, class func(*datasets.Example) string) error {
	counters := []func(string, features.Doc) error{g.page}
	if !g.plain {
		counters = append(counters, func(label string, doc features.Doc) error {
			g.c.nouns.add(label, doc)
			return nil
		})
	}
	g.beside = newCounting(counters...)
	err := g.pages(ctx, examples, rep, class, g.add)
	if failed := g.beside.close(); failed != nil {
		err = failed // the cause
	}
	if err != nil {
		return err
	}
	g.label(rep)
	return nil
}

// pages calls f with each labelled and readable example, and counts and logs the others.
func (g *gatherer) pages(ctx context.Context, examples datasets.Stream, rep *Report, class func(*datasets.Example) string, f func(*datasets.Example, features.Doc, string) error) error {
	for e, err := range examples {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("reading the set: %w", err)
		}
		if err != nil {
			var row *datasets.RowError
			if !errors.As(err, &row) {
				return fmt.Errorf("reading the set: %w", err)
			}
			rep.Unreadable++
			g.opt.log().Warn("row left out", "err", err)
			continue
		}
		label := class(e)
		if label == "" {
			rep.LeftOut++
			continue
		}
		doc, err := Doc(e)
		if err != nil {
			rep.Unreadable++
			g.opt.log().Warn("page left out", "url", e.URL, "err", err)
			continue
		}
		if g.opt.Unlabelled {
			doc.URL = "" // examples and a pool come from different places; see learnPU
		}
		if err := f(e, doc, label); err != nil {
			return err
		}
	}
	return nil
}

func (g *gatherer) add(e *datasets.Example, doc features.Doc, label string) error {
	class, known := g.y[label]
	if !known {
		if class = len(g.y); class == models.MaxClasses {
			return fmt.Errorf("%w: over %d labels, more than a model may have; choose some with --labels, or one with --topic", ErrData, class)
		}
		g.y[g.intern(label)] = class
	}
	g.c.y = append(g.c.y, class)
	g.titles.add(g.name[label], g.titleWords(doc), doc.Lang)
	site := e.Site
	if g.opt.Unlabelled {
		site = e.SiteOrURL() // a store does not say
	}
	g.c.sites = append(g.c.sites, g.intern(site))
	g.c.texts = append(g.c.texts, models.Mark(doc))
	g.langs[strings.Clone(doc.Lang)]++
	if g.opt.Explain {
		g.c.from = append(g.c.from, source{e.URL, e.File, e.Line})
	}
	return g.beside.add(label, doc)
}

// page counts the terms of a page as the next row.
func (g *gatherer) page(_ string, doc features.Doc) error {
	g.row = g.x.Count(g.row, doc)
	g.c.lengths = append(g.c.lengths, length{wordsOf(g.lossy.lex, g.row), mostOf(g.row)})
	if g.lossy.add(g.rows.pages, g.row) {
		g.x.Forget()
	}
	return g.rows.add(g.row)
}

type length struct {
	words int32
	most  float32 // count of its most frequent term, even if that was dropped
}

// mostOf returns the count of the most frequent term of a page.
func mostOf(row features.Vector) float32 {
	if len(row.Value) == 0 {
		return 0
	}
	return slices.Max(row.Value)
}

func (g *gatherer) intern(s string) string {
	if same, ok := g.name[s]; ok {
		return same
	}
	s = strings.Clone(s) // do not keep the row's text alive
	g.name[s] = s
	return s
}

// label numbers the classes in the order of their labels, and fills in the corpus.
func (g *gatherer) label(rep *Report) {
	c := g.c
	c.marks = models.KeepMarks(slices.Clone(c.texts))
	c.classes = slices.Sorted(maps.Keys(g.y))
	c.titles = g.titles.list()
	number := make([]int, len(c.classes))
	for at, l := range c.classes {
		number[g.y[l]] = at
	}
	rep.Pages, rep.PerClass = len(c.y), map[string]int{}
	for p, class := range c.y {
		c.y[p] = number[class]
		rep.PerClass[c.classes[c.y[p]]]++
	}
}

// Doc returns the text of an example as models read it.
func Doc(e *datasets.Example) (features.Doc, error) {
	p, err := e.Page()
	if err != nil {
		return features.Doc{}, err
	}
	return features.Doc(p.Fields()), nil
}

// ErrData reports a training set from which nothing can be learnt.
var ErrData = errors.New("cannot train on this set")

func (c *corpus) check(opt *Options, rep *Report) error {
	switch {
	case len(c.y) == 0:
		return fmt.Errorf("%w: no labelled page was read (%d without a wanted label, %d unreadable); check --labels, --topic and --where",
			ErrData, rep.LeftOut, rep.Unreadable)
	case len(c.classes) == 1:
		return fmt.Errorf("%w: all %d pages have the label %q; at least two classes are needed", ErrData, len(c.y), c.classes[0])
	case opt.Topic != "" && !slices.Contains(c.classes, opt.Topic):
		return fmt.Errorf("%w: no page has the label %q", ErrData, opt.Topic)
	}
	for _, l := range opt.Labels {
		if opt.Topic == "" && !slices.Contains(c.classes, l) {
			return fmt.Errorf("%w: no page has the label %q; the set has %s", ErrData, l, cli.SomeNames(l, c.classes))
		}
	}
	return nil
}

// counting runs each counter in its own goroutine beside reading, which dominates on short pages. Each
// gets the pages in order, so that the result does not depend on timing.
type counting struct {
	to    []chan []counted
	batch []counted // a page is too short to send alone
	group *errgroup.Group
	ended context.Context // after the first error
}

type counted struct {
	label string
	doc   features.Doc
}

const countedPages = 32

// newCounting starts the counters; their counts are complete after close.
func newCounting(counters ...func(label string, d features.Doc) error) *counting {
	n := &counting{}
	n.group, n.ended = errgroup.WithContext(context.Background())
	for _, count := range counters {
		to := make(chan []counted, 4)
		n.to = append(n.to, to)
		n.group.Go(func() error {
			for batch := range to {
				for _, page := range batch {
					if err := count(page.label, page.doc); err != nil {
						return err
					}
				}
			}
			return nil
		})
	}
	return n
}

// add sends a page to the counters. It fails soon after one of them did.
func (n *counting) add(label string, d features.Doc) error {
	if n.batch = append(n.batch, counted{label, d}); len(n.batch) == countedPages {
		n.flush()
	}
	return n.ended.Err()
}

func (n *counting) flush() {
	for _, to := range n.to {
		select {
		case to <- n.batch:
		case <-n.ended.Done():
		}
	}
	n.batch = nil
}

// close waits until all pages are counted, and returns the first error of a counter.
func (n *counting) close() error {
	n.flush()
	for _, to := range n.to {
		close(to)
	}
	return n.group.Wait()
}

// titles counts the words in the titles of each class's pages. Link text resembles the title of its
// target, so these words tell a crawl how links to pages on topic are worded; see learned.WarmStart.
type titles map[titleWord]map[string]int // pages, by class

type titleWord struct{ lang, word string }

const (
	// maxTitleWords is how many title words are counted, the first ones; few sets have more.
	maxTitleWords = 1 << 17
	// maxClassTitles is how many title words a model keeps per class, those of most pages: 50 KB.
	maxClassTitles = 4096
	// maxTitle is how many bytes of a title are read.
	maxTitle = 256
)

// titleWords returns the distinct words of a page's title.
func (g *gatherer) titleWords(doc features.Doc) (words []string) {
	if g.plain {
		return nil
	}
	g.titleCut.Each(features.Head(doc.Title, maxTitle), doc.Lang, func(word, _ string) {
		if !slices.Contains(words, word) {
			words = append(words, word)
		}
	})
	return words
}

// add counts the distinct words of a page's title.
func (t titles) add(class string, words []string, lang string) {
	for _, w := range words {
		key := titleWord{lang, w}
		pages, known := t[key]
		if !known {
			if len(t) >= maxTitleWords {
				continue
			}
			pages = map[string]int{}
			t[titleWord{strings.Clone(lang), strings.Clone(w)}] = pages // do not keep the row's text alive
		}
		pages[class]++
	}
}

// list returns the words of each class but Other, sorted by language and word.
func (t titles) list() map[string][]models.TitleWord {
	all := map[string][]models.TitleWord{}
	for key, pages := range t {
		sum := 0
		for _, n := range pages {
			sum += n
		}
		for class, n := range pages {
			if class != Other {
				all[class] = append(all[class], models.TitleWord{Word: key.word, Lang: key.lang, Pages: n, Others: sum - n})
			}
		}
	}
	byWord := func(a, b models.TitleWord) int {
		return cmp.Or(cmp.Compare(a.Lang, b.Lang), cmp.Compare(a.Word, b.Word))
	}
	for _, class := range slices.Sorted(maps.Keys(all)) {
		words := all[class]
		slices.SortFunc(words, func(a, b models.TitleWord) int { return cmp.Or(cmp.Compare(b.Pages, a.Pages), byWord(a, b)) })
		words = words[:min(len(words), maxClassTitles)]
		slices.SortFunc(words, byWord)
		all[class] = slices.Clip(words)
	}
	return all
}
