package learned

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"fossick/internal/wire"
)

// Sums holds what a scorer learned in a period, in additive form: counts of pages and of each word, the
// evidence for the weights, and start pages. Scorers that exchange Sums know together what one scorer of
// all pages would. Knowledge of single URLs, hosts and folders stays with the agent that owns the site.
//
// Each page contributes one Newton step to the weights.
type Sums struct {
	all       record
	begun     bool // includes a page other than a start page
	words     map[token]wordSum
	precision [numFeatures]featureVector
	shift     featureVector
	outcomes  []linkOutcome // outcomes of links, for agents with other links of the same pages
	starts    []startPage
	alike     alike
	local     record // as in locality, without decay
}

// alike are the similarities of pages to a number of start pages.
type alike struct {
	_       struct{} `cbor:",toarray"`
	Starts  int
	On, Off moments
}

type wordSum struct{ page, link record }

func newSums() *Sums { return &Sums{words: map[token]wordSum{}} }

// Pages returns the number of pages summed.
func (s *Sums) Pages() uint64 { return uint64(max(0, min(s.all.pages, 1<<32))) }

func (r *record) plus(o record) {
	r.pages += o.pages
	r.onTopic += o.onTopic
}

// learnPage records a page's words. Like all learn methods it does nothing on a nil Sums.
func (s *Sums) learnPage(words []token, probability, weight float64) {
	if s == nil {
		return
	}
	for _, t := range words {
		w := s.words[t]
		w.page.plus(record{float32(weight), float32(weight * probability)})
		s.words[t] = w
	}
}

func (s *Sums) learnLink(words []token, probability float64) {
	if s == nil {
		return
	}
	for _, t := range words {
		w := s.words[t]
		w.link.add(probability)
		s.words[t] = w
	}
}

// learnWeights records the example that the weights are about to learn.
func (s *Sums) learnWeights(m *logistic, x *featureVector, y float64) {
	if s == nil {
		return
	}
	p := m.probability(x)
	slope, z := max(leastSlope, p*(1-p)), 0.0
	for i, v := range x {
		z += m.weight[i] * v
	}
	for i, v := range x {
		for j := range i + 1 {
			s.precision[i][j] += slope * v * x[j]
			s.precision[j][i] = s.precision[i][j]
		}
		s.shift[i] += v * (slope*z + y - p)
	}
}

func (s *Sums) learnStart(p startPage) {
	if s != nil && len(s.starts) < maxStarts {
		p.Words = p.Words[:min(len(p.Words), maxStartWords)]
		s.starts = append(s.starts, p)
	}
}

// learnAlike records a page's similarity to the current start pages.
func (s *Sums) learnAlike(starts int, similarity, probability float64) {
	if s == nil {
		return
	}
	a := alike{Starts: starts}
	a.On.add(probability, similarity)
	a.Off.add(1-probability, similarity)
	s.alike.plus(&a)
}

// plus adds similarities to equally many start pages; those to fewer are useless.
func (a *alike) plus(o *alike) {
	if o.Starts > a.Starts {
		*a = *o
	} else if o.Starts == a.Starts {
		a.On.plus(o.On)
		a.Off.plus(o.Off)
	}
}

// learnLocal records the mean promise of a page's links.
func (s *Sums) learnLocal(onTopic, promise float64) {
	if s != nil {
		s.local.plus(record{float32(onTopic), float32(onTopic * promise)})
	}
}

func (s *Sums) plus(o *Sums) {
	s.all.plus(o.all)
	s.begun = s.begun || o.begun
	s.local.plus(o.local)
	s.alike.plus(&o.alike)
	s.starts = append(s.starts, o.starts[:min(len(o.starts), maxStarts-len(s.starts))]...)
	for t, w := range o.words {
		had := s.words[t]
		had.page.plus(w.page)
		had.link.plus(w.link)
		s.words[t] = had
	}
	for i := range s.precision {
		for j := range s.precision[i] {
			s.precision[i][j] += o.precision[i][j]
		}
		s.shift[i] += o.shift[i]
	}
}

// evidence is how many pages and links a word's counts come from.
func (w wordSum) evidence() float32 { return w.page.pages + w.link.pages }

// byEvidence returns the words, most evidence first.
func (s *Sums) byEvidence() []token {
	return slices.SortedFunc(maps.Keys(s.words), func(a, b token) int {
		return cmp.Or(cmp.Compare(s.words[b].evidence(), s.words[a].evidence()), cmp.Compare(a, b))
	})
}

// shortenStarts moves start pages beyond a number of words to rest.
func (s *Sums) shortenStarts(words int, rest *Sums) {
	for i, p := range s.starts {
		if words -= len(p.Words); words < 0 {
			s.starts, rest.starts = s.starts[:i:i], s.starts[i:]
			return
		}
	}
}

// shorten keeps the n words with most evidence and moves the others to rest.
func (s *Sums) shorten(n int, rest *Sums) {
	if len(s.words) <= n {
		return
	}
	for _, t := range s.byEvidence()[n:] {
		rest.words[t] = s.words[t]
		delete(s.words, t)
	}
}

// fixed is the variance that stands in for zero, so that the matrix can be inverted.
const fixed = 1e-9

// merge adds other scorers' evidence to the weights.
func (m *logistic) merge(s *Sums) {
	precision := m.covariance
	for i := range precision {
		if precision[i][i] == 0 {
			precision[i][i] = fixed
		}
	}
	if !invert(&precision) {
		return // unusable; continue with own lessons
	}
	var shift featureVector
	for i := range precision {
		for j, w := range m.weight {
			shift[i] += precision[i][j] * w
		}
		shift[i] += s.shift[i]
	}
	for i := range precision {
		for j := range precision[i] {
			precision[i][j] += s.precision[i][j]
		}
	}
	if !invert(&precision) {
		return
	}
	for i := range precision {
		if m.covariance[i][i] == 0 {
			continue
		}
		m.weight[i] = 0
		for j := range precision[i] {
			m.weight[i] += precision[i][j] * shift[j]
			if m.covariance[j][j] != 0 {
				m.covariance[i][j] = precision[i][j]
			}
		}
	}
}

// invert inverts a symmetric positive definite matrix in place by Gauss-Jordan elimination, or returns
// false.
func invert(a *[numFeatures]featureVector) bool {
	for k := range a {
		pivot := a[k][k]
		if !(pivot > 0) || math.IsInf(pivot, 1) {
			return false
		}
		for j := range a {
			a[k][j] /= pivot
		}
		a[k][k] = 1 / pivot
		for i := range a {
			if i == k {
				continue
			}
			f := a[i][k]
			a[i][k] = 0
			for j := range a {
				a[i][j] -= f * a[k][j]
			}
		}
	}
	return true
}

// sumsVersion changes with the form of packed sums. The number of features is part of it.
const sumsVersion = 6<<8 | numFeatures

// packed is a Sums as agents send it.
type packed struct {
	_        struct{} `cbor:",toarray"`
	Version  int
	All      record
	Begun    bool
	Weights  []float64         // the precision's lower triangle by rows, then shift; none without pages
	Words    map[token]wordSum `most:"1048576"`
	Outcomes []linkOutcome
	Local    record
	Starts   []startPage
	Alike    alike
}

// Pack encodes the sums: about 8 kB for the weights, and 14 to 22 bytes per word.
func (s *Sums) Pack() []byte {
	p := packed{Version: sumsVersion, All: s.all, Begun: s.begun, Words: s.words, Outcomes: s.outcomes, Local: s.local, Starts: s.starts, Alike: s.alike}
	if s.all.pages > 0 {
		for i := range s.precision {
			p.Weights = append(p.Weights, s.precision[i][:i+1]...)
		}
		p.Weights = append(p.Weights, s.shift[:]...)
	}
	return wire.Encode(&p)
}

var (
	errSums = errors.New("sums of another agent's scorer cannot be read; run the same version of fossick on all agents")
	decoder = wire.NewDecoder(1<<20, 8)
)

// UnpackSums is the inverse of Pack. It rejects values that no crawl can produce.
func UnpackSums(data []byte) (*Sums, error) {
	var p packed
	if err := decoder.Unmarshal(data, &p); err != nil {
		return nil, fmt.Errorf("%w (%w)", errSums, err)
	}
	bad := p.Version != sumsVersion || !p.Alike.On.possible() || !p.Alike.Off.possible()
	for _, v := range p.Weights {
		bad = bad || !possible(v)
	}
	for _, o := range p.Outcomes {
		bad = bad || o.Worth == 0
	}
	for _, start := range p.Starts {
		bad = bad || !possible(start.Judged)
	}
	s := &Sums{all: p.All, begun: p.Begun, words: p.Words, outcomes: p.Outcomes, local: p.Local, starts: p.Starts, alike: p.Alike}
	if s.words == nil {
		s.words = map[token]wordSum{}
	}
	if bad = bad || (len(p.Weights) > 0) != (s.all.pages > 0) || len(p.Weights) > 0 && len(p.Weights) != numFeatures*(numFeatures+3)/2; bad {
		return nil, fmt.Errorf("%w (%d bytes)", errSums, len(data))
	}
	for i := range s.precision {
		if len(p.Weights) > 0 {
			copy(s.precision[i][:i+1], p.Weights[i*(i+1)/2:])
			for j := range i {
				s.precision[j][i] = s.precision[i][j]
			}
		}
	}
	copy(s.shift[:], p.Weights[max(0, len(p.Weights)-numFeatures):])
	return s, nil
}

// possible tells whether a crawl can produce a number.
func possible(v float64) bool { return math.Abs(v) <= 1e12 }

func (m *moments) possible() bool {
	return m.Weight >= 0 && m.Square >= 0 && possible(m.Weight) && possible(m.Sum) && possible(m.Square)
}

// MarshalBinary implements encoding.BinaryMarshaler: two float32.
func (r record) MarshalBinary() ([]byte, error) {
	b := binary.LittleEndian.AppendUint32(nil, math.Float32bits(r.pages))
	return binary.LittleEndian.AppendUint32(b, math.Float32bits(r.onTopic)), nil
}

// UnmarshalBinary implements encoding.BinaryUnmarshaler. It rejects counts that no crawl can produce.
func (r *record) UnmarshalBinary(b []byte) error {
	if len(b) != 8 {
		return errSums
	}
	r.pages, r.onTopic = math.Float32frombits(binary.LittleEndian.Uint32(b)), math.Float32frombits(binary.LittleEndian.Uint32(b[4:]))
	if !(r.pages >= 0 && r.onTopic >= 0 && r.onTopic <= r.pages*1.001 && r.pages < 1e9) {
		return errSums
	}
	return nil
}

// MarshalBinary implements encoding.BinaryMarshaler: the record of pages, then that of links unless it is empty.
func (w wordSum) MarshalBinary() ([]byte, error) {
	b, err := w.page.MarshalBinary()
	if w.link == (record{}) {
		return b, err
	}
	links, err := w.link.MarshalBinary()
	return append(b, links...), err
}

// UnmarshalBinary implements encoding.BinaryUnmarshaler.
func (w *wordSum) UnmarshalBinary(b []byte) error {
	w.link = record{}
	if len(b) > 8 {
		if err := w.link.UnmarshalBinary(b[8:]); err != nil {
			return err
		}
	}
	return w.page.UnmarshalBinary(b[:min(8, len(b))])
}
