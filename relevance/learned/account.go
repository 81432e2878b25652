package learned

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"fossick/relevance"
)

// account is why a target had its score when it was fetched, in numbers. A
// crawl writes one for each page and hardly ever reads one, so it is kept as it
// is, in 340 bytes. In words it would be 1,700, an eighth of what a page takes
// in the store.
type account struct {
	expected      float64       // probability that it is on topic
	parents       float64       // pages that link to it
	host, folder  float64       // pages fetched of each
	hops          float64       // links since a page on topic
	explored      bool          // it was fetched to learn of it
	byDegree      bool          // it was fetched by R, before the first lesson
	inText        bool          // a link to it stands in running text
	found, weighs featureVector // what each feature is, and what it adds to the log-odds
}

// terms says in words what each feature adds.
func (a *account) terms() []relevance.Term {
	terms := []relevance.Term{{Name: "expected", Value: a.expected, Note: "when it was fetched; the parts below add up to its log-odds"}}
	if a.explored {
		terms = append(terms, relevance.Term{Name: "explored", Value: 1, Note: "fetched because little was known of it, not for its score"})
	}
	if a.byDegree {
		terms = append(terms, relevance.Term{Name: "by R", Value: 1, Note: "nothing was learned yet: links with the largest R came first, and among equals the most promising ones"})
	}
	for i, about := range a.about() {
		terms = append(terms, relevance.Term{Name: about[0], Value: a.weighs[i], Note: about[1]})
	}
	return terms
}

// An account is packed as its version, its flags and the number of its
// features, a byte each. Then come expected; parents, host, folder and hops; of
// each feature what it is and what it adds. What is added to the score, and the
// score, have 8 bytes, so that they add up, all else 4: it is told in two
// digits. All are little-endian.
const (
	accountVersion = 1
	accountHead    = 3 + 8 + 4*4
	accountFeature = 4 + 8

	flagExplored = 1
	flagInText   = 2
	flagByDegree = 4
)

func (a *account) pack() []byte {
	b := make([]byte, 0, accountHead+numFeatures*accountFeature)
	var flags byte
	if a.explored {
		flags |= flagExplored
	}
	if a.inText {
		flags |= flagInText
	}
	if a.byDegree {
		flags |= flagByDegree
	}
	b = append(b, accountVersion, flags, numFeatures)
	b = append64(b, a.expected)
	for _, v := range [...]float64{a.parents, a.host, a.folder, a.hops} {
		b = append32(b, v)
	}
	for i := range a.found {
		b = append64(append32(b, a.found[i]), a.weighs[i])
	}
	return b
}

func append32(b []byte, v float64) []byte {
	return binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
}

func append64(b []byte, v float64) []byte {
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
}

var errAccount = errors.New("the record of its score cannot be read")

// unpack reads what pack wrote. An account of an earlier build has fewer features.
func unpack(b []byte) (a account, n int, err error) {
	if len(b) < accountHead || b[0] != accountVersion || int(b[2]) > numFeatures {
		return a, 0, fmt.Errorf("%w: it is of another build of fossick", errAccount)
	}
	if n = int(b[2]); len(b) != accountHead+n*accountFeature {
		return a, 0, fmt.Errorf("%w: it has %d bytes, want %d", errAccount, len(b), accountHead+n*accountFeature)
	}
	a.explored, a.inText, a.byDegree = b[1]&flagExplored != 0, b[1]&flagInText != 0, b[1]&flagByDegree != 0
	a.expected = float64At(b[3:])
	for i, v := range [...]*float64{&a.parents, &a.host, &a.folder, &a.hops} {
		*v = float32At(b[11+4*i:])
	}
	for i := range n {
		feature := b[accountHead+i*accountFeature:]
		a.found[i], a.weighs[i] = float32At(feature), float64At(feature[4:])
	}
	return a, n, nil
}

func float32At(b []byte) float64 {
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
}

func float64At(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }

// Spell makes terms of a Score's Account, none of one that is empty. It fails on one that
// it did not write.
func Spell(packed []byte) ([]relevance.Term, error) {
	if len(packed) == 0 {
		return nil, nil
	}
	a, n, err := unpack(packed)
	if err != nil {
		return nil, err
	}
	terms := a.terms()
	return terms[:len(terms)-(numFeatures-n)], nil
}
