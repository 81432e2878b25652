package cluster

import (
	"errors"
	"strings"
	"testing"

	"fossick/internal/testkit"
	"fossick/internal/wire"
)

// TestGarbageValues: garbage in any key of the exchange ends no agent, and the crawl finishes.
func TestGarbageValues(t *testing.T) {
	class := testkit.Tries(t, "garbage in the exchange's values")
	long := strings.Repeat("x", 70_000)
	for _, key := range []string{tableKey, budgetKey, agentKeys + "0000000000000001", agentKeys + "0000000000000002", agentKeys, agentKeys + long, "other"} {
		for name, value := range map[string][]byte{
			"nothing": {}, "text": []byte("garbage"), "a number": {7}, "a list": wire.Encode([]int{wireVersion}), "another version": wire.Encode([]int{99, 1}),
			"long names": wire.Encode(budgetValue{Version: wireVersion, Grants: map[AgentID]int64{AgentID(long): 1}}),
			"a table":    (&table{version: 1 << 40, members: map[AgentID]member{}}).encode(),
		} {
			if strings.HasPrefix(key, agentKeys) && name == "another version" {
				continue // ends a crawl once the table has that version too
			}
			for seed := range uint64(3) {
				w := simulate(schedule{seed: seed, garbage: func(w *world) {
					w.rev++
					w.values[key] = Value{value, w.rev}
					for p := range w.taken { // as if the value were lost
						w.taken[p] = true
					}
				}})
				if w.wrong != nil {
					t.Error(w.wrong)
				}
			}
			class.Try(!t.Failed(), "%s in %.40q", name, key)
		}
	}
}

// TestStrangersMessages: messages from agents outside the table never reach an engine, and
// invalid names are refused.
func TestStrangersMessages(t *testing.T) {
	class := testkit.Tries(t, "messages of strangers")
	long := strings.Repeat("0", 66_000)
	for _, from := range []string{"", long, "a b", "a/b", "\x00", "..", "a\nb", strings.Repeat("a", 33), "ä"} {
		for kind := uint64(kindLinks); kind <= kindEngine; kind++ {
			_, err := decodeMessage(wire.Encode(message{Version: wireVersion, Kind: kind, From: AgentID(from), Parcels: []Parcel{{Number: 1}}}))
			class.Try(errors.Is(err, errWire), "from %.40q, kind %d: %v", from, kind, err)
		}
	}
	for _, from := range []AgentID{idA, idB, "stranger"} {
		for kind := uint64(kindLinks); kind <= kindEngine; kind++ {
			n := newNode(Protocol{ID: idA, parts: 1}, recovered{})
			n.owned.table = &table{version: 1, members: map[AgentID]member{idA: {1, idB}, idB: {1, idA}}, entries: []entry{{owner: idA, epoch: 1}}}
			n.owned.parts[0], n.lease.joined, n.lease.until = ownedPart{epoch: 1}, true, 10
			n.handle(0, wire.Encode(message{Version: wireVersion, Kind: kind, From: from, Epoch: 1, Parcels: []Parcel{{Number: 1, Bytes: []byte{1}}}}))
			reached := false
			for _, e := range n.effects {
				switch e.(type) {
				case takeParcels, engineMessage:
					reached = true
				}
			}
			want := from != "stranger" && (kind == kindLinks || kind == kindEngine)
			class.Try(reached == want, "from %s, kind %d: reaches the engine: %v", from, kind, reached)
		}
	}
}
