package peers

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"fossick/crawler/cluster"
	"fossick/internal/wire"
)

const a, b, c = cluster.AgentID("000000000000000a"), cluster.AgentID("000000000000000b"), cluster.AgentID("000000000000000c")

// rosterOf has members in their first lives.
func rosterOf(session, state uint64, settings string, ids ...cluster.AgentID) roster {
	r := roster{Version: wireVersion, Session: session, State: state, Settings: settings}
	for _, id := range ids {
		r = r.with(id, 1)
	}
	return r
}

// TestStep: what an agent makes of each roster that it may find.
func TestStep(t *testing.T) {
	for _, test := range []struct {
		name   string
		me     cluster.AgentID
		agents int // else a, b and c are awaited
		seat   seat
		had    roster
		want   roster
		again  bool
		err    error
	}{
		{name: "nothing", me: b, want: rosterOf(50, gathering, "x", b)},
		{name: "after another", me: b, had: rosterOf(7, done, "x", a, b, c), want: rosterOf(50, gathering, "x", b)},
		{name: "of an earlier clock", me: b, had: rosterOf(77, givenUp, "x", a, b, c), want: rosterOf(78, gathering, "x", b)},
		{name: "one more", me: b, had: rosterOf(7, gathering, "x", c), want: rosterOf(7, gathering, "x", b, c)},
		{name: "the last", me: b, had: rosterOf(7, gathering, "x", c, a), want: rosterOf(7, working, "x", a, b, c)},
		{name: "of a number", me: b, agents: 2, had: rosterOf(7, gathering, "x", c), want: rosterOf(7, working, "x", b, c)},
		{name: "waits", me: b, seat: seat{session: 7, life: 1}, had: rosterOf(7, gathering, "x", b, c), want: rosterOf(7, gathering, "x", b, c)},
		{name: "all came", me: b, seat: seat{session: 7, life: 1}, had: rosterOf(7, working, "x", a, b, c), want: rosterOf(7, working, "x", a, b, c)},
		{name: "came back early", me: b, had: rosterOf(7, gathering, "x", b, c), want: rosterOf(7, gathering, "x", c).with(b, 2)},
		{name: "came back", me: b, had: rosterOf(7, working, "x", a, b, c), want: rosterOf(7, working, "x", a, c).with(b, 2), again: true},
		{name: "the leader came back", me: a, had: rosterOf(7, working, "x", a, b, c), want: rosterOf(50, gathering, "x", a)},
		{name: "unknown to them", me: c, had: rosterOf(7, working, "x", a, b), want: rosterOf(50, gathering, "x", c)},
		{name: "one too many", me: c, agents: 2, had: rosterOf(7, working, "x", a, b), err: ErrWithout},
		{name: "other settings", me: b, had: rosterOf(7, working, "y", a, b), want: rosterOf(50, gathering, "x", b)},
		{name: "replaced by other settings", me: b, seat: seat{session: 7, life: 1}, had: rosterOf(8, gathering, "y", a), err: ErrSettings},
		{name: "replaced by the same", me: b, seat: seat{session: 7, life: 1}, had: rosterOf(8, gathering, "x", a), want: rosterOf(8, gathering, "x", a, b)},
		{name: "twice", me: b, seat: seat{session: 7, life: 1}, had: rosterOf(7, gathering, "x", a).with(b, 2), err: ErrTwice},
		{name: "given up before it was seen", me: b, seat: seat{session: 7, life: 1}, had: rosterOf(7, givenUp, "x", a, b, c), err: ErrGivenUp},
	} {
		s := test.seat
		s.opt = &Options{Me: test.me, Settings: "x", Agents: test.agents}
		if test.agents == 0 {
			s.opt.Named = []cluster.AgentID{a, b, c}
		}
		got, g, err := s.step(test.had, 50)
		if !errors.Is(err, test.err) {
			t.Errorf("%s: %v, want %v", test.name, err, test.err)
			continue
		}
		if err != nil {
			continue
		}
		at, _ := got.find(test.me)
		if !bytes.Equal(wire.Encode(got), wire.Encode(test.want)) || g.again != test.again || g.life != got.Members[at].Life {
			t.Errorf("%s: %+v, %+v; want %+v, again %v", test.name, got, g, test.want, test.again)
		}
		if same := test.had.Version != 0 && bytes.Equal(wire.Encode(got), wire.Encode(test.had)); g.changed == same {
			t.Errorf("%s: changed %v: %+v", test.name, g.changed, got)
		}
	}
}

func TestVerdict(t *testing.T) {
	s := seat{opt: &Options{Me: b, Settings: "x"}, session: 7, life: 1}
	up := rosterOf(7, givenUp, "x", a, b)
	up.By = a
	for want, r := range map[error]roster{
		nil: rosterOf(7, working, "x", a, b), ErrTwice: rosterOf(7, working, "x", a).with(b, 2), ErrAnew: rosterOf(8, gathering, "x", a),
		ErrSettings: rosterOf(8, gathering, "y", a), ErrGivenUp: up,
	} {
		if err := s.verdict(r); !errors.Is(err, want) {
			t.Errorf("%+v: %v, want %v", r, err, want)
		}
	}
	if err := s.verdict(roster{}); !errors.Is(err, ErrAnew) { // the exchange lost all that it had
		t.Error(err)
	}
}

var someFrames = []frame{
	{Version: wireVersion, Session: 7, From: 1, Life: 2, Of: 3, Ack: 4},
	{Version: wireVersion, Session: 1 << 60, Life: 1, Of: 1, Seq: 1, Kind: kindEnd, Bytes: []byte("text")},
	{Version: wireVersion, Session: 7, From: 3, Life: 1, Of: 1, Seq: 9, Kind: kindBye},
}

// FuzzWire reads any bytes as a frame and as a roster: an error, or what is written and read
// alike, within its bounds.
func FuzzWire(f *testing.F) {
	for _, one := range someFrames {
		f.Add(wire.Encode(one))
	}
	f.Add(wire.Encode(rosterOf(7, working, "rank d=0.85", a, b, c)))
	f.Add(wire.Encode(roster{Version: wireVersion, Session: 1, State: done, Members: []member{{ID: b}, {ID: b}}}))
	long := someFrames[1]
	long.Bytes = make([]byte, pieceBytes+1)
	f.Add(wire.Encode(long))
	f.Fuzz(func(t *testing.T, text []byte) {
		if got, err := decodeFrame(text); err == nil {
			again, err := decodeFrame(wire.Encode(got))
			if err != nil || !bytes.Equal(wire.Encode(again), wire.Encode(got)) || len(got.Bytes) > pieceBytes {
				t.Errorf("%x: %+v, then %+v, %v", text, got, again, err)
			}
		}
		if got, err := decodeRoster(text); err == nil {
			again, err := decodeRoster(wire.Encode(got))
			if err != nil || !bytes.Equal(wire.Encode(again), wire.Encode(got)) {
				t.Errorf("%x: %+v, then %+v, %v", text, got, again, err)
			}
			if !slices.IsSortedFunc(got.Members, func(a, b member) int { return bytes.Compare([]byte(a.ID), []byte(b.ID)) }) {
				t.Errorf("%x: %+v", text, got)
			}
		}
	})
}
