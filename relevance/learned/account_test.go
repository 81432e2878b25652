package learned

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"fossick/relevance"
)

// spelled returns all terms of a score.
func spelled(t *testing.T, s relevance.Score) []relevance.Term {
	t.Helper()
	terms, err := Spell(s.Account)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(s.Terms, terms)
}

func randomAccount(rng *rand.Rand) *account {
	a := &account{
		expected: rng.Float64(), parents: float64(rng.IntN(70000)), host: float64(rng.IntN(1 << 20)), folder: float64(rng.IntN(100)),
		hops: float64(rng.IntN(256)), explored: rng.IntN(2) == 0, inText: rng.IntN(2) == 0,
	}
	for i := range a.found {
		a.found[i] = float64(float32(rng.NormFloat64()))
		a.weighs[i] = rng.NormFloat64() * float64(rng.IntN(2))
	}
	return a
}

// TestAccount: what is packed is had back, and spelled out as before, to the last digit.
func TestAccount(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	for range 200 {
		a := randomAccount(rng)
		got, n, err := unpack(a.pack())
		if err != nil || n != numFeatures || got != *a {
			t.Fatalf("%+v, %d, %v; want %+v", got, n, err, *a)
		}
		terms, err := Spell(a.pack())
		if err != nil || !slices.Equal(terms, a.terms()) {
			t.Fatalf("%v, %v; want %v", terms, err, a.terms())
		}
	}
	if n := len(randomAccount(rng).pack()); n > 400 {
		t.Errorf("an account has %d bytes, want at most 400", n)
	}
}

// TestAccountOfEarlierBuild: with fewer features, those that it has are told.
func TestAccountOfEarlierBuild(t *testing.T) {
	a := randomAccount(rand.New(rand.NewPCG(17, 18)))
	packed := a.pack()
	const had = featFolder + 1
	packed = packed[:accountHead+had*accountFeature]
	packed[2] = had
	terms, err := Spell(packed)
	want := a.terms()
	if err != nil || !slices.Equal(terms, want[:len(want)-(numFeatures-had)]) {
		t.Errorf("%v, %v; want %v without the last %d", terms, err, want, numFeatures-had)
	}
}

func FuzzSpell(f *testing.F) {
	a := randomAccount(rand.New(rand.NewPCG(19, 20)))
	f.Add(a.pack())
	f.Add(a.pack()[:100])
	f.Add([]byte{accountVersion + 1})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, packed []byte) {
		terms, err := Spell(packed)
		if err != nil || len(packed) == 0 {
			if len(terms) != 0 {
				t.Errorf("%v and %d terms", err, len(terms))
			}
			return
		}
		got, n, _ := unpack(packed)
		again, _, err := unpack(got.pack())
		if err != nil || n == numFeatures && !sameAccount(&got, &again) {
			t.Errorf("%+v, packed again %+v, %v", got, again, err)
		}
	})
}

// sameAccount compares numbers by their bits: a packed one may hold no number.
func sameAccount(a, b *account) bool {
	same := func(x, y float64) bool {
		return math.Float64bits(x) == math.Float64bits(y) || math.IsNaN(x) && math.IsNaN(y)
	}
	for i := range a.found {
		if !same(a.found[i], b.found[i]) || !same(a.weighs[i], b.weighs[i]) {
			return false
		}
	}
	return same(a.expected, b.expected) && same(a.hops, b.hops) && a.explored == b.explored && a.inText == b.inText
}
