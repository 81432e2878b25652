package features

import "sync"

// SharedWords is what extractors of one kind have learned of words. The words
// of running text, of which their numbers are enough, are in one table that all
// read. Of other words each has a table of its own, which it reads without
// asking anybody. One that is new to it is looked for here before it is
// analysed. Text has so many words that come once or twice that each would else
// be stemmed on every processor. Safe for concurrent use.
type SharedWords struct {
	seed    uint64       // of all tables
	numbers *wordNumbers // of the words of all languages

	mu    sync.Mutex // guards langs
	langs map[string]*commonWords
}

// commonWords are those of a language.
type commonWords struct {
	mu    sync.Mutex // guards table; an entry is never changed but by atomic steps
	table *wordTable
}

// NewSharedWords returns an empty one.
func NewSharedWords() *SharedWords {
	return &SharedWords{seed: newSeed(), numbers: newWordNumbers(), langs: map[string]*commonWords{}}
}

// Share makes x learn words together with others: those that have the same options,
// lexicon and second reader. It is called once, before x counts. The lexicon must be
// fixed. With a lead a word of the text stands for more than its number.
func (x *Extractor) Share(words *SharedWords) {
	x.an.shared = words
	x.numbered = x.opt.Lead <= 0
}

// of returns the words of a language; like an Analyzer it remembers few languages.
func (s *SharedWords) of(lang string) *commonWords {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.langs[lang]; ok {
		return c
	}
	if len(s.langs) >= cacheLanguages {
		clear(s.langs)
	}
	c := &commonWords{table: newWordTable(s.seed)}
	s.langs[lang] = c
	return c
}

// find returns a word's entry, nil when nobody has learned it lately.
func (c *commonWords) find(hash uint64) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, at := c.table.find(hash); at != nil {
		return *at
	}
	return nil
}

// add enters what was learned of a word, unless another was quicker, and returns what
// all have from now on.
func (c *commonWords) add(hash uint64, e *entry) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, at := c.table.find(hash); at != nil {
		return *at
	}
	c.table.add(hash, e)
	return e
}
