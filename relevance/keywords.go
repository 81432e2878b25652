package relevance

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"fossick/internal/page"
	"fossick/models/features"
)

// Keywords is K, the words of a topic (paper A). A word matches by its stem, a phrase as a sequence of
// stems. Safe for concurrent use.
type Keywords struct {
	words []string // as given

	mu       sync.Mutex // guards compiled
	compiled map[string]*matcher

	scratch *features.Spare[scratch]
	known   *sync.Map // Found by *page.Page; nil: not cached
}

// scratch is the working memory of one match; an Analyzer serves one goroutine.
type scratch struct {
	analyzer *features.Analyzer
	terms    []string
	found    []bool
}

// maxLanguages bounds the cached matchers. Stems differ by language, and pages can declare any language.
const maxLanguages = 32

// NewKeywords returns K for the given words and phrases.
func NewKeywords(words []string) (*Keywords, error) {
	k := &Keywords{compiled: map[string]*matcher{}}
	known := map[string]bool{}
	for _, w := range words {
		w = strings.Join(strings.Fields(w), " ")
		if w == "" {
			continue
		}
		if lower := strings.ToLower(w); !known[lower] {
			known[lower] = true
			k.words = append(k.words, w)
		}
	}
	if len(k.words) == 0 {
		return nil, errors.New("no keywords: give a few words that pages on the topic use, as in --keywords mortgage,loan,\"interest rate\"")
	}
	k.scratch = features.NewSpare(func() *scratch {
		return &scratch{analyzer: features.NewAnalyzer(features.AnalyzerOptions{
			KeepStop: true, Numbers: features.NumbersKeep, MinLength: 1, // keep everything that the user chose
		})}
	})
	for i, terms := range k.matcher("").phrases {
		if len(terms) == 0 {
			return nil, fmt.Errorf("keyword %q has no letters to match by", k.words[i])
		}
	}
	return k, nil
}

// Len returns |K|.
func (k *Keywords) Len() int { return len(k.words) }

// Words returns K as given, without repetitions.
func (k *Keywords) Words() []string { return k.words }

// Stems returns the stems of each word of K in a language.
func (k *Keywords) Stems(lang string) [][]string { return k.matcher(lang).phrases }

// Found returns the words of K in the title, description or text of p, in the order of K. λ is their
// number.
func (k *Keywords) Found(p *page.Page) []string {
	if k.known == nil {
		return k.FoundIn(p.Lang, p.Title, p.Description, p.Text)
	}
	if words, ok := k.known.Load(p); ok {
		return words.([]string)
	}
	words := k.FoundIn(p.Lang, p.Title, p.Description, p.Text)
	k.known.Store(p, words)
	return words
}

// Remember makes Found cache its results by page pointer, for simulations that see the same pages again.
// The pages must not change.
func (k *Keywords) Remember() { k.known = &sync.Map{} }

// FoundIn is Found for texts of a language. A phrase must be within one text.
func (k *Keywords) FoundIn(lang string, texts ...string) []string {
	s := k.scratch.Get()
	defer k.scratch.Put(s)
	m := k.matcher(lang)
	s.found = append(s.found[:0], make([]bool, len(k.words))...)
	n := 0
	for _, text := range texts {
		s.terms = s.analyzer.Terms(s.terms[:0], text, lang)
		n += m.match(s.terms, s.found)
	}
	words := make([]string, 0, n)
	for i, found := range s.found {
		if found {
			words = append(words, k.words[i])
		}
	}
	clear(s.terms) // release references to the page's text
	return words
}

// matcher finds the words of K in the terms of one language.
type matcher struct {
	phrases [][]string       // terms of each word of K
	first   map[string][]int // first term → words of K that begin with it
}

func (k *Keywords) matcher(lang string) *matcher {
	k.mu.Lock()
	defer k.mu.Unlock()
	if m, ok := k.compiled[lang]; ok {
		return m
	}
	if len(k.compiled) >= maxLanguages {
		clear(k.compiled)
	}
	s := k.scratch.Get()
	defer k.scratch.Put(s)
	m := &matcher{first: map[string][]int{}}
	for i, w := range k.words {
		terms := s.analyzer.Terms(nil, w, lang)
		m.phrases = append(m.phrases, terms)
		if len(terms) > 0 {
			m.first[terms[0]] = append(m.first[terms[0]], i)
		}
	}
	k.compiled[lang] = m
	return m
}

// match marks the words of K in terms and returns how many are newly found.
func (m *matcher) match(terms []string, found []bool) int {
	n := 0
	for at, t := range terms {
		for _, i := range m.first[t] {
			if !found[i] && hasPrefix(terms[at:], m.phrases[i]) {
				found[i] = true
				n++
			}
		}
	}
	return n
}

func hasPrefix(terms, phrase []string) bool {
	if len(terms) < len(phrase) {
		return false
	}
	for i, t := range phrase {
		if terms[i] != t {
			return false
		}
	}
	return true
}
