package learned

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
)

// sumsVersion begins packed sums. It changes when features do.
const sumsVersion = 5

// Pack returns the sums as bytes: some 9 kB where there are pages, and 9 to 21 bytes a word.
func (s *Sums) Pack() []byte {
	b := binary.AppendUvarint([]byte{sumsVersion}, uint64(numFeatures))
	b = s.all.pack(binary.AppendUvarint(b, bit(s.begun)))
	if s.all.pages > 0 {
		b = s.packWeights(b)
	}
	b = s.packTurns(s.packWords(b))
	return s.alike.pack(s.packStarts(s.local.pack(b)))
}

// packStarts has the tokens of a page rise, as packWords.
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

func (s *Sums) packTurns(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(s.turns)))
	for _, t := range s.turns {
		b = append(binary.LittleEndian.AppendUint64(b, t.giver), t.at, t.worth)
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

// Bits beside a packed token say which records follow it.
const (
	onPages = 1 << iota
	inLinks
)

// packWords has the tokens rise, so that their distances are short.
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

// errSums reports bytes that are no sums of this build.
var errSums = errors.New("sums of another agent's scorer cannot be read; run the same version of fossick on all agents")

// UnpackSums is the inverse of Pack. Numbers that no crawl can come to are an error.
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
	r.turns(s)
	s.local = r.record()
	r.starts(s)
	s.alike = r.alike()
	if r.bad || len(r.data) > 0 {
		return nil, fmt.Errorf("%w (%d bytes)", errSums, len(data))
	}
	return s, nil
}

// unpacker reads what Pack wrote; after bad it reads zeros.
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

func (u *unpacker) turns(s *Sums) {
	for n := u.uvarint(); n > 0 && !u.bad; n-- {
		t := turn{giver: binary.LittleEndian.Uint64(u.bytes(8))}
		rest := u.bytes(2)
		if t.at, t.worth = rest[0], rest[1]; t.worth == 0 {
			u.bad = true
		}
		s.turns = append(s.turns, t)
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
