package blockrank

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"testing"
)

var someMessages = []message{
	{kind: again},
	{kind: claims, keys: []uint64{0, 1, 1 << 40, math.MaxUint64}},
	{kind: owners, numbers: []uint64{0, 7, math.MaxUint64}},
	{kind: turn, round: 12, numbers: []uint64{1, 0}, floats: []float64{0.1, 1, math.MaxFloat64, math.SmallestNonzeroFloat64, 0}},
}

func TestMessages(t *testing.T) {
	for _, m := range someMessages {
		got, err := decode(m.encode())
		if err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("%+v comes back as %+v, %v", m, got, err)
		}
	}
	nan, falls := message{kind: masses, floats: []float64{math.NaN()}}, message{kind: claims, keys: []uint64{3, 3}}
	whole := someMessages[3].encode()
	for name, b := range map[string][]byte{
		"empty": nil, "kind 0": {0, 0, 0, 0, 0}, "kind beyond": {byte(lastKind) + 1, 0, 0, 0, 0}, "NaN": nan.encode(), "a key twice": falls.encode(),
		"cut": whole[:len(whole)-1], "more": append(whole[:len(whole):len(whole)], 0), "a count without bytes": {byte(masses), 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f},
	} {
		if _, err := decode(b); !errors.Is(err, ErrMessage) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzMessage reads any bytes: an error, or a message that is written and read alike.
func FuzzMessage(f *testing.F) {
	for _, m := range someMessages {
		f.Add(m.encode())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := decode(b)
		if err != nil {
			return
		}
		again := m.encode()
		if len(again) > len(b) { // a varint may be longer than it must, never shorter
			t.Errorf("%x is written as %x", b, again)
		}
		twice, err := decode(again)
		if err != nil || !bytes.Equal(twice.encode(), again) {
			t.Errorf("%x: then %+v, %v", b, twice, err)
		}
	})
}
