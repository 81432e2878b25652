package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"fossick/models"
	"fossick/models/features"
)

// learner trains one kind of classifier on pages of the training set.
type learner interface {
	// name is its name in --classifier.
	name() string
	// fit trains on the rows whose numbers are in pages; its arguments determine the result.
	fit(ctx context.Context, c *corpus, pages []int, by fitting) (*fitted, error)
}

// fitted is a trained classifier before calibration.
type fitted struct {
	kept      []int32 // terms of the corpus that it uses, rising
	number    []int32 // by term of the corpus: its new number, −1 if not kept
	weighting features.Weighting
	linear    *models.Linear
	tree      *models.Tree
	explain   func() // adds what explains the tree but is not needed to use it
	forest    models.Forest
	rules     *models.Rules
	network   *models.Network
	ballot    *ballot           // of a vote, instead of the above
	dual      *dual             // of a linear machine
	settings  map[string]string // for the card
	scorer    *models.Scorer    // made when it is needed
}

var errNoWord = errors.New("no word has enough information gain; lower --mu or give --words")

// newFitted returns a fitted that keeps these terms of the corpus.
func newFitted(c *corpus, kept []int32) *fitted {
	f := &fitted{kept: slices.Clone(kept), number: make([]int32, len(c.terms)), settings: map[string]string{}}
	slices.Sort(f.kept)
	for i := range f.number {
		f.number[i] = -1
	}
	for n, i := range f.kept {
		f.number[i] = int32(n)
	}
	return f
}

// selected records on the card how words were selected, if not by gain alone.
func (f *fitted) selected(s selection) {
	if s.asked() && s.by != "" && s.by != features.ByGain {
		f.settings["select"] = string(s.by)
	}
}

func (f *fitted) terms(c *corpus) []string {
	terms := make([]string, len(f.kept))
	for n, i := range f.kept {
		terms[n] = c.terms[i]
	}
	return terms
}

// frequency returns on what share of n pages each term occurs, given the pages of each class that have it.
func frequency(classPages [][]int32, n int) []float32 {
	share := make([]float32, len(classPages[0]))
	for term := range share {
		var pages int32
		for _, of := range classPages {
			pages += of[term]
		}
		share[term] = float32(pages) / float32(n)
	}
	return share
}

// classPages returns, by class and term of f, the pages of the class that have the term.
func (f *fitted) classPages(c *corpus) [][]int32 {
	pages := make([][]int32, len(c.classes))
	for class := range pages {
		pages[class] = make([]int32, len(f.kept))
	}
	for p, row := range c.rows {
		for _, i := range row.Index {
			if n := f.number[i]; n >= 0 {
				pages[c.y[p]][n]++
			}
		}
	}
	return pages
}

// vectors returns the pages in f's terms, weighed.
func (f *fitted) vectors(c *corpus, pages []int) []features.Vector {
	v := make([]features.Vector, len(pages))
	for n, p := range pages {
		v[n] = remap(c.rows[p], f.number)
		f.weighting.Apply(v[n])
	}
	return v
}

func (f *fitted) scores(dst []float64, c *corpus, page int) {
	if f.ballot != nil {
		f.ballot.scores(dst, c, page)
		return
	}
	if f.scorer == nil {
		f.scorer = models.NewScorer(&models.Model{Classes: c.classes, Terms: make([]string, len(f.kept)),
			Linear: f.linear, Tree: f.tree, Rules: f.rules, Network: f.network, Forest: f.forest})
	}
	v := remap(c.rows[page], f.number)
	f.weighting.Apply(v)
	f.scorer.Scores(dst, v)
}

func (c *corpus) counts(pages []int) *features.Counts {
	counts := features.NewCounts(len(c.classes))
	for _, p := range pages {
		counts.Add(c.y[p], c.rows[p], c.lengths[p].most)
	}
	return counts
}

// vocabulary returns the terms on enough pages, or the best if s or memory limits them.
func (c *corpus) vocabulary(pages []int, s selection) (kept []int32, counts *features.Counts) {
	counts = c.counts(pages)
	asked := s.asked()
	if c.room != nil && c.room.most > 0 && (s.words == 0 || s.words > c.room.most) {
		if s.words = c.room.most; s.mu == 0 {
			c.room.wanted()
		}
	}
	if s.asked() {
		ranking := counts.RankBy(cmp.Or(s.by, features.ByGain))
		if asked {
			ranking = c.unled(ranking)
		}
		return features.Select(ranking, s.mu, s.words), counts
	}
	least := leastPages(len(pages))
	for i := range int32(counts.Terms()) {
		if counts.DF(i) >= least {
			kept = append(kept, i)
		}
	}
	return kept, counts
}

// counted prepares a classifier on counts of the terms with the highest gain, words of them unless the
// options say otherwise. It returns the pages as rows of counts, and their classes.
func (c *corpus) counted(pages []int, by fitting, name string, words int) (f *fitted, rows []features.Vector, y []int, err error) {
	s := by.or(words, features.ByTFDFGain)
	kept, _ := c.vocabulary(pages, s)
	if len(kept) == 0 {
		return nil, nil, nil, fmt.Errorf("training %s: %w", name, errNoWord)
	}
	f = newFitted(c, kept)
	f.selected(s)
	f.settings["terms"] = strconv.Itoa(len(kept))
	return f, f.vectors(c, pages), c.classesOf(pages), nil
}

func (c *corpus) classesOf(pages []int) []int {
	y := make([]int, len(pages))
	for i, p := range pages {
		y[i] = c.y[p]
	}
	return y
}

// weighed prepares a classifier on term weights; see weigh.
func (c *corpus) weighed(pages []int, s selection, odds bool) *fitted {
	kept, counts := c.vocabulary(pages, s)
	f := newFitted(c, kept)
	f.selected(s)
	f.weigh(c, counts, len(pages), odds)
	return f
}

// unled drops the lead's terms, which would be half of a few hundred terms and repeat words of the text.
func (c *corpus) unled(ranking []features.Ranked) []features.Ranked {
	return slices.DeleteFunc(ranking, func(r features.Ranked) bool { return features.IsLead(c.terms[r.Term]) })
}

// weigh sets weights for linear classifiers: idf or, with odds, how well a term separates the classes.
func (f *fitted) weigh(c *corpus, counts *features.Counts, pages int, odds bool) {
	f.weighting = features.Weighting{Sublinear: true, Norm: true, Blocks: features.DefaultBlocks}
	if odds {
		f.settings["term_weights"] = "log odds"
		f.weighting.IDF = make([]float32, len(f.kept))
		for n, i := range f.kept {
			f.weighting.IDF[n] = float32(counts.LogOdds(i))
		}
	} else {
		df := make([]int32, len(f.kept))
		for n, i := range f.kept {
			df[n] = counts.DF(i)
		}
		f.weighting.IDF = features.IDF(df, pages)
	}
	f.weighting.Bind(f.terms(c))
}

func (c *corpus) classRows(pages []int) []int {
	n := make([]int, len(c.classes))
	for _, p := range pages {
		n[c.y[p]]++
	}
	return n
}

// remap returns a copy of v with new term numbers, without the terms numbered −1.
func remap(v features.Vector, number []int32) features.Vector {
	n := 0
	for _, i := range v.Index {
		if number[i] >= 0 {
			n++
		}
	}
	out := features.Vector{Index: make([]int32, 0, n), Value: make([]float32, 0, n)}
	for k, i := range v.Index {
		if number[i] >= 0 {
			out.Index = append(out.Index, number[i])
			out.Value = append(out.Value, v.Value[k])
		}
	}
	return out
}
