package cluster

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// rankKind says what a message is for. An agent that comes back is told again in this order.
type rankKind byte

const (
	rankClaims   rankKind = 1 + iota // part → part: keys of its pages, ascending
	rankOwners                       // the answer: the owner of each
	rankMentions                     // part → part: keys of nodes that pages it owns link to, ascending
	rankPlaces                       // the answer: the owner of each
	rankWants                        // part → owner: keys of nodes that it links to, ascending
	rankLeaves                       // the answer: 1 for each without links
	rankCopies                       // part → owner: keys of pages that it has too, ascending
	rankHello                        // part → coordinator: numbers: nodes and links owned, bytes sent
	rankBegin                        // coordinator → part: numbers: nodes of all; floats: damping
	rankTurn                         // coordinator → part: numbers: 1 for the last round, 1 for a mere step; floats: goal, a factor for each part, γ
	rankMasses                       // part → part: floats: what links bring to each node wanted
	rankReport                       // part → coordinator, see play
	rankFinish                       // coordinator → part: floats: sum of y, of that of leaves
	rankChange                       // part → coordinator: numbers: bytes sent; floats: the change by the step
	rankDone                         // coordinator → part: numbers and floats: the result
	rankScores                       // the answer to copies: the score of each
	rankAgain                        // from a part that died: send your messages again
)

// rankMessage is what peers send. Encoded: the kind, a byte; the round; counts of the three
// lists; keys as differences; numbers; all of these as varints; then floats, little-endian, to
// the last bit.
type rankMessage struct {
	kind    rankKind
	round   int
	keys    []uint64 // ascending, none twice
	numbers []uint64
	floats  []float64
}

var errRank = errors.New("not a message of this exchange of ranks")

const mostRankRounds = 1 << 30

func (m rankMessage) encode() []byte {
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

// decodeRank reads a message. It allocates no more than there are bytes.
func decodeRank(b []byte) (m rankMessage, err error) {
	if len(b) == 0 || rankKind(b[0]) < rankClaims || rankKind(b[0]) > rankAgain {
		return m, fmt.Errorf("%w: unknown kind", errRank)
	}
	m.kind = rankKind(b[0])
	b, bad := b[1:], false
	next := func() uint64 {
		x, n := binary.Uvarint(b)
		if n <= 0 {
			bad = true
			return 0
		}
		b = b[n:]
		return x
	}
	round, keys, numbers, floats := next(), next(), next(), next()
	left := uint64(len(b))
	if bad || round > mostRankRounds || keys > left || numbers > left-keys || floats > (left-keys-numbers)/8 {
		return m, fmt.Errorf("%w: truncated, or counts beyond its bytes", errRank)
	}
	m.round = int(round)
	last := uint64(0)
	for i := range keys {
		step := next()
		if i > 0 && step == 0 || last+step < last {
			return m, fmt.Errorf("%w: keys do not ascend", errRank)
		}
		last += step
		m.keys = append(m.keys, last)
	}
	for range numbers {
		m.numbers = append(m.numbers, next())
	}
	if bad || uint64(len(b)) != 8*floats {
		return m, fmt.Errorf("%w: %d bytes for %d numbers", errRank, len(b), floats)
	}
	for i := range floats {
		x := math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return m, fmt.Errorf("%w: %g", errRank, x)
		}
		m.floats = append(m.floats, x)
	}
	return m, nil
}

// has checks the lengths of a message without keys.
func (m rankMessage) has(numbers, floats int) error {
	if len(m.keys) != 0 || len(m.numbers) != numbers || len(m.floats) != floats {
		return fmt.Errorf("%w: kind %d has %d keys, %d numbers, %d floats; want 0, %d, %d; run agents of one version", errRank,
			m.kind, len(m.keys), len(m.numbers), len(m.floats), numbers, floats)
	}
	return nil
}

// rankLine is one peer's end. It keeps the last message of each kind to each other peer, and
// sends them again to a peer that died and came back. So that peer finds all that it needs, and
// the others do no work twice.
type rankLine struct {
	peers rankPeers
	said  []map[rankKind][]byte // by peer
	bytes uint64                // sent
}

func newRankLine(peers rankPeers, count int) *rankLine {
	l := &rankLine{peers: peers, said: make([]map[rankKind][]byte, count)}
	for i := range l.said {
		l.said[i] = map[rankKind][]byte{}
	}
	return l
}

func (l *rankLine) send(ctx context.Context, to int, m rankMessage) error {
	b := m.encode()
	if m.kind != rankAgain {
		l.said[to][m.kind] = b
	}
	l.bytes += uint64(len(b))
	return l.peers.Send(ctx, to, b)
}

// receive returns the next message, and has sent all again to a peer that asks for it.
func (l *rankLine) receive(ctx context.Context) (from int, m rankMessage, err error) {
	from, b, err := l.peers.Receive(ctx)
	if err != nil {
		return from, m, err
	}
	if from < 0 || from >= len(l.said) {
		return from, m, fmt.Errorf("%w: from peer %d of %d", errRank, from, len(l.said))
	}
	if m, err = decodeRank(b); err != nil {
		return from, m, fmt.Errorf("peer %d: %w", from, err)
	}
	if m.kind != rankAgain {
		return from, m, nil
	}
	for k := rankClaims; k < rankAgain; k++ {
		if b, ok := l.said[from][k]; ok {
			l.bytes += uint64(len(b))
			if err := l.peers.Send(ctx, from, b); err != nil {
				return from, m, err
			}
		}
	}
	return from, m, nil
}
