package models

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"fossick/internal/testkit"
	"fossick/models/features"
)

func TestNetworkScores(t *testing.T) {
	n, hidden, s := networkModel().Network, make([]float32, 2), make([]float64, 2)
	for _, c := range []struct {
		name string
		x    features.Vector
		a    [2]float64 // sums of the units, biases included
	}{
		{"empty page", features.Vector{}, [2]float64{0.5, -0.5}},
		{"terms 0 and 2", features.Vector{Index: []int32{0, 2}, Value: []float32{2, 0.5}}, [2]float64{0.5 + 2 - 0.5, -0.5 - 4 + 1.5}},
	} {
		n.Scores(s, c.x, hidden)
		h0, h1 := math.Tanh(c.a[0]), math.Tanh(c.a[1])
		if want := 0.1 + 2*h0 - h1; math.Abs(s[0]-want) > 1e-6 || math.Abs(s[1]+want) > 1e-6 {
			t.Errorf("%s: scores %v, want %v and its opposite", c.name, s, want)
		}
	}
}

func randomNetwork(rng *rand.Rand, terms, units, classes int) *Network {
	draw := func(n int) []float32 {
		w := make([]float32, n)
		for i := range w {
			w[i] = float32(rng.NormFloat64())
		}
		return w
	}
	return &Network{Input: draw(terms * units), HiddenBias: draw(units), Output: draw(units * classes), OutputBias: draw(classes)}
}

// TestRelevance compares with the mean gradient along the way from the empty page, in small steps. All words
// add up to the difference from the empty page's score.
func TestRelevance(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	const terms, units, classes, steps = 6, 4, 3, 400
	hidden := make([]float32, units)
	// over returns a class's score over the mean of all.
	over := func(n *Network, x features.Vector, class int) float64 {
		s := make([]float64, classes)
		n.Scores(s, x, hidden)
		return s[class] - (s[0]+s[1]+s[2])/classes
	}
	for range 20 {
		n := randomNetwork(rng, terms, units, classes)
		x := features.Vector{Index: []int32{0, 2, 3, 5}}
		for range x.Index {
			x.Value = append(x.Value, rng.Float32())
		}
		for class := range classes {
			got, total := make([]float64, 4), 0.0
			n.Relevance(got, x, class)
			for j := range got {
				total += got[j]
				var want float64
				for k := range steps {
					at := features.Vector{Index: x.Index, Value: make([]float32, 4)}
					for i, v := range x.Value {
						at.Value[i] = v * (float32(k) + 0.5) / steps
					}
					const d = 1e-2
					at.Value[j] += d
					up := over(n, at, class)
					at.Value[j] -= 2 * d
					want += float64(x.Value[j]) * (up - over(n, at, class)) / (2 * d) / steps
				}
				if math.Abs(got[j]-want) > 1e-3 {
					t.Errorf("word %d says %v, its mean gradient along the way %v", j, got[j], want)
				}
			}
			if want := over(n, x, class) - over(n, features.Vector{}, class); math.Abs(total-want) > 1e-5 {
				t.Errorf("the words say %v together, the page differs by %v from an empty one", total, want)
			}
		}
	}
}

// TestLinearized: near the empty page the linear model scores like the network.
func TestLinearized(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	const terms, units, classes = 6, 4, 3
	hidden, got, want := make([]float32, units), make([]float64, classes), make([]float64, classes)
	for range 20 {
		n := randomNetwork(rng, terms, units, classes)
		l := n.Linearized()
		testkit.Must(t, l.check(terms, classes))
		x := features.Vector{Index: []int32{0, 3, 5}, Value: []float32{1e-3, -2e-3, 1e-3}}
		n.Scores(want, x, hidden)
		l.Scores(got, x)
		for c := range want {
			if math.Abs(got[c]-want[c]) > 1e-4 {
				t.Errorf("class %d: linear %v, network %v", c, got[c], want[c])
			}
		}
	}
}

func TestCheckNetwork(t *testing.T) {
	for name, damage := range map[string]func(*Network){
		"no units":      func(n *Network) { n.Input, n.HiddenBias, n.Output = nil, nil, nil },
		"input":         func(n *Network) { n.Input = n.Input[1:] },
		"hidden bias":   func(n *Network) { n.HiddenBias = n.HiddenBias[1:] },
		"output":        func(n *Network) { n.Output = append(n.Output, 1) },
		"output bias":   func(n *Network) { n.OutputBias = nil },
		"no number":     func(n *Network) { n.Output[0] = float32(math.NaN()) },
		"infinite bias": func(n *Network) { n.HiddenBias[1] = float32(math.Inf(1)) },
	} {
		m := networkModel()
		damage(m.Network)
		if m.Check() == nil {
			t.Errorf("%s: Check finds nothing", name)
		}
	}
	if err := networkModel().Check(); err != nil {
		t.Error(err)
	}
}

func TestCheckVote(t *testing.T) {
	testkit.Must(t, voteModel().Check())
	for name, c := range map[string]struct {
		damage func(*Model)
		says   string
	}{
		"nobody":       {func(m *Model) { m.Vote.Members = nil }, "0 others vote"},
		"a crowd":      {func(m *Model) { m.Vote.Members = make([]Member, MaxMembers+1) }, "9 others vote"},
		"no model":     {func(m *Model) { m.Vote.Members[1].Model = nil }, "member 2"},
		"votes within": {func(m *Model) { m.Vote.Members[1].Model = voteModel() }, "itself a vote"},
		"itself":       {func(m *Model) { m.Vote.Members[1].Model = m }, "itself a vote"},
		"share":        {func(m *Model) { m.Vote.Members[0].Share = 0.3 }, "add up to 1.05"},
		"no share":     {func(m *Model) { m.Vote.Members[0].Share = 0 }, "a share of 0"},
		"share NaN":    {func(m *Model) { m.Vote.Members[0].Share = math.NaN() }, "a share of NaN"},
		"place":        {func(m *Model) { m.Vote.Members[2].Places[1] = 1 }, "not where it should be"},
		"no place":     {func(m *Model) { m.Vote.Members[2].Places[1] = 3 }, "not where it should be"},
		"place twice":  {func(m *Model) { m.Vote.Members[0].Places[1] = 0 }, "not where it should be"},
		"fewer places": {func(m *Model) { m.Vote.Members[0].Places = nil }, "3 terms at 0 places"},
		"classes":      {func(m *Model) { m.Vote.Members[0].Model.Classes = []string{"banking", "sport"} }, "other classes"},
		"extractor":    {func(m *Model) { m.Vote.Members[0].Model.Extractor.Lead = 7 }, "another extractor"},
		"its table":    {func(m *Model) { m.Vote.Members[1].Model.Network.OutputBias = nil }, "network"},
		"and a tree":   {func(m *Model) { m.Tree = treeModel().Tree }, "2 tables"},
	} {
		m := voteModel()
		c.damage(m)
		if err := m.Check(); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: Check says %v, want %q", name, err, c.says)
		}
	}
}

// TestReadDamagedVote: damage behind the checksum is an error that says what to do.
func TestReadDamagedVote(t *testing.T) {
	for name, damage := range map[string]func([]wireMember){
		"place outside":  func(v []wireMember) { v[1].Places[2] = 77 },
		"place below":    func(v []wireMember) { v[1].Places[0] = -1 },
		"no model":       func(v []wireMember) { v[0].Model = nil },
		"votes within":   func(v []wireMember) { v[0].Model.Vote = newWireVote(voteModel().Vote) },
		"weights":        func(v []wireMember) { v[2].Model.Linear.Weights = nil },
		"share":          func(v []wireMember) { v[2].Share = -0.5 },
		"one IDF missed": func(v []wireMember) { v[2].Model.IDF = floats{1} },
	} {
		w := newWire(voteModel())
		damage(w.Vote)
		raw := testkit.Call(cbor.Marshal(w)).Must(t)
		if _, err := parse(raw); !errors.Is(err, errFormat) || !strings.Contains(err.Error(), "train the model again") {
			t.Errorf("%s: %v, want ErrFormat and what to do", name, err)
		}
	}
}

func TestVoteSaysTermsOnce(t *testing.T) {
	raw := testkit.Call(payload(voteModel())).Must(t)
	if n := bytes.Count(raw, []byte("mortgag")); n != 2 { // one is the word mortgage of K
		t.Errorf("a term of three members stands %d times, want once, and in K", n)
	}
}

func TestVoteScores(t *testing.T) {
	v := &Vote{Members: []Member{{Share: 0.25}, {Share: 0.75}}}
	probs := [][]float64{{1, 0, 0}, {0.2, 0.8, 0}}
	got := make([]float64, 3)
	v.Scores(got, func(i int) []float64 { return probs[i] })
	for c, want := range []float64{math.Log(0.4), math.Log(0.6), math.Log(leastProb)} {
		if math.Abs(got[c]-want) > 1e-12 {
			t.Errorf("class %d: %v, want %v", c, got[c], want)
		}
	}
	(&Calibration{Scale: 1}).Apply(got)
	if math.Abs(got[0]-0.4) > 1e-9 || math.Abs(got[1]-0.6) > 1e-9 {
		t.Errorf("at scale 1 the probabilities are %v, want the mean of the members'", got)
	}
}
