package cluster

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"fossick/internal/testkit"
)

// crowd is many nodes with busy engines and a perfect exchange, in virtual time. It measures the
// exchange's load.
type crowd struct {
	nodes  []*node
	values map[string]Value
	rev    uint64
	now    time.Duration

	reads, swaps        int
	readBytes, swapped  int
	coordinating, spent time.Duration // processor time: the coordinator's steps, all steps
}

const crowdStep = 100 * time.Millisecond

func newCrowd(agents int) *crowd {
	c := &crowd{values: map[string]Value{}}
	for i := range agents {
		c.nodes = append(c.nodes, newNode(Protocol{ID: AgentID(fmt.Sprintf("%016x", i+1)), Fresh: true, maxPages: 1e10}, recovered{}))
	}
	return c
}

// run advances the time, with new counters.
func (c *crowd) run(length time.Duration) {
	*c = crowd{nodes: c.nodes, values: c.values, rev: c.rev, now: c.now}
	for end := c.now + length; c.now < end; c.now += crowdStep {
		for i, n := range c.nodes {
			if n == nil || int(c.now/crowdStep)%2 != i%2 { // each five times a second
				continue
			}
			c.step(n, tickEvent{report: busyReport(n)})
		}
	}
}

// step steps a node and carries out effects until there are none.
func (c *crowd) step(n *node, ev event) {
	for events := []event{ev}; len(events) > 0; events = events[1:] {
		coordinates := n.owned.table != nil && n.owned.table.coordinator == n.opt.ID
		start := time.Now()
		effects := n.step(c.now, events[0])
		took := time.Since(start)
		c.spent += took
		if coordinates {
			c.coordinating += took
		}
		for _, e := range effects {
			switch e := e.(type) {
			case swapValue:
				events = append(events, swapEvent{e.key, c.swap(e)})
			case askValues:
				events = append(events, valuesEvent{c.some(e.keys)})
			case releasePartition:
				events = append(events, releasedEvent(e))
			}
		}
	}
}

func (c *crowd) swap(e swapValue) uint64 {
	c.swaps++
	c.swapped += len(e.key) + len(e.value)
	if c.values[e.key].Revision != e.revision {
		return 0
	}
	c.rev++
	c.values[e.key] = Value{e.value, c.rev}
	return c.rev
}

func (c *crowd) some(keys []string) map[string]Value {
	some := c.values
	if keys != nil {
		some = map[string]Value{}
		for _, key := range keys {
			if v, ok := c.values[key]; ok {
				some[key] = v
			}
		}
	}
	c.reads++
	for key, v := range some {
		c.readBytes += len(key) + len(v.Bytes)
	}
	return maps.Clone(some)
}

// busyReport is the report of an overloaded engine.
func busyReport(n *node) report {
	r := report{Pages: 1e6, Relevant: 3e5, Requests: 12e5, Waiting: 1e7, InFlight: 32, Outbox: 1000, Workers: 32, Rate: 100}
	for i := range mostHead {
		r.Head = append(r.Head, .9-float64(i)/1000)
	}
	for _, h := range n.owned.parts {
		r.Epoch = max(r.Epoch, h.epoch)
	}
	return r
}

// owned returns how many partitions have an owner with a lease, and the most of any agent.
func (c *crowd) owned() (all, most int) {
	for _, n := range c.nodes {
		if n != nil && n.leased(c.now) {
			all, most = all+len(n.owned.parts), max(most, len(n.owned.parts))
		}
	}
	return all, most
}

// TestScale runs crowds and reports the exchange's load: what an agent reads must not grow with
// the square of their number. With FOSSICK_SCALE set to a file it writes
// docs/data/cluster-scale.tsv.
func TestScale(t *testing.T) {
	sizes, name := []int{8, 32}, os.Getenv("FOSSICK_SCALE")
	switch {
	case name != "":
		sizes = []int{8, 32, 100, 300, 1000}
	case testkit.Asked():
		sizes = []int{8, 200}
	}
	var table strings.Builder
	table.WriteString("# FOSSICK_SCALE=FILE go test ./cluster -run TestScale. Nodes in virtual time, exchange without faults; a minute of crawling.\n")
	table.WriteString("agents\tkeys\ttable_bytes\theartbeat_bytes\tbudget_bytes\treads_per_second\tread_bytes_per_second\tswaps_per_second\tswap_bytes_per_second\tcoordinator_core\tseconds_to_start\tseconds_after_death\tmost_partitions\n")
	perAgent := map[int]float64{}
	for _, agents := range sizes {
		c := newCrowd(agents)
		began := c.now
		for all := 0; all < partitions; all, _ = c.owned() {
			if c.run(time.Second); c.now > 5*time.Minute {
				t.Fatalf("%d agents: %d of %d partitions have owners", agents, all, partitions)
			}
		}
		started := c.now - began
		c.run(30 * time.Second) // all moves are done
		c.run(time.Minute)
		all, most := c.owned()
		if all != partitions || most > (partitions+agents-1)/agents {
			t.Errorf("%d agents own %d partitions, one of them %d", agents, all, most)
		}
		perAgent[agents] = float64(c.readBytes-agents*c.size(budgetKey)*c.reads/agents) / float64(agents)
		row := []any{agents, len(c.values), c.size(tableKey), c.size(agentKeys + string(c.nodes[1].opt.ID)), c.size(budgetKey), c.reads / 60, c.readBytes / 60, c.swaps / 60, c.swapped / 60, fmt.Sprintf("%.3f", c.coordinating.Seconds()/60), started.Seconds()}
		died := c.now
		c.nodes[slices.IndexFunc(c.nodes, func(n *node) bool { return n.opt.ID == c.nodes[0].owned.table.coordinator })] = nil
		for all := 0; all < partitions; all, _ = c.owned() {
			if c.run(time.Second); c.now-died > 5*time.Minute {
				t.Fatalf("%d agents: the coordinator's death leaves %d of %d partitions with owners", agents, all, partitions)
			}
		}
		row = append(row, (c.now - died).Seconds(), most)
		for i, x := range row {
			fmt.Fprintf(&table, "%s%v", strings.Repeat("\t", min(i, 1)), x)
		}
		table.WriteString("\n")
	}
	t.Logf("\n%s", table.String())
	if few, many := perAgent[sizes[0]], perAgent[sizes[len(sizes)-1]]; many > 4*few {
		t.Errorf("an agent of %d reads %.0f bytes a minute, one of %d %.0f", sizes[0], few, sizes[len(sizes)-1], many)
	}
	if name != "" {
		testkit.Must(t, os.WriteFile(name, []byte(table.String()), 0o600))
	}
}

func (c *crowd) size(key string) int { return len(c.values[key].Bytes) }

// TestBalance reports how evenly work is spread if sites follow a power law: the r-th of n sites
// has a share of 1/r. Crawl delays limit the pages of a site.
func TestBalance(t *testing.T) {
	const sites, urls = 1e6, 1e10
	rng := rand.New(rand.NewPCG(20, 1))
	harmonic := math.Log(sites) + .5772
	for _, most := range []float64{math.Inf(1), 30 * 24 * 3600 / 2} { // 30 days with a crawl delay of two seconds
		var load [partitions]float64
		sum, first := 0.0, 0.0
		for r := 1.; r <= sites; r++ {
			size := min(urls/r/harmonic, most)
			load[rng.IntN(partitions)] += size
			sum, first = sum+size, max(first, size)
		}
		slices.Sort(load[:])
		for _, agents := range []int{8, 32, 100, 1000} {
			share := fullest(load[:], agents) / (sum / float64(agents))
			t.Logf("sites of at most %.3g URLs: %.3g in all, the largest site has %.3g; %d agents: the fullest has %.2f of the mean", most, sum, first, agents, share)
			if !math.IsInf(most, 1) && agents <= 100 && share > 1.25 {
				t.Errorf("%d agents: the fullest has %.2f times the mean of what can be fetched", agents, share)
			}
		}
	}
}

// fullest deals partitions evenly, as a coordinator does, and returns the largest load of an
// agent.
func fullest(load []float64, agents int) float64 {
	rng := rand.New(rand.NewPCG(20, 2))
	shuffled := slices.Clone(load)
	rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	of := make([]float64, agents)
	for i, l := range shuffled {
		of[i%agents] += l
	}
	return slices.Max(of)
}
