package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"fossick/eval/monitor"
)

// lease is how long an agent that the others cannot reach may go on; after 1.5 leases the others
// take over its sites.
const lease = 10 * time.Second

// faultKind is a fault of a machine; do returns when the machine is well again.
type faultKind struct {
	name string
	do   func(c *faultyCrawl, e *happened)
}

var faultKinds = []faultKind{
	{"agent killed, back soon", func(c *faultyCrawl, e *happened) { c.killAgent(e, c.between(.2, 4)) }},
	{"agent killed, back after it was missed", func(c *faultyCrawl, e *happened) { c.killAgent(e, c.between(15.5, 19)) }},
	{"coordinator killed", func(c *faultyCrawl, e *happened) {
		e.box = c.coordinator(e.box)
		c.killAgent(e, c.between(.2, 17))
	}},
	{"broker killed", func(c *faultyCrawl, e *happened) {
		e.box = c.boxes[len(c.boxes)-1]
		e.box.broker.kill()
		c.sleep(c.between(.2, 12))
		e.box.start()
	}},
	{"broker frozen", func(c *faultyCrawl, e *happened) {
		e.box = c.boxes[len(c.boxes)-1]
		e.box.broker.signal(unix.SIGSTOP)
		c.sleep(c.between(1, 13))
		e.box.broker.signal(unix.SIGCONT)
	}},
	{"all killed at once", func(c *faultyCrawl, e *happened) {
		e.all = true
		for _, b := range c.boxes {
			b.kill()
		}
		c.sleep(c.between(.2, 4))
		c.start()
	}},
	{"two cut off from each other", func(c *faultyCrawl, e *happened) {
		other := c.other(e.box)
		defer c.cut(e.box, other)()
		defer c.cut(other, e.box)()
		c.sleep(c.between(2, 14))
	}},
	{"cut one way", func(c *faultyCrawl, e *happened) {
		other := c.other(e.box)
		if c.rng.IntN(2) == 0 {
			defer c.cut(e.box, other)()
		} else {
			defer c.cut(other, e.box)()
		}
		c.sleep(c.between(2, 14))
	}},
	{"cut off from all", func(c *faultyCrawl, e *happened) {
		defer c.isolate(e.box)()
		c.sleep(lease)
		c.silence(e, 2*time.Second) // lets a request arrive that was sent before the lease ended
		c.sleep(c.between(5, 9))
		e.quietTo = time.Now()
	}},
	{"frozen", func(c *faultyCrawl, e *happened) {
		e.box.agent.signal(unix.SIGSTOP)
		c.sleep(c.between(15.5, 18))
		e.box.agent.signal(unix.SIGCONT)
	}},
	{"frozen, and goes on cut off", func(c *faultyCrawl, e *happened) {
		e.box.agent.signal(unix.SIGSTOP)
		defer c.isolate(e.box)()
		c.sleep(c.between(15.5, 18))
		c.silence(e, wasOnItsWay)
		e.box.agent.signal(unix.SIGCONT)
		c.sleep(c.between(2, 5))
		e.quietTo = time.Now()
	}},
	{"disk full", func(c *faultyCrawl, e *happened) {
		free := e.box.fill()
		for range 40 {
			if c.sleep(500 * time.Millisecond); !e.box.agent.alive() {
				break
			}
		}
		free()
		if e.box.broker != nil { // after a full disk it serves no values until it restarts
			e.box.broker.kill()
		}
		e.box.start()
	}},
}

// wasOnItsWay is how long after it resumes a frozen process may still send a request: it had checked
// its lease, but not yet written to the connection. The agent that takes over has waited longer
// (--timeout).
const wasOnItsWay = 100 * time.Millisecond

// happened is a fault and its consequences.
type happened struct {
	round    int
	kind     string
	box      *box // the machine that it hits
	all      bool // it hits all machines
	from, to time.Time
	// Between these times the machine must send no request; zero if it may.
	quietFrom, quietTo time.Time

	requests, own, repeats int // requests during the fault, the machine's own among them, and repeats that it explains
}

func (c *faultyCrawl) killAgent(e *happened, down time.Duration) {
	e.box.agent.kill()
	c.sleep(down)
	e.box.start()
}

// silence notes that the machine must send no request, starting after a while.
func (c *faultyCrawl) silence(e *happened, after time.Duration) { e.quietFrom = time.Now().Add(after) }

func (c *faultyCrawl) other(b *box) *box {
	return c.boxes[(b.number+1+c.rng.IntN(len(c.boxes)-1))%len(c.boxes)]
}

// cut drops what one machine sends to another, until heal.
func (c *faultyCrawl) cut(from, to *box) (heal func()) {
	c.net.cut(c.t, from.number, to.number)
	return func() { c.net.heal(c.t, from.number, to.number) }
}

// isolate cuts a machine off from the others, but not from the web.
func (c *faultyCrawl) isolate(b *box) (heal func()) {
	var heals []func()
	for _, o := range c.boxes {
		if o != b {
			heals = append(heals, c.cut(b, o), c.cut(o, b))
		}
	}
	return func() {
		for _, heal := range heals {
			heal()
		}
	}
}

// coordinator returns the coordinator's machine, or anyone if no machine knows it.
func (c *faultyCrawl) coordinator(anyone *box) *box {
	c.t.Helper()
	for _, asked := range c.boxes {
		ctx, stop := context.WithTimeout(c.t.Context(), 20*time.Second)
		cmd := c.net.command(asked.number, os.Args[0], "cluster", "status", "--json", "--crawl", "all", "--nats", "nats://127.0.0.1:4222", "--keys", asked.keys)
		cmd.Env = append(os.Environ(), beMain+"=1")
		timer := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
		out, err := cmd.Output()
		timer()
		stop()
		var status monitor.Agents
		if err != nil || json.Unmarshal(out, &status) != nil {
			continue
		}
		for _, b := range c.boxes {
			if id := b.id(); id != "" && string(id) == status.Coordinator {
				return b
			}
		}
		c.t.Logf("the coordinator %q is none of the agents that live", status.Coordinator)
	}
	return anyone
}

// row returns a fault as a row of the table.
func (c *faultyCrawl) row(e *happened) string {
	who := fmt.Sprint(e.box.number)
	if e.all {
		who = "all"
	}
	return strings.Join([]string{
		c.name, fmt.Sprint(e.round), e.kind, who, fmt.Sprintf("%.1f", e.from.Sub(c.began).Seconds()), fmt.Sprintf("%.1f", e.to.Sub(e.from).Seconds()),
		fmt.Sprint(e.requests), fmt.Sprint(e.own), fmt.Sprint(e.repeats),
	}, "\t")
}

const faultColumns = "crawl\tround\tfault\tmachine\tat (s)\tlasted (s)\trequests meanwhile\tof them by it\tpages asked for again since"
