package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"fossick/internal/page"
	"fossick/internal/testkit"
	"fossick/internal/wire"
)

func TestHubOpen(t *testing.T) {
	hub := NewHub()
	first := testkit.Call(hub.Open(agentName(1))).Must(t)
	second := testkit.Call(hub.Open(agentName(1))).Must(t)
	if _, err := first.Receive(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("the first hears %v", err)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	if err := second.Send(t.Context(), agentName(1), []byte("x")); err != nil {
		t.Error(err)
	}
	if m, err := second.Receive(t.Context()); err != nil || string(m) != "x" {
		t.Errorf("the second hears %q, %v", m, err)
	}
	if _, err := hub.Open("someone"); !errors.Is(err, ErrName) {
		t.Errorf("a name that is none: %v", err)
	}
}

// TestPartitionOf: of 102,400 sites, each partition has between half and twice its share.
func TestPartitionOf(t *testing.T) {
	var sites [partitions]int
	for i := range 100 * partitions {
		sites[partitionOf(fmt.Sprintf("site%d.test", i))]++
	}
	for p, n := range sites {
		if n < 50 || n > 200 {
			t.Errorf("partition %d has %d sites", p, n)
		}
	}
}

// TestPart: the cache of hosts changes no result, even with more hosts than it holds.
func TestPart(t *testing.T) {
	s := newSites()
	for round := range 2 {
		for i := range 3 * rememberedHosts {
			u := fmt.Sprintf("http://www%d.site%d.test/x", i%3, i)
			if i%1000 == 0 || round == 0 && i < 1000 {
				if got, want := s.Part(u), uint16(partitionOf(page.Site(u))); got != want {
					t.Fatalf("%s: %d, want %d", u, got, want)
				}
				continue
			}
			s.Part(u)
		}
	}
}

var sampleMessage = message{
	Version: wireVersion, Kind: kindLinks, From: "0123456789abcdef", Partition: 7, Epoch: 3, Base: 4, After: 5,
	Parcels: []Parcel{{Number: 6, Bytes: []byte("one")}, {Number: 9, Bytes: []byte("two")}},
}

var sampleTable = table{
	version: 9, term: 2, coordinator: idA,
	members: map[AgentID]member{idA: {3, idB}, idB: {1, idA}},
	entries: []entry{{owner: idA, epoch: 4, next: idB}, {owner: idB, epoch: 9, from: idC, taken: true}, {}},
}

func TestWire(t *testing.T) {
	m, err := decodeMessage(wire.Encode(sampleMessage))
	if err != nil || !bytes.Equal(wire.Encode(m), wire.Encode(sampleMessage)) {
		t.Errorf("%+v, %v", m, err)
	}
	tb, err := decodeTable(sampleTable.encode())
	if err != nil || !bytes.Equal(tb.encode(), sampleTable.encode()) || tb.entries[1] != sampleTable.entries[1] || tb.members[idA] != sampleTable.members[idA] {
		t.Errorf("%+v, %v", tb, err)
	}
	whole := table{version: 1, members: map[AgentID]member{}, entries: make([]entry, partitions)}
	for i := range whole.entries {
		id := AgentID([]byte("000000000000000" + string(rune('0'+i%10))))
		whole.members[id] = member{incarnation: 1}
		whole.entries[i] = entry{owner: id, epoch: uint64(i) * 1000, from: id}
	}
	if n := len(whole.encode()); n > 16<<10 {
		t.Errorf("the table of all partitions has %d bytes", n)
	}
}

func TestWireRefuses(t *testing.T) {
	for name, change := range map[string]func(m *message){
		"another version":    func(m *message) { m.Version++ },
		"another kind":       func(m *message) { m.Kind = 77 },
		"no such partition":  func(m *message) { m.Partition = partitions },
		"a parcel too early": func(m *message) { m.After = 6 },
		"parcels that fall":  func(m *message) { m.Parcels = []Parcel{{Number: 9}, {Number: 8}} },
	} {
		m := sampleMessage
		change(&m)
		if _, err := decodeMessage(wire.Encode(m)); !errors.Is(err, errWire) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := decodeMessage(make([]byte, 3*mostMessageBytes)); !errors.Is(err, errWire) {
		t.Errorf("too long: %v", err)
	}
	for _, r := range []report{{Head: []float64{1, math.NaN()}}, {Best: []surveyPoint{{Priority: math.NaN()}}}} {
		if _, err := decodeHeartbeat(wire.Encode(heartbeat{Version: wireVersion, Report: r})); !errors.Is(err, errWire) {
			t.Errorf("%+v: %v", r, err)
		}
	}
	if _, err := decodeBudget(wire.Encode(budgetValue{Version: wireVersion, Price: math.NaN()})); !errors.Is(err, errWire) {
		t.Errorf("no price at all: %v", err)
	}
	if v, err := decodeBudget(wire.Encode(budgetValue{Version: wireVersion, Price: math.Inf(-1)})); err != nil || !math.IsInf(v.Price, -1) {
		t.Errorf("the price -Inf was read as %g, %v", v.Price, err)
	}
	if _, err := decodeHeartbeat(wire.Encode(heartbeat{Version: wireVersion, Returned: -1})); !errors.Is(err, errWire) {
		t.Errorf("gave back less than nothing: %v", err)
	}
	if _, err := decodeBudget(wire.Encode(budgetValue{Version: wireVersion, Grants: map[AgentID]int64{idA: math.MinInt64}})); !errors.Is(err, errWire) {
		t.Errorf("granted less than nothing: %v", err)
	}
}

func FuzzMessage(f *testing.F) {
	f.Add(wire.Encode(sampleMessage))
	f.Add(wire.Encode(message{Version: wireVersion, Kind: kindAck, From: idA, After: 3}))
	f.Add([]byte{0x80})
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := decodeMessage(b)
		if err != nil {
			return
		}
		again, err := decodeMessage(wire.Encode(m))
		if err != nil || !bytes.Equal(wire.Encode(again), wire.Encode(m)) {
			t.Errorf("%+v was read as %+v, %v", m, again, err)
		}
	})
}

func FuzzTable(f *testing.F) {
	f.Add(sampleTable.encode())
	f.Add((&table{}).encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		tb, err := decodeTable(b)
		if err != nil {
			return
		}
		again, err := decodeTable(tb.encode())
		if err != nil || !bytes.Equal(again.encode(), tb.encode()) {
			t.Errorf("%+v was read as %+v, %v", tb, again, err)
		}
	})
}

// FuzzValues decodes any bytes as heartbeats and budgets.
func FuzzValues(f *testing.F) {
	f.Add(wire.Encode(heartbeat{Version: wireVersion, Incarnation: 1, Report: report{Head: []float64{1, 0.5}}}))
	f.Add(wire.Encode(budgetValue{Version: wireVersion, Grants: map[AgentID]int64{idA: 1, idB: 2}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if h, err := decodeHeartbeat(b); err == nil {
			if again, err := decodeHeartbeat(wire.Encode(h)); err != nil || !bytes.Equal(wire.Encode(again), wire.Encode(h)) {
				t.Errorf("%+v was read as %+v, %v", h, again, err)
			}
		}
		if v, err := decodeBudget(b); err == nil {
			if again, err := decodeBudget(wire.Encode(v)); err != nil || !bytes.Equal(wire.Encode(again), wire.Encode(v)) {
				t.Errorf("%+v was read as %+v, %v", v, again, err)
			}
		}
	})
}

// TestStatusOf: Status shows what agents and coordinator wrote. An undecodable value is named,
// and the rest is still shown.
func TestStatusOf(t *testing.T) {
	if s := StatusOf(nil); len(s.Agents) != 0 || s.Partitions != 0 || len(s.Unreadable) != 0 {
		t.Errorf("of nothing: %+v", s)
	}
	w := simulate(ofSeed(0, sound))
	values := maps.Clone(w.values)
	s := StatusOf(values)
	if len(s.Agents) == 0 || s.Coordinator == "" || s.Ended == "" || len(s.Unreadable) != 0 {
		t.Fatalf("%+v", s)
	}
	owned := 0
	for _, a := range s.Agents {
		owned += a.Partitions
	}
	if owned != s.Partitions || owned == 0 {
		t.Errorf("%d partitions are owned, of agents %d", s.Partitions, owned)
	}
	for key := range values {
		v := values[key]
		values[key] = Value{Bytes: []byte{0xff}, Revision: 1}
		left := StatusOf(values)
		if !slices.Equal(left.Unreadable, []string{key}) {
			t.Errorf("%s cannot be read, and these are said to be so: %q", key, left.Unreadable)
		}
		if ok := strings.HasPrefix(key, agentKeys); len(left.Agents) < len(s.Agents)-1 || !ok && len(left.Agents) != len(s.Agents) {
			t.Errorf("without %s there are %d agents of %d", key, len(left.Agents), len(s.Agents))
		}
		values[key] = v
	}
}
