package cluster

import (
	"math"
	"testing"
	"time"

	"fossick/internal/wire"
)

// coordinatorOf returns a coordinating node that sees agents with these reports.
func coordinatorOf(opt Protocol, reports map[AgentID]report) *node {
	opt.ID = idA
	n := newNode(opt, recovered{})
	n.lease.incarnation, n.lease.joined, n.lease.until = 1, true, time.Hour
	revision := uint64(1)
	for id, r := range reports {
		revision++
		n.view.others[id] = &other{revision: revision, beat: heartbeat{Incarnation: 1, Report: r}}
	}
	n.owned.table = &table{version: 1, coordinator: idA, members: map[AgentID]member{}, entries: make([]entry, n.opt.parts)}
	return n
}

// settle applies spread until nothing changes, releasing all moving partitions. It returns how
// many moved.
func settle(t *testing.T, n *node) (moved int) {
	t.Helper()
	for range 100 {
		next := n.spread(0, n.owned.table.clone())
		if next == nil {
			return moved
		}
		for p, e := range next.entries {
			if was := n.owned.table.entries[p]; was.owner != "" && was.owner != e.owner {
				moved++
			}
		}
		n.owned.table, n.known = next, next.version
		for id, o := range n.view.others {
			o.beat.Released = nil
			for p, e := range next.entries {
				if e.owner == id && e.next != "" {
					o.beat.Released = append(o.beat.Released, release{Partition: partition(p), Epoch: e.epoch})
				}
			}
		}
	}
	t.Fatal("the table changes for ever")
	return 0
}

func loads(n *node) map[AgentID]int {
	loads := map[AgentID]int{}
	for _, e := range n.owned.table.entries {
		loads[e.owner]++
	}
	return loads
}

// TestSpread: partitions are spread evenly as agents come and go, with as few moves as possible.
func TestSpread(t *testing.T) {
	n := coordinatorOf(Protocol{}, map[AgentID]report{idA: {}})
	settle(t, n)
	for agents := 2; agents <= 9; agents++ {
		n.view.others[agentName(15+agents)] = &other{revision: uint64(100 + agents), beat: heartbeat{Incarnation: 1}}
		moved := settle(t, n)
		for id, load := range loads(n) {
			if load < partitions/agents || load > partitions/agents+1 {
				t.Errorf("of %d agents %s has %d partitions", agents, id, load)
			}
		}
		if moved > partitions/agents+1 {
			t.Errorf("%d partitions moved to the %d. agent", moved, agents)
		}
	}
	before := loads(n)[agentName(20)]
	n.view.others[agentName(20)].beat.Leaving = true
	if moved := settle(t, n); moved != before || loads(n)[agentName(20)] != 0 {
		t.Errorf("%d of %d partitions moved from the agent that leaves, %d are left", moved, before, loads(n)[agentName(20)])
	}
	keeper := n.owned.table.members[agentName(22)].keeper
	n.view.others[agentName(22)].beat.Dead = true
	next := n.spread(0, n.owned.table.clone())
	for p, e := range n.owned.table.entries {
		if now := next.entries[p]; e.owner == agentName(22) && (now.owner != keeper || !now.taken || now.epoch != next.version) {
			t.Fatalf("partition %d of the dead: %+v, want it with the keeper %s", p, now, keeper)
		}
	}
}

// TestKeeps: an agent keeps replicas only of agents that the table assigns to it, so none without
// a table.
func TestKeeps(t *testing.T) {
	a := &Member{opt: memberOptions{Protocol: Protocol{ID: idA}}}
	if a.isKeeperOf(idB) {
		t.Error("it keeps a replica before it runs")
	}
	a.node = coordinatorOf(Protocol{}, map[AgentID]report{idA: {}})
	a.node.owned.table.members = map[AgentID]member{idA: {keeper: idB}, idB: {keeper: idA}, idC: {keeper: idB}, idD: {}}
	for id, want := range map[AgentID]bool{idA: false, idB: true, idC: false, idD: false, "stranger": false} {
		if got := a.isKeeperOf(id); got != want {
			t.Errorf("a keeps the replica of %s: %v, want %v", id, got, want)
		}
	}
	a.node.owned.gone, a.node.owned.table = a.node.owned.table, nil
	if !a.isKeeperOf(idB) {
		t.Error("it has lost the table, and lets go of a replica that the last one gave to it")
	}
	a.node.owned.gone = nil
	if a.isKeeperOf(idB) {
		t.Error("it keeps a replica without a table")
	}
}

// TestGrace: an agent that returns within its grace keeps its partitions in a new epoch.
func TestGrace(t *testing.T) {
	n := coordinatorOf(Protocol{Grace: time.Minute}, map[AgentID]report{idA: {}, idB: {}})
	settle(t, n)
	b := n.view.others[idB]
	b.beat.Dead = true
	if next := n.spread(59*time.Second, n.owned.table.clone()); next != nil && loads(n)[idB] != partitions/2 {
		t.Errorf("within the grace: %v", loads(n))
	}
	if next := n.spread(time.Minute, n.owned.table.clone()); next == nil || next.entries[0].owner == idB {
		t.Error("after the grace the dead still owns")
	}
	b.beat.Dead = false
	b.beat.Incarnation = 2
	old := n.owned.table
	settle(t, n)
	for p, e := range old.entries {
		if now := n.owned.table.entries[p]; e.owner == idB && (now.owner != idB || now.epoch <= e.epoch) {
			t.Fatalf("partition %d after its owner came back: %+v, was %+v", p, now, e)
		}
	}
}

// TestGrants: at the end of a budget, pages go to the best links. The price is that of the last
// link with a worker.
func TestGrants(t *testing.T) {
	reports := map[AgentID]report{
		idA: {Pages: 40, Waiting: 100, Workers: 2, Head: []float64{0.9, 0.8, 0.3}},
		idB: {Pages: 57, Waiting: 100, Workers: 1, Head: []float64{0.7, 0.2, 0.1}},
	}
	for _, c := range []struct {
		most, a, b int64 // budget, and grants
	}{
		{97, 40, 57},
		{98, 41, 57},
		{100, 42, 58},
		{101, 43, 58},
		{150, 44, 59},  // twice the workers
		{1000, 68, 85}, // a 32nd of the pages left
	} {
		n := coordinatorOf(Protocol{maxPages: c.most}, reports)
		grants := map[AgentID]int64{}
		n.grant(0, grants)
		if grants[idA] != c.a || grants[idB] != c.b {
			t.Errorf("of %d pages: %v, want a %d and b %d", c.most, grants, c.a, c.b)
		}
	}
	n := coordinatorOf(Protocol{maxPages: 100}, reports)
	grants := map[AgentID]int64{idA: 41, idB: 62}
	if n.grant(0, grants); grants[idA] != 41 || grants[idB] != 62 {
		t.Errorf("more was granted than there is, and then %v; grants never fall", grants)
	}
}

// TestFree: of 100 pages, a has 40 less 5 returned, b 20, and an unseen agent 7. Within the
// horizon an agent takes a link a worker, or as many as its pace allows.
func TestFree(t *testing.T) {
	n := coordinatorOf(Protocol{maxPages: 100}, map[AgentID]report{idA: {}, idB: {}})
	n.view.others[idA].beat.Returned = 5
	if got := n.free(map[AgentID]int64{idA: 40, idB: 20, "lost": 7}); got != 38 {
		t.Errorf("%d pages are free, want 38", got)
	}
	n.lease.every = 4 * time.Second // a third of the horizon
	if few, many := n.takes(&report{Workers: 2, Pace: 3}), n.takes(&report{Workers: 50, Pace: 3}); few != 36 || many != 50 {
		t.Errorf("2 and 50 workers take %d and %d links at 3 a second in 12 seconds, want 36 and 50", few, many)
	}
}

// TestPrice: the price depends only on the order of priorities, not on sign or size. It is below
// all of them if there are more workers than links.
func TestPrice(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		a, b    []float64
		workers int // workers of a; b has one
		want    float64
	}{
		{[]float64{0.9, 0.8, 0.3}, []float64{0.7, 0.2, 0.1}, 2, 0.7},
		{[]float64{-1, -2, -7}, []float64{-3, -8, -9}, 2, -3}, // breadth-first: minus the discovery number
		{[]float64{9e15, 8e15, -inf}, []float64{-1e-9, -inf}, 2, -1e-9},
		{[]float64{0.9, 0.8, 0.3}, []float64{0.7, 0.2, 0.1}, 20, -inf},
		{[]float64{-1, -2, -7}, []float64{-3, -8, -9}, 20, -inf},
		{nil, nil, 2, -inf},
	} {
		n := coordinatorOf(Protocol{}, map[AgentID]report{idA: {Workers: c.workers, Head: c.a}, idB: {Workers: 1, Head: c.b}})
		if price := n.price(0); price != c.want {
			t.Errorf("%d workers for %v and one for %v: price %g, want %g", c.workers, c.a, c.b, price, c.want)
		}
		n.opt.price = func([]report) float64 { return -inf }
		n.ledger.next = -1
		n.divide(0)
		if plan := n.ledger.plan.Price; plan != c.want {
			t.Errorf("%d workers for %v and one for %v: the budget names the price %g, want %g", c.workers, c.a, c.b, plan, c.want)
		}
	}
}

// TestMinHarvest: the crawl ends once its last pages are worth too little, not before.
func TestMinHarvest(t *testing.T) {
	for _, c := range []struct {
		name     string
		relevant func(page int64) int64 // of the first so many pages
		end      int64                  // 0: never
	}{
		{"good", func(page int64) int64 { return page / 2 }, 0},
		{"near the least", func(page int64) int64 { return page / 9 }, 0},
		{"poor from the start", func(page int64) int64 { return page / 100 }, 200},
		{"poor after 600", func(page int64) int64 { return min(page, 600) / 2 }, 780},
	} {
		n := coordinatorOf(Protocol{minHarvest: 0.1, harvestPages: 200}, map[AgentID]report{idA: {}, idB: {}})
		end := int64(0)
		for page := int64(0); page < 2000 && end == 0; page += 20 {
			for _, id := range []AgentID{idA, idB} {
				n.view.others[id].beat.Report = report{Pages: page / 2, Relevant: c.relevant(page) / 2}
			}
			if n.poor() {
				end = page
			}
		}
		if end < c.end || end > c.end+40 || c.end == 0 && end != 0 {
			t.Errorf("%s: ended after %d pages, want %d", c.name, end, c.end)
		}
	}
}

// TestUpper: with z² = 5.410276, 0 of 100 gives z²/(100 + z²), and 20 give (0.2 + z²/200 +
// z·√(0.16/100 + z²/40000)) / (1 + z²/100).
func TestUpper(t *testing.T) {
	for _, c := range []struct {
		k    int64
		want float64
	}{{0, 0.051326}, {20, 0.307317}, {100, 1}} {
		if got := upper(c.k, 100); !(math.Abs(got-c.want) <= 1e-6) {
			t.Errorf("%d of 100: %.6f, want %.6f", c.k, got, c.want)
		}
	}
}

// TestPrefers: an agent with Prefers takes the role from a living coordinator without, unless it
// leaves. If both have it, the coordinator stays.
func TestPrefers(t *testing.T) {
	for _, test := range []struct {
		name                 string
		prefers, its, leaves bool
		three                bool // its last reading was of three keys
		takes                bool
	}{
		{name: "neither"},
		{name: "this one", prefers: true, takes: true},
		{name: "both", prefers: true, its: true},
		{name: "this one leaves", prefers: true, leaves: true},
		{name: "this one, which has not seen everybody", prefers: true, three: true},
	} {
		n := coordinatorOf(Protocol{Prefers: test.prefers}, map[AgentID]report{idA: {}, idB: {}})
		n.view.looked, n.view.all, n.leaving = true, !test.three, test.leaves
		n.view.others[idB].beat.Prefers = test.its
		n.owned.table.coordinator = idB
		n.beat(0)
		n.beaten(0, 9)
		n.effects = nil
		n.coordinate(0)
		takes := n.coord.plan != nil && n.coord.plan.coordinator == idA && n.coord.plan.term == 1
		if takes != test.takes {
			t.Errorf("%s: takes the role %v, want %v", test.name, takes, test.takes)
		}
	}
}

// TestNeeded: the coordinator reads all keys, and so do others when something is wrong. Otherwise
// they read three, and the table if there is a newer one.
func TestNeeded(t *testing.T) {
	settled := func() *node {
		n := coordinatorOf(Protocol{}, map[AgentID]report{idA: {}, idB: {}, idC: {}})
		n.owned.table.coordinator = idB
		n.known = n.owned.table.version
		return n
	}
	for name, spoil := range map[string]func(n *node){
		"it coordinates":           func(n *node) { n.owned.table.coordinator = idA },
		"there is no table":        func(n *node) { n.owned.table = nil },
		"it is new":                func(n *node) { n.join(0, 2, 1) },
		"its key is lost":          func(n *node) { n.view.others[idA].revision = 0 },
		"a heartbeat was refused":  func(n *node) { n.beaten(0, 0) },
		"the coordinator is dead":  func(n *node) { n.view.others[idB].beat.Dead = true },
		"the coordinator is lost":  func(n *node) { delete(n.view.others, idB) },
		"the coordinator is late":  func(n *node) { n.view.others[idB].changed = -n.opt.Lease },
		"the coordinator leaves":   func(n *node) { n.view.others[idB].beat.Leaving = true },
		"it wants the role":        func(n *node) { n.opt.Prefers = true },
		"somebody is to take over": func(n *node) { n.owned.open[1] = 1 },
	} {
		n := settled()
		spoil(n)
		if keys := needed(n, 0); keys != nil {
			t.Errorf("%s: it looks at %v alone", name, keys)
		}
	}
	if keys := needed(settled(), 0); len(keys) != 3 {
		t.Errorf("settled, it looks at %v", keys)
	}
	for name, tell := range map[string]func(n *node){
		"the coordinator": func(n *node) { n.view.others[idB].beat.Known = n.owned.table.version + 1 },
		"a refusal": func(n *node) {
			n.handle(0, wire.Encode(message{Version: wireVersion, Kind: kindRefusal, From: idC, After: n.owned.table.version + 1}))
		},
	} {
		n := settled()
		tell(n)
		if keys := needed(n, 0); len(keys) != 4 || keys[3] != tableKey {
			t.Errorf("%s told of a newer table, it looks at %v", name, keys)
		}
	}
}
