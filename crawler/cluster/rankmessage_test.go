package cluster

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"testing"
)

var someRankMessages = []rankMessage{
	{kind: rankAgain},
	{kind: rankClaims, keys: []uint64{0, 1, 1 << 40, math.MaxUint64}},
	{kind: rankOwners, numbers: []uint64{0, 7, math.MaxUint64}},
	{kind: rankTurn, round: 12, numbers: []uint64{1, 0}, floats: []float64{0.1, 1, math.MaxFloat64, math.SmallestNonzeroFloat64, 0}},
}

func TestRankMessages(t *testing.T) {
	for _, m := range someRankMessages {
		got, err := decodeRank(m.encode())
		if err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("%+v comes back as %+v, %v", m, got, err)
		}
	}
	nan, falls := rankMessage{kind: rankMasses, floats: []float64{math.NaN()}}, rankMessage{kind: rankClaims, keys: []uint64{3, 3}}
	whole := someRankMessages[3].encode()
	for name, b := range map[string][]byte{
		"empty": nil, "kind 0": {0, 0, 0, 0, 0}, "kind beyond": {byte(rankAgain) + 1, 0, 0, 0, 0}, "NaN": nan.encode(), "a key twice": falls.encode(),
		"cut": whole[:len(whole)-1], "more": append(whole[:len(whole):len(whole)], 0), "a count without bytes": {byte(rankMasses), 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f},
	} {
		if _, err := decodeRank(b); !errors.Is(err, errRank) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzRankMessage reads any bytes: an error, or a message that is written and read alike.
func FuzzRankMessage(f *testing.F) {
	for _, m := range someRankMessages {
		f.Add(m.encode())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := decodeRank(b)
		if err != nil {
			return
		}
		again := m.encode()
		if len(again) > len(b) { // a varint may be longer than it must, never shorter
			t.Errorf("%x is written as %x", b, again)
		}
		twice, err := decodeRank(again)
		if err != nil || !bytes.Equal(twice.encode(), again) {
			t.Errorf("%x: then %+v, %v", b, twice, err)
		}
	})
}
