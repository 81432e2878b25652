package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"fossick/datasets/web"
	"fossick/internal/testkit"
)

// TestAgentsFaults crawls with three agents, each with its own network namespace and disk,
// while random faults strike one after another. Every page must be stored, no request may be
// impolite by the server's log, and a fault must explain each repeated request. FOSSICK_ROUNDS sets
// the number of faults, FOSSICK_SEED the random seed, FOSSICK_TABLE a file to append the table to.
func TestAgentsFaults(t *testing.T) {
	testkit.Only(t, "faults last longer than leases, for minutes")
	t.Parallel()
	newNetLab(t, 0) // skips here: the loop below would start a skipped subtest again and again
	mount(t, "1m")
	rounds, seed := fromEnv("FOSSICK_ROUNDS", 12), fromEnv("FOSSICK_SEED", int(time.Now().UnixNano()%1e9))
	t.Logf("FOSSICK_SEED=%d", seed)
	for lane := range faultyLanes {
		t.Run(fmt.Sprint("lane", lane+1), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(uint64(seed), uint64(lane)))
			for done, web := 0, 1; done < rounds/faultyLanes && !t.Failed(); web++ {
				name := fmt.Sprint(seed, ".", lane+1, ".", web)
				t.Run(name, func(t *testing.T) {
					c := &faultyCrawl{t: t, name: name, rng: rng, round: done, log: &requestLog{}}
					c.run(min(done+faultsAWeb, rounds/faultyLanes))
					done = c.round
				})
			}
		})
	}
}

// faultyLanes is the number of concurrent crawls, which mostly wait.
const faultyLanes = 2

// The web of each crawl, and the most faults during it. A crawl cannot end during a fault, because
// all agents must be present for that.
const (
	faultyHosts = 40
	faultyPages = 160 // a host, enough to keep agents busy until the last fault
	faultsAWeb  = 30
)

// faultyCrawl is a crawl by several machines.
type faultyCrawl struct {
	t     *testing.T
	name  string // seed, lane and number
	rng   *rand.Rand
	round int // number of the last fault
	net   *netLab
	boxes []*box
	log   *requestLog
	began time.Time
	all   []*happened
}

// run crawls a web to its end, with faults up to number last, and judges the crawl.
func (c *faultyCrawl) run(last int) {
	t := c.t
	c.net = newNetLab(t, 3)
	addr, _, stop, err := serveAt(t.Context(), c.net.addr+":0", linkedWeb(faultyHosts, faultyPages), web.Options{Log: c.log, Latency: 30 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	c.boxes = newBoxes(t, c.net, addr)
	c.began = time.Now()
	c.start()
	c.waitFor("the first pages", 4*time.Minute, func() bool { return c.log.lines() > 100 })
	for c.round < last && !c.ending() {
		c.strike()
		c.sleep(c.between(0, 2))
	}
	c.waitFor("the end", 10*time.Minute, func() bool {
		c.start() // restarts agents that failed while others were away
		for _, b := range c.boxes {
			if !b.finished() {
				return false
			}
		}
		return true
	})
	c.judge(addr)
	c.tell()
}

func (c *faultyCrawl) strike() {
	c.round++
	kind := faultKinds[c.rng.IntN(len(faultKinds))]
	e := &happened{round: c.round, kind: kind.name, box: c.boxes[c.rng.IntN(len(c.boxes))], from: time.Now()}
	c.all = append(c.all, e)
	kind.do(c, e)
	e.to = time.Now()
	c.t.Logf("%d: %s at machine %d, for %v", e.round, e.kind, e.box.number, e.to.Sub(e.from).Round(time.Millisecond))
	c.start() // restarts agents that ended because of the fault
}

// ending says whether an agent knows that the crawl is over.
func (c *faultyCrawl) ending() bool {
	for _, b := range c.boxes {
		if b.finished() {
			return true
		}
	}
	return false
}

func (c *faultyCrawl) start() {
	for _, b := range c.boxes {
		b.start()
	}
}

func (c *faultyCrawl) sleep(d time.Duration) {
	select {
	case <-time.After(d):
	case <-c.t.Context().Done():
	}
}

// between draws a duration between two numbers of seconds.
func (c *faultyCrawl) between(least, most float64) time.Duration {
	return time.Duration((least + c.rng.Float64()*(most-least)) * float64(time.Second))
}

func (c *faultyCrawl) waitFor(what string, most time.Duration, done func() bool) {
	c.t.Helper()
	for began := time.Now(); !done(); c.sleep(100 * time.Millisecond) {
		if time.Since(began) > most {
			for _, b := range c.boxes {
				c.t.Logf("machine %d, alive %v:\n%s", b.number, b.agent.alive(), tail(b.agent.stderr.String(), 2000))
			}
			c.t.Fatalf("%s did not come in %v; %d requests", what, most, c.log.lines())
		}
	}
}

func tail(text string, most int) string { return text[max(0, len(text)-most):] }

// tell logs the table of faults and appends it to FOSSICK_TABLE.
func (c *faultyCrawl) tell() {
	rows := []string{}
	for _, e := range c.all {
		rows = append(rows, c.row(e))
	}
	c.t.Logf("\n%s\n%s", faultColumns, strings.Join(rows, "\n"))
	path := os.Getenv("FOSSICK_TABLE")
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err == nil {
		_, err = fmt.Fprintln(f, strings.Join(rows, "\n"))
		_ = f.Close()
	}
	if err != nil {
		c.t.Error(err)
	}
}
