package cluster

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// rankKind is a message's kind. A peer that comes back receives stored messages in this order.
type rankKind byte

const (
	rankClaims   rankKind = 1 + iota // part → part: keys of its pages, ascending
	rankOwners                       // answer: the owner of each
	rankMentions                     // part → part: keys of nodes that its own pages link to, ascending
	rankPlaces                       // answer: the owner of each
	rankWants                        // part → owner: keys of nodes that the part links to, ascending
	rankLeaves                       // answer: 1 for each without links
	rankCopies                       // part → owner: keys of pages that the part also has, ascending
	rankHello                        // part → coordinator: numbers: nodes and links owned, bytes sent
	rankBegin                        // coordinator → part: numbers: nodes of all; floats: damping
	rankTurn                         // coordinator → part: numbers: 1 if last round, 1 if only a power step; floats: goal, a factor for each part, γ
	rankMasses                       // part → part: floats: mass that links bring to each wanted node
	rankReport                       // part → coordinator, see play
	rankFinish                       // coordinator → part: floats: sum of all y, sum of y of leaves
	rankChange                       // part → coordinator: numbers: bytes sent; floats: change by the step
	rankDone                         // coordinator → part: numbers and floats: the result
	rankScores                       // answer to rankCopies: the score of each
	rankAgain                        // from a part that died and is back: send your messages again
)

// rankMessage is a message of the ranking. Its encoding: the kind, a byte; then varints: the
// round, the lengths of the three lists, keys as differences, numbers; then floats, little-endian
// IEEE 754.
type rankMessage struct {
	kind    rankKind
	round   int
	keys    []uint64 // ascending, distinct
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

// decodeRank decodes a message. It allocates in proportion to the bytes.
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

func (m rankMessage) has(numbers, floats int) error {
	if len(m.keys) != 0 || len(m.numbers) != numbers || len(m.floats) != floats {
		return fmt.Errorf("%w: kind %d has %d keys, %d numbers, %d floats; want 0, %d, %d; run agents of one version", errRank,
			m.kind, len(m.keys), len(m.numbers), len(m.floats), numbers, floats)
	}
	return nil
}

// rankLine keeps the last message of each kind to each peer, and sends them again to a peer that
// died and came back. So no other part repeats work.
type rankLine struct {
	peers rankPeers
	said  []map[rankKind][]byte
	bytes uint64
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

// receive returns the next message, after sending all again if it is rankAgain.
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
