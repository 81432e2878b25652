package learned

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
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
	starts  int
	on, off moments
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
		p.words = p.words[:min(len(p.words), maxStartWords)]
		s.starts = append(s.starts, p)
	}
}

// learnAlike records a page's similarity to the current start pages.
func (s *Sums) learnAlike(starts int, similarity, probability float64) {
	if s == nil {
		return
	}
	a := alike{starts: starts}
	a.on.add(probability, similarity)
	a.off.add(1-probability, similarity)
	s.alike.plus(&a)
}

// plus adds similarities to equally many start pages; those to fewer are useless.
func (a *alike) plus(o *alike) {
	if o.starts > a.starts {
		*a = *o
	} else if o.starts == a.starts {
		a.on.plus(o.on)
		a.off.plus(o.off)
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
		if words -= len(p.words); words < 0 {
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

// sumsVersion is the first byte of packed sums. Change it when the features change.
const sumsVersion = 5

// Pack encodes the sums: about 9 kB for the weights, and 9 to 21 bytes per word.
func (s *Sums) Pack() []byte {
	b := binary.AppendUvarint([]byte{sumsVersion}, uint64(numFeatures))
	b = s.all.pack(binary.AppendUvarint(b, bit(s.begun)))
	if s.all.pages > 0 {
		b = s.packWeights(b)
	}
	b = s.packOutcomes(s.packWords(b))
	return s.alike.pack(s.packStarts(s.local.pack(b)))
}

// packStarts sorts tokens, as packWords does.
func (s *Sums) packStarts(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(s.starts)))
	for _, p := range s.starts {
		b = binary.AppendUvarint(packNumber(b, p.judged), uint64(len(p.words))<<1|bit(p.trained))
		last := token(0)
		for _, t := range slices.Sorted(slices.Values(p.words)) {
			b = binary.AppendUvarint(b, uint64(t-last))
			last = t
		}
	}
	return b
}

func bit(yes bool) uint64 {
	if yes {
		return 1
	}
	return 0
}

func (a *alike) pack(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(a.starts))
	for _, m := range [...]moments{a.on, a.off} {
		b = packNumber(packNumber(packNumber(b, m.weight), m.sum), m.square)
	}
	return b
}

func packNumber(b []byte, v float64) []byte {
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
}

func (s *Sums) packOutcomes(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(s.outcomes)))
	for _, t := range s.outcomes {
		b = append(binary.LittleEndian.AppendUint64(b, t.referrer), t.at, t.worth)
	}
	return b
}

func (s *Sums) packWeights(b []byte) []byte {
	for i := range s.precision {
		for j := range i + 1 {
			b = packNumber(b, s.precision[i][j])
		}
	}
	for _, v := range s.shift {
		b = packNumber(b, v)
	}
	return b
}

// Flags beside a packed token: which records follow.
const (
	onPages = 1 << iota
	inLinks
)

// packWords sorts the tokens, so that their differences are short.
func (s *Sums) packWords(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(s.words)))
	last := token(0)
	for _, t := range slices.Sorted(maps.Keys(s.words)) {
		w, has := s.words[t], uint64(0)
		if w.page != (record{}) {
			has |= onPages
		}
		if w.link != (record{}) {
			has |= inLinks
		}
		b = binary.AppendUvarint(b, uint64(t-last)<<2|has)
		if last = t; has&onPages != 0 {
			b = w.page.pack(b)
		}
		if has&inLinks != 0 {
			b = w.link.pack(b)
		}
	}
	return b
}

func (r record) pack(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(r.pages))
	return binary.LittleEndian.AppendUint32(b, math.Float32bits(r.onTopic))
}

var errSums = errors.New("sums of another agent's scorer cannot be read; run the same version of fossick on all agents")

// UnpackSums is the inverse of Pack. It rejects values that no crawl can produce.
func UnpackSums(data []byte) (*Sums, error) {
	s, r := newSums(), unpacker{data: data}
	if r.bytes(1)[0] != sumsVersion || r.uvarint() != numFeatures {
		return nil, errSums
	}
	s.begun = r.uvarint() != 0
	if s.all = r.record(); s.all.pages > 0 {
		r.weights(s)
	}
	r.words(s)
	r.outcomes(s)
	s.local = r.record()
	r.starts(s)
	s.alike = r.alike()
	if r.bad || len(r.data) > 0 {
		return nil, fmt.Errorf("%w (%d bytes)", errSums, len(data))
	}
	return s, nil
}

// unpacker reads what Pack wrote; after an error it returns zeros.
type unpacker struct {
	data []byte
	bad  bool
	zero [8]byte
}

func (u *unpacker) bytes(n int) []byte {
	if u.bad || len(u.data) < n {
		u.bad = true
		return u.zero[:n]
	}
	b := u.data[:n]
	u.data = u.data[n:]
	return b
}

func (u *unpacker) uvarint() uint64 {
	v, n := binary.Uvarint(u.data)
	if n <= 0 {
		u.bad = true
		return 0
	}
	u.data = u.data[n:]
	return v
}

func (u *unpacker) number() float64 {
	v := math.Float64frombits(binary.LittleEndian.Uint64(u.bytes(8)))
	if math.IsNaN(v) || math.Abs(v) > 1e12 {
		u.bad = true
		return 0
	}
	return v
}

func (u *unpacker) weights(s *Sums) {
	for i := range s.precision {
		for j := range i + 1 {
			s.precision[i][j] = u.number()
			s.precision[j][i] = s.precision[i][j]
		}
	}
	for i := range s.shift {
		s.shift[i] = u.number()
	}
}

func (u *unpacker) words(s *Sums) {
	last := uint64(0)
	for n := u.uvarint(); n > 0 && !u.bad; n-- {
		next := u.uvarint()
		last += next >> 2
		var w wordSum
		if next&onPages != 0 {
			w.page = u.record()
		}
		if next&inLinks != 0 {
			w.link = u.record()
		}
		u.bad = u.bad || last > math.MaxUint32 || next>>2 > math.MaxUint32
		s.words[token(last)] = w
	}
}

func (u *unpacker) outcomes(s *Sums) {
	for n := u.uvarint(); n > 0 && !u.bad; n-- {
		t := linkOutcome{referrer: binary.LittleEndian.Uint64(u.bytes(8))}
		rest := u.bytes(2)
		if t.at, t.worth = rest[0], rest[1]; t.worth == 0 {
			u.bad = true
		}
		s.outcomes = append(s.outcomes, t)
	}
}

func (u *unpacker) starts(s *Sums) {
	for n := u.uvarint(); n > 0 && !u.bad; n-- {
		p := startPage{judged: u.number()}
		words, last := u.uvarint(), uint64(0)
		p.trained = words&1 != 0
		for words >>= 1; words > 0 && !u.bad; words-- {
			next := u.uvarint()
			last += next
			u.bad = u.bad || last > math.MaxUint32 || next > math.MaxUint32
			p.words = append(p.words, token(last))
		}
		s.starts = append(s.starts, p)
	}
}

func (u *unpacker) alike() (a alike) {
	n := u.uvarint()
	u.bad = u.bad || n > math.MaxInt32
	a.starts = int(n)
	for _, m := range [...]*moments{&a.on, &a.off} {
		*m = moments{u.number(), u.number(), u.number()}
		u.bad = u.bad || m.weight < 0 || m.square < 0
	}
	return a
}

func (u *unpacker) record() record {
	r := record{math.Float32frombits(binary.LittleEndian.Uint32(u.bytes(4))), math.Float32frombits(binary.LittleEndian.Uint32(u.bytes(4)))}
	if !(r.pages >= 0 && r.onTopic >= 0 && r.onTopic <= r.pages*1.001 && r.pages < 1e9) {
		u.bad = true
		return record{}
	}
	return r
}
