package cluster

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"fossick/internal/wire"
)

const idA, idB, idC = AgentID("000000000000000a"), AgentID("000000000000000b"), AgentID("000000000000000c")

// rosterOf has members in their first lives.
func rosterOf(session, state uint64, settings string, ids ...AgentID) roster {
	r := roster{Version: taskVersion, Session: session, State: state, Settings: settings}
	for _, id := range ids {
		r = r.with(id, 1)
	}
	return r
}

// TestStep: what an agent makes of each roster that it may find.
func TestStep(t *testing.T) {
	for _, test := range []struct {
		name   string
		me     AgentID
		agents int // else idA, b and c are awaited
		seat   seat
		had    roster
		want   roster
		again  bool
		err    error
	}{
		{name: "nothing", me: idB, want: rosterOf(50, gathering, "x", idB)},
		{name: "after another", me: idB, had: rosterOf(7, ended, "x", idA, idB, idC), want: rosterOf(50, gathering, "x", idB)},
		{name: "of an earlier clock", me: idB, had: rosterOf(77, givenUp, "x", idA, idB, idC), want: rosterOf(78, gathering, "x", idB)},
		{name: "one more", me: idB, had: rosterOf(7, gathering, "x", idC), want: rosterOf(7, gathering, "x", idB, idC)},
		{name: "the last", me: idB, had: rosterOf(7, gathering, "x", idC, idA), want: rosterOf(7, working, "x", idA, idB, idC)},
		{name: "of a number", me: idB, agents: 2, had: rosterOf(7, gathering, "x", idC), want: rosterOf(7, working, "x", idB, idC)},
		{name: "waits", me: idB, seat: seat{session: 7, life: 1}, had: rosterOf(7, gathering, "x", idB, idC), want: rosterOf(7, gathering, "x", idB, idC)},
		{name: "all came", me: idB, seat: seat{session: 7, life: 1}, had: rosterOf(7, working, "x", idA, idB, idC), want: rosterOf(7, working, "x", idA, idB, idC)},
		{name: "came back early", me: idB, had: rosterOf(7, gathering, "x", idB, idC), want: rosterOf(7, gathering, "x", idC).with(idB, 2)},
		{name: "came back", me: idB, had: rosterOf(7, working, "x", idA, idB, idC), want: rosterOf(7, working, "x", idA, idC).with(idB, 2), again: true},
		{name: "the leader came back", me: idA, had: rosterOf(7, working, "x", idA, idB, idC), want: rosterOf(50, gathering, "x", idA)},
		{name: "unknown to them", me: idC, had: rosterOf(7, working, "x", idA, idB), want: rosterOf(50, gathering, "x", idC)},
		{name: "one too many", me: idC, agents: 2, had: rosterOf(7, working, "x", idA, idB), err: errWithout},
		{name: "other settings", me: idB, had: rosterOf(7, working, "y", idA, idB), want: rosterOf(50, gathering, "x", idB)},
		{name: "replaced by other settings", me: idB, seat: seat{session: 7, life: 1}, had: rosterOf(8, gathering, "y", idA), err: errSettings},
		{name: "replaced by the same", me: idB, seat: seat{session: 7, life: 1}, had: rosterOf(8, gathering, "x", idA), want: rosterOf(8, gathering, "x", idA, idB)},
		{name: "twice", me: idB, seat: seat{session: 7, life: 1}, had: rosterOf(7, gathering, "x", idA).with(idB, 2), err: errTwoTasks},
		{name: "given up before it was seen", me: idB, seat: seat{session: 7, life: 1}, had: rosterOf(7, givenUp, "x", idA, idB, idC), err: errGivenUp},
	} {
		s := test.seat
		s.Task = Task{Me: test.me, Settings: "x", Agents: test.agents}
		if test.agents == 0 {
			s.Named = []AgentID{idA, idB, idC}
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
	s := seat{Task: Task{Me: idB, Settings: "x"}, session: 7, life: 1}
	up := rosterOf(7, givenUp, "x", idA, idB)
	up.By = idA
	for want, r := range map[error]roster{
		nil: rosterOf(7, working, "x", idA, idB), errTwoTasks: rosterOf(7, working, "x", idA).with(idB, 2), ErrAnew: rosterOf(8, gathering, "x", idA),
		errSettings: rosterOf(8, gathering, "y", idA), errGivenUp: up,
	} {
		if err := s.verdict(r); !errors.Is(err, want) {
			t.Errorf("%+v: %v, want %v", r, err, want)
		}
	}
	if err := s.verdict(roster{}); !errors.Is(err, ErrAnew) { // the exchange lost all that it had
		t.Error(err)
	}
}

var someFrames = []peerFrame{
	{Version: taskVersion, Session: 7, From: 1, Life: 2, Of: 3, Ack: 4},
	{Version: taskVersion, Session: 1 << 60, Life: 1, Of: 1, Seq: 1, Kind: kindEnd, Bytes: []byte("text")},
	{Version: taskVersion, Session: 7, From: 3, Life: 1, Of: 1, Seq: 9, Kind: kindBye},
}

// FuzzTaskWire reads any bytes as a frame and as a roster: an error, or what is written and read
// alike, within its bounds.
func FuzzTaskWire(f *testing.F) {
	for _, one := range someFrames {
		f.Add(wire.Encode(one))
	}
	f.Add(wire.Encode(rosterOf(7, working, "rank d=0.85", idA, idB, idC)))
	f.Add(wire.Encode(roster{Version: taskVersion, Session: 1, State: ended, Members: []rosterMember{{ID: idB}, {ID: idB}}}))
	long := someFrames[1]
	long.Bytes = make([]byte, partBytes+1)
	f.Add(wire.Encode(long))
	f.Fuzz(func(t *testing.T, text []byte) {
		if got, err := decodePeerFrame(text); err == nil {
			again, err := decodePeerFrame(wire.Encode(got))
			if err != nil || !bytes.Equal(wire.Encode(again), wire.Encode(got)) || len(got.Bytes) > partBytes {
				t.Errorf("%x: %+v, then %+v, %v", text, got, again, err)
			}
		}
		if got, err := decodeRoster(text); err == nil {
			again, err := decodeRoster(wire.Encode(got))
			if err != nil || !bytes.Equal(wire.Encode(again), wire.Encode(got)) {
				t.Errorf("%x: %+v, then %+v, %v", text, got, again, err)
			}
			if !slices.IsSortedFunc(got.Members, func(a, b rosterMember) int { return bytes.Compare([]byte(a.ID), []byte(b.ID)) }) {
				t.Errorf("%x: %+v", text, got)
			}
		}
	})
}
