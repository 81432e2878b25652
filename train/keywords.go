package train

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"fossick/datasets"
	"fossick/models/features"

	"github.com/jdkato/prose/v2"
)

// K, the words by which the crawl scores a page, holds each class's best nouns (paper A, section 3). They
// are chosen in two steps, like a classifier's words: of the words that represent the class (eq. 2),
// those with the most information gain for the class against the rest (eq. 4). With another
// Options.Select, words rank by
//
//	Gain(i) · DF(i)/n
//
// where DF(i)/n is the share of the class's pages with the word: λ counts the words of K on a page, so a
// word must both separate the class and be frequent in it. Words that speak against the class, stop words,
// numbers, and in English all but nouns are left out. A stem is shown in its most frequent form.

const (
	keywords = 20 // words of K per class
	shortest = 3  // fewest letters of a keyword

	// Nouns are tagged in a sample: this many pages per class, and this much of each.
	samplePages = 50
	sampleBytes = 4000

	// Forms are counted on this many pages, then on every fourth: which form of a common word is the
	// most frequent is soon known.
	formPages = 3000
	formEvery = 4

	// Words to tag at most, and at first, as multiples of keywords.
	candidatesFactor = 5
	firstFactor      = 2
)

// nouns gathers what keywords needs of the streaming text, in bounded memory.
type nouns struct {
	an      *features.Analyzer
	limit   int               // most forms kept
	forms   map[form]int      // occurrences
	most    map[string]string // stem → its most frequent form; see settle
	english int               // pages in English
	pages   int
	sampled map[string]int // pages, by class
	sample  []string       // lines of English text
}

// form is a word as written, in lower case, and its stem.
type form struct{ term, word string }

func newNouns(limit int) *nouns {
	return &nouns{
		limit: limit,
		an:    features.NewAnalyzer(features.AnalyzerOptions{MinLength: shortest}),
		forms: map[form]int{}, sampled: map[string]int{},
	}
}

func (n *nouns) add(class string, d features.Doc) {
	if n.pages++; n.pages <= formPages || n.pages%formEvery == 0 {
		n.an.Each(d.Text, d.Lang, func(word, term string) {
			n.forms[form{term, word}]++
		})
	}
	if len(n.forms) > n.limit {
		n.forget()
	}
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

// forget drops the rarest forms, at least half of them.
func (n *nouns) forget() {
	all := slices.Sorted(maps.Values(n.forms))
	least := all[(len(all)-1)/2]
	maps.DeleteFunc(n.forms, func(_ form, times int) bool { return times <= least })
}

// settle finds each stem's most frequent form, the alphabetically first of ties. No page can be added
// afterwards.
func (n *nouns) settle() {
	if n.most != nil {
		return
	}
	n.most = map[string]string{}
	for f, times := range n.forms {
		if korean(f.term) {
			n.most[f.term] = f.term // the word without its particle
			continue
		}
		best, known := n.most[f.term]
		t := n.forms[form{f.term, best}]
		if !known || times > t || times == t && f.word < best {
			n.most[f.term] = f.word
		}
	}
	n.forms = nil
}

// form returns the most frequent form of a stem, "" for a term that is no word of the text.
func (n *nouns) form(term string) string { return n.most[term] }

// Keywords chooses K for every class as Train does, without making a model. So K may come from other pages
// than the model, such as the start pages of a crawl (paper A, section 3). by describes the words of K.
func Keywords(ctx context.Context, examples iter.Seq2[*datasets.Example, error], opt Options) (k map[string][]string, by string, err error) {
	if err := opt.complete(); err != nil {
		return nil, "", err
	}
	c, err := gather(ctx, examples, &opt, &Report{})
	if err != nil {
		return nil, "", err
	}
	k, err = c.keywords(ctx)
	return k, c.nouns.how(), err
}

func (c *corpus) keywords(ctx context.Context) (map[string][]string, error) {
	k := map[string][]string{}
	for _, label := range c.classes {
		k[label] = []string{}
	}
	// Tagging is slow: tag the best candidates first, others only for classes with too few nouns.
	for from, to := 0, keywords*firstFactor; from < keywords*candidatesFactor; from, to = to, keywords*candidatesFactor {
		asked := map[string]bool{}
		for class, label := range c.classes {
			if len(k[label]) < keywords {
				for _, t := range within(c.best[class], from, to) {
					asked[t] = true
				}
			}
		}
		isNoun, err := c.nouns.tag(ctx, asked)
		if err != nil {
			return nil, fmt.Errorf("choosing keywords: %w", err)
		}
		for class, label := range c.classes {
			for _, term := range within(c.best[class], from, to) {
				if len(k[label]) < keywords && isNoun(term) {
					k[label] = append(k[label], c.nouns.form(term))
				}
			}
		}
	}
	return k, nil
}

// within returns terms[from:to], as far as they exist.
func within(terms []string, from, to int) []string {
	return terms[min(from, len(terms)):min(to, len(terms))]
}

// candidates sets best: the words of each class from which K is chosen, best first.
func (c *corpus) candidates(counts *features.Counts, by features.Measure) {
	c.nouns.settle()
	c.best = make([][]string, len(c.classes))
	var words []int32 // terms that are words of the text
	for t := range int32(counts.Terms()) {
		if c.nouns.form(c.terms[t]) != "" {
			words = append(words, t)
		}
	}
	for class := range c.classes {
		var all []features.Ranked
		for _, t := range words {
			if counts.ClassDF(t, class) == 0 {
				continue
			}
			v := counts.ClassGain(t, class)
			if by != "" && by != features.ByTFDFGain {
				v *= float64(counts.ClassDF(t, class)) / float64(counts.Pages(class))
			} else if !counts.Represents(t, class) {
				continue
			}
			if v > 0 {
				all = append(all, features.Ranked{Term: t, Gain: v})
			}
		}
		slices.SortFunc(all, func(a, b features.Ranked) int {
			return cmp.Or(cmp.Compare(b.Gain, a.Gain), cmp.Compare(counts.Weight(b.Term, class), counts.Weight(a.Term, class)), cmp.Compare(c.terms[a.Term], c.terms[b.Term]))
		})
		for _, r := range all[:min(keywords*candidatesFactor, len(all))] {
			c.best[class] = append(c.best[class], c.terms[r.Term])
		}
	}
}

// tagger loads prose's model, once per process because that takes .3 s; tagging only reads it.
var tagger = sync.OnceValues(func() (*prose.Model, error) {
	d, err := prose.NewDocument("", prose.WithExtraction(false), prose.WithSegmentation(false))
	if err != nil {
		return nil, err
	}
	return d.Model, nil
})

// tag finds which of the asked stems are nouns: prose must tag at least half of their occurrences in the
// sample so, and at least one. In a set that is not mostly English all words pass.
func (n *nouns) tag(ctx context.Context, asked map[string]bool) (func(term string) bool, error) {
	if !n.inEnglish() || len(asked) == 0 {
		return func(string) bool { return true }, nil
	}
	noun, seen := map[string]int{}, map[string]int{}
	model, err := tagger()
	if err != nil {
		return nil, fmt.Errorf("the tagger of nouns: %w", err)
	}
	for _, line := range n.sample {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !n.holds(line, asked, seen) {
			continue
		}
		d, err := prose.NewDocument(line, prose.WithExtraction(false), prose.WithSegmentation(false), prose.UsingModel(model))
		if err != nil {
			return nil, fmt.Errorf("tagging %q: %w", line[:min(len(line), 40)], err)
		}
		for _, token := range d.Tokens() {
			n.an.Each(token.Text, "en", func(_, term string) {
				if !asked[term] {
					return
				}
				seen[term]++
				if strings.HasPrefix(token.Tag, "NN") {
					noun[term]++
				}
			})
		}
	}
	return func(term string) bool { return noun[term] > 0 && 2*noun[term] >= seen[term] }, nil
}

// inEnglish reports whether the pages are mostly English, so that prose can tag them.
func (n *nouns) inEnglish() bool { return 2*n.english >= n.pages && len(n.sample) > 0 }

// Nouns describes a K that holds nouns.
const Nouns = "nouns, as prose tags them"

// how describes the words of K.
func (n *nouns) how() string {
	if n.inEnglish() {
		return Nouns
	}
	return "words of all kinds except stop words, because fossick knows the nouns of English only and the pages are in another language"
}

// enough is how many tagged occurrences decide whether a word is a noun.
const enough = 3

// holds reports whether a line has an asked word that is not decided yet.
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
