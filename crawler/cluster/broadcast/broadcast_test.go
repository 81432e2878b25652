package broadcast

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"fossick/crawler/cluster"
)

// speaker is an agent whose memory, said, outlives its runs.
type speaker struct {
	id    cluster.AgentID
	run   uint64
	b     *Broadcast
	said  []string
	heard map[string]int // in this run
}

// net is agents and messages that get lost, doubled, late and out of order.
type net struct {
	*rand.Rand
	agents   []*speaker
	runs     uint64
	waiting  []sent
	lossless bool
}

type sent struct {
	from cluster.AgentID
	Message
}

func newNet(seed uint64, agents int) *net {
	n := &net{Rand: rand.New(rand.NewPCG(seed, 3))}
	for i := range agents {
		n.agents = append(n.agents, &speaker{id: cluster.AgentID(fmt.Sprint(i))})
		n.start(n.agents[i])
	}
	return n
}

func (n *net) start(a *speaker) {
	n.runs++
	a.run, a.b, a.heard = n.runs, New(n.runs), map[string]int{}
}

func (n *net) say(a *speaker) {
	word := fmt.Sprintf("%s:%d", a.id, len(a.said))
	a.said = append(a.said, word)
	a.b.Say(Item{Bytes: []byte(word)})
}

func (a *speaker) soFar() (items []Item, err error) {
	for _, word := range a.said {
		items = append(items, Item{Bytes: []byte(word), Old: true})
	}
	return items, nil
}

func nothing() ([]Item, error) { return nil, nil }

// roundOf is a round of one agent.
func roundOf(t testing.TB, b *Broadcast, soFar func() ([]Item, error), to ...cluster.AgentID) []Message {
	t.Helper()
	messages, err := b.Round(to, soFar)
	if err != nil {
		t.Fatal(err)
	}
	return messages
}

func (n *net) round(t *testing.T) {
	var ids []cluster.AgentID
	for _, a := range n.agents {
		ids = append(ids, a.id)
	}
	for _, a := range n.agents {
		for _, m := range roundOf(t, a.b, a.soFar, slices.DeleteFunc(slices.Clone(ids), func(id cluster.AgentID) bool { return id == a.id })...) {
			n.waiting = append(n.waiting, sent{a.id, m})
		}
	}
	n.Shuffle(len(n.waiting), func(i, j int) { n.waiting[i], n.waiting[j] = n.waiting[j], n.waiting[i] })
	var late []sent
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
			late = append(late, m) // and now
		}
		for _, a := range n.agents {
			if a.id != m.To {
				continue
			}
			items, err := a.b.Hear(m.from, m.Bytes)
			if err != nil {
				t.Fatal(err)
			}
			for _, word := range items {
				a.heard[string(word)]++
			}
		}
	}
	n.waiting = late
}

// TestAllHearAll: through losses, doubles, delays and restarts nobody hears anything twice in
// a run. What is said while all know of each other all hear, and who begins hears all that
// was said before.
func TestAllHearAll(t *testing.T) {
	for seed := range uint64(200) {
		n := newNet(seed, 3)
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

// TestNobodyAnswers: what waits for an agent that does not answer is bounded, and it hears
// what cannot be left out, in order, once it does.
func TestNobodyAnswers(t *testing.T) {
	n := newNet(1, 2)
	n.lossless = true
	a, b := n.agents[0], n.agents[1]
	for range 3 {
		n.round(t)
	}
	large := make([]byte, 100<<10)
	for i := range 300 {
		a.b.Say(Item{Bytes: append(slices.Clone(large), byte(i)), Spare: true})
		if i%100 == 50 {
			a.b.Say(Item{Bytes: fmt.Append(nil, "label ", i)})
		}
		for _, m := range roundOf(t, a.b, a.soFar, b.id) {
			if len(m.Bytes) > roundBytes+1<<10 {
				t.Fatalf("a message of %d bytes", len(m.Bytes))
			}
		}
	}
	size := 0
	for _, q := range a.b.peers[b.id].queue {
		size += len(q.Bytes)
	}
	if most := mostWaiting*(len(large)+1) + 100; size > most {
		t.Errorf("%d bytes wait, want at most %d", size, most)
	}
	var got []string
	for range 3 * mostWaiting {
		for _, m := range roundOf(t, a.b, a.soFar, b.id) {
			items, err := b.b.Hear(a.id, m.Bytes)
			if err != nil {
				t.Fatal(err)
			}
			for _, it := range items {
				if len(it) < len(large) {
					got = append(got, string(it))
				}
			}
		}
		for _, m := range roundOf(t, b.b, b.soFar, a.id) {
			if _, err := a.b.Hear(b.id, m.Bytes); err != nil {
				t.Fatal(err)
			}
		}
	}
	if want := "[label 50 label 150 label 250]"; fmt.Sprint(got) != want || len(a.b.peers[b.id].queue) > 0 {
		t.Errorf("heard %v, want %s; %d wait", got, want, len(a.b.peers[b.id].queue))
	}
}

func FuzzHear(f *testing.F) {
	a, b := New(5), New(6)
	for range 3 {
		for _, m := range roundOf(f, a, func() ([]Item, error) { return []Item{{Bytes: []byte("x")}}, nil }, "b") {
			f.Add(m.Bytes)
			_, _ = b.Hear("a", m.Bytes)
		}
		for _, m := range roundOf(f, b, nothing, "a") {
			_, _ = a.Hear("b", m.Bytes)
		}
	}
	f.Fuzz(func(t *testing.T, bytes []byte) {
		b := New(6)
		b.peers["a"] = &peer{run: 5, begun: true, queue: []queued{{item: item{Bytes: []byte("y")}}}}
		if _, err := b.Hear("a", bytes); err != nil {
			return
		}
		for range 5 {
			roundOf(t, b, nothing, "a")
		}
	})
}
