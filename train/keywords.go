package train

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"fossick/features"

	"github.com/jdkato/prose/v2"
)

// K, the words by which the crawl scores a page, are each class's best nouns
// (paper A, section 3: words of a dictionary and those that feature selection
// chose). A word counts by
//
//	Gain(i) · mean_j W(i,j)
//
// eq. 4 for the class against the rest times eq. 2: it must both separate the
// class and stand for it. Words that are rather absent from the class, stop words,
// numbers, and in English all but nouns are left out. A stem is shown as the form
// in which the set has it most often.

const (
	keywordsDefault = 20
	shortest        = 3 // letters of a keyword

	// Sentences to tag come from a sample: so many pages a class, so much of each.
	samplePages = 50
	sampleBytes = 4000

	// Of the best words so many times the wanted number are tagged.
	candidatesFactor = 5
)

// nouns gathers, while the training set streams by, what keywords needs of the
// text itself. Memory is bounded by the vocabulary and the sample.
type nouns struct {
	an      *features.Analyzer
	forms   map[string]map[string]int // stem → word as written → how often
	english int                       // pages
	pages   int
	sampled map[string]int // pages, by class
	sample  []string       // lines of English text
}

func newNouns() *nouns {
	return &nouns{
		an:    features.NewAnalyzer(features.AnalyzerOptions{MinLength: shortest}),
		forms: map[string]map[string]int{}, sampled: map[string]int{},
	}
}

// add looks at a page of a class.
func (n *nouns) add(class string, d features.Doc) {
	n.an.Each(d.Text, d.Lang, func(word, term string) {
		forms := n.forms[term]
		if forms == nil {
			forms = map[string]int{}
			n.forms[term] = forms
		}
		forms[word]++
	})
	n.pages++
	if d.Lang != "" && !strings.HasPrefix(d.Lang, "en") {
		return
	}
	n.english++
	if n.sampled[class] >= samplePages {
		return
	}
	n.sampled[class]++
	text := d.Text[:min(len(d.Text), sampleBytes)]
	for line := range strings.Lines(strings.ToValidUTF8(text, "")) {
		if line = strings.TrimSpace(line); strings.Contains(line, " ") {
			n.sample = append(n.sample, line)
		}
	}
}

// form returns the form of a stem that occurs most often, of equal ones the
// first in the alphabet; "" for a term that is no word of the text.
//
// A Korean stem is a word as it stands, its particle cut off, and is its own form.
func (n *nouns) form(term string) string {
	best, most := "", 0
	if korean(term) && len(n.forms[term]) > 0 {
		return term
	}
	for word, times := range n.forms[term] {
		if times > most || times == most && word < best {
			best, most = word, times
		}
	}
	return best
}

// keywords chooses K for every class.
func keywords(ctx context.Context, c *corpus, opt *Options) (map[string][]string, error) {
	want := cmp.Or(opt.Keywords, keywordsDefault)
	counts := c.counts(c.all())
	candidates := make([][]int32, len(c.classes))
	asked := map[string]bool{}
	for class := range c.classes {
		candidates[class] = c.candidates(counts, class, want*candidatesFactor)
		for _, t := range candidates[class] {
			asked[c.terms[t]] = true
		}
	}
	isNoun, err := c.nouns.tag(ctx, asked)
	if err != nil {
		return nil, fmt.Errorf("choosing keywords: %w", err)
	}
	k := map[string][]string{}
	for class, label := range c.classes {
		k[label] = []string{}
		for _, t := range candidates[class] {
			if term := c.terms[t]; isNoun(term) && len(k[label]) < want {
				k[label] = append(k[label], c.nouns.form(term))
			}
		}
	}
	return k, nil
}

// candidates returns the n best words of a class.
func (c *corpus) candidates(counts *features.Counts, class, n int) []int32 {
	var all []features.Ranked
	for t := range int32(counts.Terms()) {
		if c.nouns.form(c.terms[t]) == "" {
			continue
		}
		if v := counts.ClassGain(t, class) * counts.Weight(t, class); v > 0 {
			all = append(all, features.Ranked{Term: t, Gain: v})
		}
	}
	slices.SortFunc(all, func(a, b features.Ranked) int {
		return cmp.Or(cmp.Compare(b.Gain, a.Gain), cmp.Compare(c.terms[a.Term], c.terms[b.Term]))
	})
	var terms []int32
	for _, r := range all[:min(n, len(all))] {
		terms = append(terms, r.Term)
	}
	return terms
}

// tag finds out which of the asked stems are nouns: at least half of their
// occurrences in the sample, as prose tags them, and at least one. A set that is
// not mostly English is not asked: there all words pass.
func (n *nouns) tag(ctx context.Context, asked map[string]bool) (func(term string) bool, error) {
	if 2*n.english < n.pages || len(n.sample) == 0 {
		return func(string) bool { return true }, nil
	}
	noun, seen := map[string]int{}, map[string]int{}
	var model *prose.Model
	for _, line := range n.sample {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !n.holds(line, asked, seen) {
			continue
		}
		opts := []prose.DocOpt{prose.WithExtraction(false), prose.WithSegmentation(false)}
		if model != nil {
			opts = append(opts, prose.UsingModel(model)) // loading it anew costs 0.3 s
		}
		d, err := prose.NewDocument(line, opts...)
		if err != nil {
			return nil, fmt.Errorf("tagging %q: %w", line[:min(len(line), 40)], err)
		}
		model = d.Model
		for _, token := range d.Tokens() {
			term := features.Stem(token.Text, "en")
			if !asked[term] {
				continue
			}
			seen[term]++
			if strings.HasPrefix(token.Tag, "NN") {
				noun[term]++
			}
		}
	}
	return func(term string) bool { return noun[term] > 0 && 2*noun[term] >= seen[term] }, nil
}

// enough is how many tagged occurrences settle what a word is.
const enough = 6

// holds reports whether a line has a word that is asked for and not settled.
func (n *nouns) holds(line string, asked map[string]bool, seen map[string]int) bool {
	found := false
	n.an.Each(line, "en", func(_, term string) {
		found = found || asked[term] && seen[term] < enough
	})
	return found
}

// korean reports whether a term begins with Hangul.
func korean(term string) bool {
	first, _ := utf8.DecodeRuneInString(term)
	return unicode.Is(unicode.Hangul, first)
}
