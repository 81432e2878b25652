package models

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
)

func TestCheckVote(t *testing.T) {
	if err := voteModel().Check(); err != nil {
		t.Fatal(err)
	}
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

// TestReadDamagedVote: what is wrong behind the checksum is an error that says what
// to do, whether it keeps members from being put together or from working.
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
		raw, err := cbor.Marshal(w)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parse(raw); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "train the model again") {
			t.Errorf("%s: %v, want ErrFormat and what to do", name, err)
		}
	}
}

// TestVoteSaysTermsOnce: members' terms stand in the file as places.
func TestVoteSaysTermsOnce(t *testing.T) {
	raw, err := payload(voteModel())
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(raw, []byte("mortgag")); n != 2 { // the word mortgage of K is one
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
