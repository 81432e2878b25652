package cluster

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"fossick/internal/testkit"
)

// speaker is an agent whose record of items, said, survives its runs.
type speaker struct {
	id    AgentID
	run   uint64
	b     *broadcast
	said  []string
	heard map[string]int // in this run
}

// gossip is a group of agents whose messages are lost, doubled, late and reordered.
type gossip struct {
	*rand.Rand
	agents   []*speaker
	runs     uint64
	waiting  []underWay
	lossless bool
}

type underWay struct {
	from AgentID
	broadcastTo
}

func newGossip(seed uint64, agents int) *gossip {
	n := &gossip{Rand: rand.New(rand.NewPCG(seed, 3))}
	for i := range agents {
		n.agents = append(n.agents, &speaker{id: AgentID(fmt.Sprint(i))})
		n.start(n.agents[i])
	}
	return n
}

func (n *gossip) start(a *speaker) {
	n.runs++
	a.run, a.b, a.heard = n.runs, newBroadcast(n.runs), map[string]int{}
}

func (n *gossip) say(a *speaker) {
	word := fmt.Sprintf("%s:%d", a.id, len(a.said))
	a.said = append(a.said, word)
	a.b.say(broadcastItem{Bytes: []byte(word)})
}

func (a *speaker) soFar() (items []broadcastItem, err error) {
	for _, word := range a.said {
		items = append(items, broadcastItem{Bytes: []byte(word), Old: true})
	}
	return items, nil
}

func nothing() ([]broadcastItem, error) { return nil, nil }

// roundOf returns the messages of an agent's round.
func roundOf(t testing.TB, b *broadcast, soFar func() ([]broadcastItem, error), to ...AgentID) []broadcastTo {
	t.Helper()
	messages := testkit.Call(b.nextRound(to, soFar)).Must(t)
	return messages
}

func (n *gossip) round(t *testing.T) {
	var ids []AgentID
	for _, a := range n.agents {
		ids = append(ids, a.id)
	}
	for _, a := range n.agents {
		for _, m := range roundOf(t, a.b, a.soFar, slices.DeleteFunc(slices.Clone(ids), func(id AgentID) bool { return id == a.id })...) {
			n.waiting = append(n.waiting, underWay{a.id, m})
		}
	}
	n.Shuffle(len(n.waiting), func(i, j int) { n.waiting[i], n.waiting[j] = n.waiting[j], n.waiting[i] })
	var late []underWay
	for _, m := range n.waiting {
		chance := n.Float64()
		if n.lossless {
			chance = 1
		}
		switch {
		case chance < .2:
			continue
		case chance < .4:
			late = append(late, m)
			continue
		case chance < .5:
			late = append(late, m) // and delivered now
		}
		for _, a := range n.agents {
			if a.id != m.to {
				continue
			}
			items := testkit.Call(a.b.handle(m.from, m.bytes)).Must(t)
			for _, word := range items {
				a.heard[string(word)]++
			}
		}
	}
	n.waiting = late
}

// TestAllHearAll: through losses, doubles, delays and restarts no item arrives twice in a run.
// Items said while all know each other reach all, and a new run receives everything said before.
func TestAllHearAll(t *testing.T) {
	for seed := range uint64(200) {
		n := newGossip(seed, 3)
		for range 120 {
			if n.IntN(3) == 0 {
				n.say(n.agents[n.IntN(3)])
			}
			if n.IntN(25) == 0 {
				n.start(n.agents[n.IntN(3)])
			}
			n.round(t)
		}
		n.start(n.agents[0])
		for range 40 {
			n.round(t)
		}
		for _, a := range n.agents {
			n.say(a)
		}
		for range 60 {
			n.round(t)
		}
		for _, a := range n.agents {
			for word, times := range a.heard {
				if times > 1 {
					t.Fatalf("seed %d: %s heard %s %d times", seed, a.id, word, times)
				}
			}
			for _, other := range n.agents {
				if last := other.said[len(other.said)-1]; other != a && a.heard[last] != 1 {
					t.Fatalf("seed %d: %s never heard %s", seed, a.id, last)
				}
			}
		}
		first := slices.Concat(n.agents[1].said, n.agents[2].said)
		if got := slices.Sorted(maps.Keys(n.agents[0].heard)); len(got) != len(first) {
			t.Fatalf("seed %d: who began last heard %d of %d", seed, len(got), len(first))
		}
		for _, a := range n.agents {
			for id, p := range a.b.peers {
				if len(p.queue) > 0 {
					t.Fatalf("seed %d: at %s %d items wait for %s", seed, a.id, len(p.queue), id)
				}
			}
		}
	}
}

// TestNobodyAnswers: the queue for a silent agent is bounded. Once it answers, it receives all
// items but the spare ones, in order.
func TestNobodyAnswers(t *testing.T) {
	n := newGossip(1, 2)
	n.lossless = true
	a, b := n.agents[0], n.agents[1]
	for range 3 {
		n.round(t)
	}
	large := make([]byte, 100<<10)
	for i := range 300 {
		a.b.say(broadcastItem{Bytes: append(slices.Clone(large), byte(i)), spare: true})
		if i%100 == 50 {
			a.b.say(broadcastItem{Bytes: fmt.Append(nil, "label ", i)})
		}
		for _, m := range roundOf(t, a.b, a.soFar, b.id) {
			if len(m.bytes) > roundBytes+1<<10 {
				t.Fatalf("a message of %d bytes", len(m.bytes))
			}
		}
	}
	size := 0
	for _, q := range a.b.peers[b.id].queue {
		size += len(q.Bytes)
	}
	if most := mostSpare*(len(large)+1) + 100; size > most {
		t.Errorf("%d bytes wait, want at most %d", size, most)
	}
	var got []string
	for range 3 * mostSpare {
		for _, m := range roundOf(t, a.b, a.soFar, b.id) {
			items := testkit.Call(b.b.handle(a.id, m.bytes)).Must(t)
			for _, it := range items {
				if len(it) < len(large) {
					got = append(got, string(it))
				}
			}
		}
		for _, m := range roundOf(t, b.b, b.soFar, a.id) {
			testkit.Call(a.b.handle(b.id, m.bytes)).Must(t)
		}
	}
	if want := "[label 50 label 150 label 250]"; fmt.Sprint(got) != want || len(a.b.peers[b.id].queue) > 0 {
		t.Errorf("heard %v, want %s; %d wait", got, want, len(a.b.peers[b.id].queue))
	}
}

func FuzzHear(f *testing.F) {
	a, b := newBroadcast(5), newBroadcast(6)
	for range 3 {
		for _, m := range roundOf(f, a, func() ([]broadcastItem, error) { return []broadcastItem{{Bytes: []byte("x")}}, nil }, "b") {
			f.Add(m.bytes)
			_, _ = b.handle("a", m.bytes)
		}
		for _, m := range roundOf(f, b, nothing, "a") {
			_, _ = a.handle("b", m.bytes)
		}
	}
	f.Fuzz(func(t *testing.T, bytes []byte) {
		b := newBroadcast(6)
		b.peers["a"] = &listener{run: 5, begun: true, queue: []broadcastItem{{Bytes: []byte("y")}}}
		if _, err := b.handle("a", bytes); err != nil {
			return
		}
		for range 5 {
			roundOf(t, b, nothing, "a")
		}
	})
}
