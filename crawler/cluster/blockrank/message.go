package blockrank

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// kind says what a message is for. What an agent that died is told again comes in the
// order of kinds.
type kind byte

const (
	claims   kind = 1 + iota // part → part: keys of its pages, ascending
	owners                   // the answer: the owner of each
	mentions                 // part → part: keys of nodes that pages it owns lead to, ascending
	places                   // the answer: the owner of each
	wants                    // part → owner: keys of nodes that it leads to, ascending
	leaves                   // the answer: 1 for each without links
	copies                   // part → owner: keys of pages that it has too, ascending
	hello                    // part → coordinator: numbers: nodes and links owned, bytes sent
	begin                    // coordinator → part: numbers: nodes of all; floats: damping
	turn                     // coordinator → part: numbers: 1 for the last round, 1 for a mere step; floats: goal, a factor for each part
	masses                   // part → part: floats: what leads to each node wanted
	report                   // part → coordinator, see round.go
	finish                   // coordinator → part: floats: sum of y, of that leaves'
	change                   // part → coordinator: numbers: bytes sent; floats: what the step changed
	done                     // coordinator → part: numbers and floats: the result
	ranks                    // the answer to copies: the score of each
	again                    // from a part that died: say again what you said
	lastKind = again
)

// message is what peers say. Encoded: the kind, a byte; the round; counts of the
// three lists; keys as differences; numbers; all of these as varints; then floats,
// little-endian, to the last bit.
type message struct {
	kind    kind
	round   int
	keys    []uint64 // ascending, none twice
	numbers []uint64
	floats  []float64
}

// ErrMessage reports bytes that are no message, or one that has no place here.
var ErrMessage = errors.New("not a message of this exchange of ranks")

const mostRounds = 1 << 30

func (m message) encode() []byte {
	b := make([]byte, 0, 16+9*len(m.keys)+2*len(m.numbers)+8*len(m.floats))
	b = append(b, byte(m.kind))
	for _, n := range []int{m.round, len(m.keys), len(m.numbers), len(m.floats)} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	last := uint64(0)
	for _, k := range m.keys {
		b = binary.AppendUvarint(b, k-last)
		last = k
	}
	for _, n := range m.numbers {
		b = binary.AppendUvarint(b, n)
	}
	for _, x := range m.floats {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return b
}

// decode reads a message. Counts are believed only as far as there are bytes.
func decode(b []byte) (m message, err error) {
	if len(b) == 0 || kind(b[0]) < claims || kind(b[0]) > lastKind {
		return m, fmt.Errorf("%w: unknown kind", ErrMessage)
	}
	r := reader{b: b[1:]}
	m.kind = kind(b[0])
	round, keys, numbers, floats := r.next(), r.next(), r.next(), r.next()
	left := uint64(len(r.b))
	if r.bad || round > mostRounds || keys > left || numbers > left-keys || floats > (left-keys-numbers)/8 {
		return m, fmt.Errorf("%w: truncated, or counts beyond its %d bytes", ErrMessage, len(b))
	}
	m.round = int(round)
	last := uint64(0)
	for i := range keys {
		step := r.next()
		if i > 0 && step == 0 || last+step < last {
			return m, fmt.Errorf("%w: keys do not ascend", ErrMessage)
		}
		last += step
		m.keys = append(m.keys, last)
	}
	for range numbers {
		m.numbers = append(m.numbers, r.next())
	}
	if r.bad || uint64(len(r.b)) != 8*floats {
		return m, fmt.Errorf("%w: %d bytes for %d numbers", ErrMessage, len(r.b), floats)
	}
	for i := range floats {
		x := math.Float64frombits(binary.LittleEndian.Uint64(r.b[8*i:]))
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return m, fmt.Errorf("%w: %g", ErrMessage, x)
		}
		m.floats = append(m.floats, x)
	}
	return m, nil
}

// has says whether a message has so many of each.
func (m message) has(keys, numbers, floats int) error {
	if len(m.keys) != keys || len(m.numbers) != numbers || len(m.floats) != floats {
		return fmt.Errorf("%w: kind %d has %d keys, %d numbers, %d floats; want %d, %d, %d; run agents of one version", ErrMessage,
			m.kind, len(m.keys), len(m.numbers), len(m.floats), keys, numbers, floats)
	}
	return nil
}

type reader struct {
	b   []byte
	bad bool
}

func (r *reader) next() uint64 {
	x, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.bad = true
		return 0
	}
	r.b = r.b[n:]
	return x
}
