package features

import (
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode/utf8"
)

// field is a part of a page whose words can be terms of their own.
type field int

const (
	body field = iota
	title
	heading
	address
	lead
	fields // number of fields
)

var prefix = [fields]string{"", "title:", "heading:", "url:", "lead:"}

// ExtractorOptions says which terms a page has. The zero value takes the words of title, description,
// headings and text alike, and nothing else.
type ExtractorOptions struct {
	Analyzer AnalyzerOptions

	// Fields also makes words of the title, of headings and of the URL's path terms of their own:
	// "title:cours". The URL's host is left out, because pages of a site share a label in training and a
	// model would trust the host too much.
	Fields bool

	// Lead also makes the first so many words of the text terms of their own, "lead:professor", because
	// a page tends to say first what it is. 0 is none.
	Lead int
}

// Extractor counts the terms of pages. It is not safe for concurrent use.
type Extractor struct {
	numbering
	opt     ExtractorOptions
	lex     *Lexicon
	also    *Also                  // if set, a second reader of the same words
	left    int                    // words of the lead still to come
	counter func(known, wordInRow) // running
	reading bool                   // a second reader reads along
	read    []uint32               // its words so far
	lately  lately                 // some of these
	keep    bool                   // keep the words of the text for CountAround
	keeping bool                   // the text is being read
	base    int                    // where in the text the current part begins
	kept    []keptWord             // words of the last text
	count   []float32              // by term; zero between pages
	touched []int32                // terms with a count
	strange int                    // see Strange
}

// NewExtractor returns an extractor of the terms of lex. Extractors that run at once may share a fixed
// lexicon, but not a growing one; see Fork.
func NewExtractor(opt ExtractorOptions, lex *Lexicon) *Extractor {
	x := &Extractor{opt: opt, lex: lex}
	x.start(newWordCache())
	return x
}

// Fork returns an extractor like x, for another goroutine. Both share what they learn of words. The lexicon
// must be fixed.
func (x *Extractor) Fork() *Extractor {
	fork := &Extractor{opt: x.opt, lex: x.lex, also: x.also}
	fork.start(x.cache)
	return fork
}

func (x *Extractor) start(cache *wordCache) {
	x.numbering = numbering{an: NewAnalyzer(x.opt.Analyzer), cache: cache, learn: x.resolve}
	x.counter = x.running
}

// Forget clears the cache of words, after the lexicon has dropped terms.
func (x *Extractor) Forget() { x.cache.clear() }

func (x *Extractor) resolve(word string, lang *language) (w known) {
	var stem string
	w.body = leftOut
	if term := x.an.opt.term(word, lang, &stem); term != "" {
		w.body = x.lex.Index(term)
	}
	if x.also != nil {
		w.also = x.also.number(x.also.Analyzer.term(word, lang, &stem))
	}
	return w
}

// Count returns the terms of d, in rising order of their number, with their counts. It reuses dst's slices.
func (x *Extractor) Count(dst Vector, d Doc) Vector {
	x.scan(d, false)
	slices.Sort(x.touched)
	return x.collect(dst)
}

// CountUnsorted is Count with the terms in order of first occurrence, for callers that only add them up.
func (x *Extractor) CountUnsorted(dst Vector, d Doc) Vector {
	x.scan(d, false)
	return x.collect(dst)
}

func (x *Extractor) collect(dst Vector) Vector {
	dst.Index, dst.Value = append(dst.Index[:0], x.touched...), dst.Value[:0]
	for _, i := range dst.Index {
		dst.Value = append(dst.Value, x.count[i])
		x.count[i] = 0
	}
	x.touched = x.touched[:0]
	return dst
}

// add counts a term, unless the lexicon lacks it.
func (x *Extractor) add(term int32) {
	if term < 0 {
		return
	}
	if int(term) >= len(x.count) {
		x.count = append(x.count, make([]float32, max(1024, x.lex.Len()-len(x.count)))...)
	}
	if x.count[term] == 0 {
		x.touched = append(x.touched, term)
	}
	x.count[term]++
}

func (x *Extractor) addWord(term int32) {
	if term == noTerm {
		x.strange++
	}
	x.add(term)
}

// Strange returns how many words of the last counted Doc a fixed lexicon lacks.
func (x *Extractor) Strange() float64 { return float64(x.strange) }

// scan leaves d's counts in count and touched and, with also, the second reader's words in read.
func (x *Extractor) scan(d Doc, also bool) {
	x.strange = 0
	x.reading = also
	x.field(title, d.Title, d.Lang, true)
	x.left = 0
	x.text(d.Description, d.Lang, len(d.Description))
	x.left = x.opt.Lead
	x.keeping = x.keep
	if also {
		x.readText(d.Text, d.Lang)
	} else {
		x.text(d.Text, d.Lang, len(d.Text)) // it includes the headings
	}
	x.reading, x.keeping = false, false
	if x.opt.Fields {
		x.field(heading, d.Headings, d.Lang, false)
		x.field(address, path(d.URL), "en", false)
	}
}

// text counts running text. A second reader reads the first along bytes; no word crosses this boundary.
func (x *Extractor) text(text, lang string, along int) {
	x.base = 0
	x.each(text[:along], lang, x.counter)
	if along < len(text) {
		x.reading = false
		x.base = along
		x.each(text[along:], lang, x.counter)
	}
}

// running counts a word of running text, and its term in the lead.
func (x *Extractor) running(w known, r wordInRow) {
	if x.keeping && w != (known{body: leftOut}) {
		x.kept = append(x.kept, keptWord{w, int32(x.base) + r.at})
	}
	x.countWord(w)
	if x.left > 0 && w.body != leftOut {
		x.left--
		x.add(x.own(r, lead))
	}
}

func (x *Extractor) countWord(w known) {
	if x.reading {
		x.readWord(w)
	}
	if w.body != leftOut {
		x.addWord(w.body)
	}
}

// own returns the number of the term of a word in field f.
func (x *Extractor) own(r wordInRow, f field) int32 {
	hash := r.hash + uint64(f)<<32
	w, ok := x.cache.find(hash)
	if !ok {
		var stem string
		w.body = x.lex.Index(prefix[f] + x.an.opt.term(x.word(r), x.an.words.language, &stem))
		x.cache.add(hash, w)
	}
	return w.body
}

// field counts the words of field f as terms of the field and, if also, as words of the text.
func (x *Extractor) field(f field, text, lang string, also bool) {
	x.each(text, lang, func(w known, r wordInRow) {
		if x.reading {
			x.readWord(w)
		}
		if w.body == leftOut {
			return
		}
		if also {
			x.addWord(w.body)
		}
		if x.opt.Fields {
			x.add(x.own(r, f))
		}
	})
}

// Also is a second reader of the words that an Extractor counts. A page is split into words once, and both
// readers treat them by their own options. The second gets numbers of its own, as Tokens would give it.
type Also struct {
	Analyzer  AnalyzerOptions
	Number    func(term string) uint32 // called once per cached word; safe for concurrent use with Fork
	TextBytes int                      // bytes of the text to read; 0 is all
}

// noNumber replaces 0, which is no term's number.
const noNumber = 1

func (a *Also) number(term string) uint32 {
	if term == "" {
		return 0
	}
	if n := a.Number(term); n != 0 {
		return n
	}
	return noNumber
}

// ReadAlong sets the second reader of CountBoth. Call it once, before x counts.
func (x *Extractor) ReadAlong(also Also) {
	also.Analyzer = also.Analyzer.withDefaults()
	x.also = &also
}

// CountBoth is CountUnsorted, and appends to words the second reader's numbers of the terms in title,
// description and text, in order.
func (x *Extractor) CountBoth(dst Vector, words []uint32, d Doc) (Vector, []uint32) {
	x.read = words
	x.scan(d, x.also != nil)
	words, x.read = x.read, nil
	return x.collect(dst), words
}

// CountAndKeep is CountBoth, and keeps the text's words for CountAround. It leaves out most repeats of the
// second reader's numbers, for callers that want each once.
func (x *Extractor) CountAndKeep(dst Vector, words []uint32, d Doc) (Vector, []uint32) {
	x.keep, x.kept = true, x.kept[:0]
	clear(x.lately[:])
	dst, words = x.CountBoth(dst, words, d)
	x.keep = false
	return dst, words
}

// lately holds recent numbers by their low bits.
type lately [1 << 12]uint32

// readText counts the words of the text, of which the second reader has the first bytes only. A piece that
// this limit cuts is read for it separately.
func (x *Extractor) readText(text, lang string) {
	end := len(Head(text, x.also.TextBytes))
	if x.also.TextBytes <= 0 {
		end = len(text)
	}
	along := end
	if end < len(text) {
		along = strings.LastIndexFunc(text[:end], isSpace) + 1
	}
	x.text(text, lang, along)
	x.keeping = false
	x.each(text[along:end], lang, func(w known, _ wordInRow) { x.readWord(w) })
}

// readWord collects a word for the second reader; with keep, unless it came lately.
func (x *Extractor) readWord(w known) {
	if w.also == 0 {
		return
	}
	if x.keep {
		slot := &x.lately[w.also%uint32(len(x.lately))]
		if *slot == w.also {
			return
		}
		*slot = w.also
	}
	x.read = append(x.read, w.also)
}

func isSpace(r rune) bool { return r < utf8.RuneSelf && class[r] == space }

// Head returns the first n bytes of text, less an incomplete character at the end.
func Head(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// keptWord is a word of a text, with the place where its piece begins.
type keptWord struct {
	known
	at int32
}

// Span is a part of a text, in bytes.
type Span struct{ Start, End int32 }

// CountAround counts two parts of the text that CountAndKeep has counted last. It counts as CountUnsorted would count
// a Doc in the same language whose Text is both parts with a space between.
func (x *Extractor) CountAround(dst Vector, words []uint32, text, lang string, around [2]Span) (Vector, []uint32) {
	x.left = x.opt.Lead
	x.read, x.reading = words, x.also != nil
	for _, part := range around {
		x.span(text, lang, int(part.Start), int(part.End))
	}
	x.left = 0
	words, x.read, x.reading = x.read, nil, false
	return x.collect(dst), words
}

func (x *Extractor) span(text, lang string, from, end int) {
	if x.opt.Lead > 0 { // kept words do not have their numbers in the lead
		x.each(text[from:end], lang, x.counter)
		return
	}
	whole := from // where the first piece inside the span begins
	if from > 0 && class[text[from-1]] != space {
		for whole < end && class[text[whole]] != space {
			whole++
		}
		x.each(text[from:whole], lang, x.counter)
	}
	last := end // where the last piece begins, if it goes on beyond the span
	if end < len(text) && class[text[end]] != space {
		for last > whole && class[text[last-1]] != space {
			last--
		}
	}
	first := sort.Search(len(x.kept), func(i int) bool { return int(x.kept[i].at) >= whole })
	for _, w := range x.kept[first:] {
		if int(w.at) >= last {
			break
		}
		x.countWord(w.known)
	}
	x.each(text[last:end], lang, x.counter)
}

// Spare keeps costly values for reuse, at most one per processor. Unlike a sync.Pool it keeps them through
// garbage collections: an Analyzer that lost its words would stem them all again, which takes several times
// as long as a page. It is safe for concurrent use.
type Spare[T any] struct {
	make func() *T

	mu   sync.Mutex // guards free
	free []*T
}

// NewSpare returns an empty store of values that make makes.
func NewSpare[T any](make func() *T) *Spare[T] { return &Spare[T]{make: make} }

// Get returns a value that nobody else uses: the one put back last, or a new one.
func (s *Spare[T]) Get() *T {
	s.mu.Lock()
	if n := len(s.free); n > 0 {
		v := s.free[n-1]
		s.free = s.free[:n-1]
		s.mu.Unlock()
		return v
	}
	s.mu.Unlock()
	return s.make()
}

// Put gives a value back, or drops it if enough are kept.
func (s *Spare[T]) Put(v *T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.free) < runtime.GOMAXPROCS(0) {
		s.free = append(s.free, v)
	}
}
