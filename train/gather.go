package train

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"fossick/datasets"
	"fossick/internal/printable"
	"fossick/models"
	"fossick/models/features"
)

// corpus is a training set as counts: no text is kept.
type corpus struct {
	extractor features.ExtractorOptions
	terms     []string
	rows      []features.Vector             // counts, by page
	y         []int                         // class, by page
	sites     []string                      // by page; "" is unknown
	from      []source                      // by page, with Options.Explain
	classes   []string                      // sorted
	nouns     *nouns                        // what K is chosen from
	best      [][]string                    // by class, candidates for K, see corpus.candidates
	lengths   []length                      // by page
	titles    map[string][]models.TitleWord // by class, see titles
	marks     []uint64                      // of the pages, sorted and at most so many as a card keeps, see models.Mark
	texts     []uint64                      // the mark of each page; nil where that is not known
	common    *common                       // what the pages have in common; nil: plain
	room      *room                         // how many words the rows have; nil: all
}

// Other is models.Other.
const Other = models.Other

// Class returns the class of an example, or "" when it has none. It is its
// topic or Other with Topic. Else it is the first of its Label and Labels that
// is among Labels; else its Label.
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

// gather reads the examples once, and holds as much of them as Options.Memory
// allows: see docs/classifiers.md.
func gather(ctx context.Context, examples iter.Seq2[*datasets.Example, error], opt *Options, rep *Report) (*corpus, error) {
	views, err := gatherViews(ctx, examples, opt, rep, func(e *datasets.Example) []string { return []string{opt.Class(e)} }, false)
	if err != nil {
		return nil, err
	}
	return views[0], nil
}

// gatherViews is gather for several ways to label the same rows: each gets a
// corpus, and all have the same rows. classes returns as many labels for every
// example; without the first the row is left out. The Report is of the first. plain:
// no model is made, and K needs no words.
func gatherViews(ctx context.Context, examples iter.Seq2[*datasets.Example, error], opt *Options, rep *Report, classes func(*datasets.Example) []string, plain bool) (_ []*corpus, err error) {
	g := newGatherer(opt, plain)
	defer func() { err = errors.Join(err, g.rows.close()) }()
	if err := g.read(ctx, examples, rep, classes); err != nil {
		return nil, err
	}
	if err := g.views[0].check(opt, rep); err != nil {
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
	return g.views, nil
}

// gatherer reads a training set.
type gatherer struct {
	opt      *Options
	plain    bool // no model is made: K needs no words
	views    []*corpus
	x        *features.Extractor
	lossy    lossy
	rows     *rowLog
	row      features.Vector // scratch
	nouns    *nouns
	beside   *counting // while read runs
	sites    []string
	from     []source          // with Options.Explain
	name     map[string]string // labels and sites, so that rows share their bytes
	titles   []*titles         // by view
	titleCut *features.Analyzer
	marks    []uint64
	lengths  []length         // by page
	langs    map[string]int   // pages by language
	y        []map[string]int // by view: class by label, in the order of their first row
}

func newGatherer(opt *Options, plain bool) *gatherer {
	lex := features.NewLexicon()
	return &gatherer{
		opt: opt, plain: plain, x: features.NewExtractor(opt.extractor(plain), lex),
		lossy:    lossy{lex: lex, limit: opt.lexiconTerms()},
		rows:     &rowLog{dir: opt.Tmp, limit: opt.rowBytes()},
		titleCut: features.NewAnalyzer(features.AnalyzerOptions{NoStem: true, Numbers: features.NumbersKeep}),
		nouns:    newNouns(opt.lexiconTerms()), name: map[string]string{}, langs: map[string]int{},
	}
}

// read makes the one pass over the examples.
func (g *gatherer) read(ctx context.Context, examples iter.Seq2[*datasets.Example, error], rep *Report, classes func(*datasets.Example) []string) error {
	words := func(label string, doc features.Doc) error {
		g.nouns.add(label, doc)
		return nil
	}
	if g.plain {
		words = nil
	}
	g.beside = newCounting(g.page, words)
	err := g.pages(ctx, examples, rep, classes, g.add)
	if err = errors.Join(err, g.beside.close()); err != nil {
		return err
	}
	g.label(rep)
	return nil
}

// pages calls f with each example that has a label and can be read, its text and
// its labels, and counts and logs the others.
func (g *gatherer) pages(ctx context.Context, examples iter.Seq2[*datasets.Example, error], rep *Report, classes func(*datasets.Example) []string, f func(*datasets.Example, features.Doc, []string) error) error {
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
		labels := classes(e)
		if labels[0] == "" {
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
			doc.URL = "" // saved examples and a pool come from different places: see learnPU
		}
		if err := f(e, doc, labels); err != nil {
			return err
		}
	}
	return nil
}

// add keeps one page.
func (g *gatherer) add(e *datasets.Example, doc features.Doc, labels []string) error {
	for len(g.views) < len(labels) {
		g.views, g.y, g.titles = append(g.views, &corpus{}), append(g.y, map[string]int{}), append(g.titles, newTitles())
	}
	words := g.titleWords(doc)
	for i, l := range labels {
		class, known := g.y[i][l]
		if !known {
			if class = len(g.y[i]); class == models.MaxClasses {
				return fmt.Errorf("%w: over %d labels, more than a model may have; choose some with --labels, or one with --topic", ErrData, class)
			}
			g.y[i][g.intern(l)] = class
		}
		g.views[i].y = append(g.views[i].y, class)
		g.titles[i].add(g.name[l], words, doc.Lang)
	}
	site := e.Site
	if g.opt.Unlabelled {
		site = e.SiteOrURL() // a store does not say
	}
	g.sites = append(g.sites, g.intern(site))
	g.marks = append(g.marks, models.Mark(doc))
	g.langs[strings.Clone(doc.Lang)]++
	if g.opt.Explain {
		g.from = append(g.from, source{e.URL, e.File, e.Line})
	}
	return g.beside.add(labels[0], doc)
}

// page counts the terms of a page, which become the next row.
func (g *gatherer) page(_ string, doc features.Doc) error {
	g.row = g.x.Count(g.row, doc)
	g.lengths = append(g.lengths, length{wordsOf(g.lossy.lex, g.row), mostOf(g.row)})
	if g.lossy.add(g.rows.pages, g.row) {
		g.x.Forget()
	}
	return g.rows.add(g.row)
}

// length is how long a page is.
type length struct {
	words int32
	most  float32 // how often its commonest term occurs, though that term be dropped
}

// mostOf returns how often the commonest term of a page occurs on it.
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
	s = strings.Clone(s) // not a part of the row's text
	g.name[s] = s
	return s
}

// label numbers the classes of every view in the order of their labels.
func (g *gatherer) label(rep *Report) {
	if len(g.views) == 0 {
		g.views, g.y, g.titles = []*corpus{{}}, []map[string]int{{}}, []*titles{newTitles()}
	}
	marks := models.KeepMarks(slices.Clone(g.marks))
	for i, c := range g.views {
		c.marks, c.texts = marks, g.marks
		c.extractor, c.sites, c.from, c.nouns, c.lengths = g.opt.extractor(g.plain), g.sites, g.from, g.nouns, g.lengths
		c.classes = slices.Sorted(maps.Keys(g.y[i]))
		c.titles = g.titles[i].list()
		number := make([]int, len(c.classes))
		for at, l := range c.classes {
			number[g.y[i][l]] = at
		}
		for p, class := range c.y {
			c.y[p] = number[class]
		}
	}
	c := g.views[0]
	rep.Pages, rep.PerClass = len(c.y), map[string]int{}
	for _, class := range c.y {
		rep.PerClass[c.classes[class]]++
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
			return fmt.Errorf("%w: no page has the label %q; the set has %s", ErrData, l, printable.SomeNames(l, c.classes))
		}
	}
	return nil
}
