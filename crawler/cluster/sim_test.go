package cluster

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// The simulation runs agents with toy engines, their own clocks, and an exchange that fails in
// all permitted ways. Time is virtual, and all randomness comes from one seed.

// schedule is one run of the simulation.
type schedule struct {
	seed     uint64
	defect   defect
	maxPages int64
	trace    bool
	garbage  func(w *world) // writes garbage at some time; nil: none
}

const (
	simParts   = 6
	simHosts   = 10
	simPerHost = 4
	simLease   = 3 * time.Second
	simLongest = 4 * time.Second
	simDelay   = time.Second
	simCalm    = 60 * time.Second  // no new failures after this
	simMost    = 900 * time.Second // the crawl has ended by then
)

// world is the true state of a simulation.
type world struct {
	*rand.Rand
	schedule
	now                                time.Duration
	queue                              simQueue
	seq                                uint64
	agents                             []*simAgent
	values                             map[string]Value
	rev                                uint64
	hosts                              [simHosts]simHost
	links                              [][]int
	seeds                              []int
	lossy                              float64
	slow                               bool           // some messages take seconds
	wipes                              bool           // the exchange once loses all values
	taken                              [simParts]bool // an owner lost it without a release
	by                                 map[int][]AgentID
	log                                []string
	wrong                              error
	ended                              string
	fetches, moved, takeovers, crashes int
	disturbed                          bool // an agent was frozen, cut off or crashed
}

type simHost struct {
	by    *proc         // the process that fetches
	until time.Duration // end of the fetch, or of the last one
	was   bool
}

// simEvent happens at a time, to the world or to a process, which may be frozen or dead.
type simEvent struct {
	at  time.Duration
	seq uint64
	to  *proc // nil: the world
	run func()
}

type simQueue []*simEvent

func (q simQueue) Len() int { return len(q) }
func (q simQueue) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].seq < q[j].seq
}
func (q simQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *simQueue) Push(x any)   { *q = append(*q, x.(*simEvent)) }
func (q *simQueue) Pop() any {
	old := *q
	x := old[len(old)-1]
	*q = old[:len(old)-1]
	return x
}

func (w *world) after(d time.Duration, to *proc, run func()) {
	w.seq++
	heap.Push(&w.queue, &simEvent{w.now + d, w.seq, to, run})
}

func (w *world) between(a, b time.Duration) time.Duration {
	return a + time.Duration(w.Int64N(int64(b-a)+1))
}
func (w *world) chance(p float64) bool { return w.Float64() < p }

func (w *world) note(format string, args ...any) {
	if w.trace {
		w.log = append(w.log, fmt.Sprintf("%8.3f ", w.now.Seconds())+fmt.Sprintf(format, args...))
	}
}

func (w *world) fail(format string, args ...any) {
	if w.wrong == nil {
		w.wrong = fmt.Errorf("seed %d at %v: %s", w.seed, w.now, fmt.Sprintf(format, args...))
		w.note("WRONG %v", w.wrong)
	}
}

// simulate runs a schedule to its end, and records the first error.
func simulate(s schedule) *world {
	w := &world{Rand: rand.New(rand.NewPCG(s.seed, 1)), schedule: s, values: map[string]Value{}, by: map[int][]AgentID{}}
	w.lossy = []float64{0, 0.05, 0.3}[w.IntN(3)]
	w.weave()
	w.people()
	w.faults()
	if s.garbage != nil {
		w.disturbed = true
		w.after(w.between(time.Second, simCalm), nil, func() { s.garbage(w) })
	}
	for len(w.queue) > 0 && w.wrong == nil {
		ev := heap.Pop(&w.queue).(*simEvent)
		w.now = ev.at
		if w.now > simMost {
			w.fail("it does not end; %s", w.state())
			break
		}
		if ev.to == nil {
			ev.run()
			continue
		}
		if p := ev.to; !p.dead {
			if p.agent.frozen > w.now {
				ev.at = p.agent.frozen
				heap.Push(&w.queue, ev)
				continue
			}
			if w.now < simCalm && w.chance(p.agent.brittle) {
				w.crash(p.agent, w.between(0, 12*time.Second))
				continue
			}
			ev.run()
		}
		if w.over() {
			w.judge()
			break
		}
	}
	return w
}

// weave makes the toy web: a chain of links to each page, and some more.
func (w *world) weave() {
	n := simHosts * simPerHost
	w.links = make([][]int, n)
	order := w.Perm(n)
	w.seeds = order[:2]
	for i, u := range order[2:] {
		from := order[w.IntN(i+2)]
		w.links[from] = append(w.links[from], u)
	}
	for range n {
		from := w.IntN(n)
		w.links[from] = append(w.links[from], w.IntN(n))
	}
}

func hostOf(url int) int       { return url / simPerHost }
func partOf(url int) partition { return partition(hostOf(url) % simParts) }

// people starts the agents.
func (w *world) people() {
	for i := range 2 + w.IntN(3) {
		a := &simAgent{
			w: w, id: AgentID(fmt.Sprintf("%016x", i+1)), rate: 0.95 + 0.1*w.Float64(), off: w.between(0, time.Minute),
			disk: newDisk(), replica: newDisk(),
		}
		w.agents = append(w.agents, a)
		at := w.between(0, 2*time.Second)
		if w.chance(0.2) {
			at = w.between(0, 40*time.Second) // joins late
		}
		a.absent = true
		w.after(at, nil, a.boot)
	}
}

// faults plans the agents' failures until simCalm.
func (w *world) faults() {
	kinds := w.IntN(128) // permitted kinds of failures
	w.slow = kinds&32 != 0
	w.wipes = kinds&64 != 0 && w.maxPages == 0 // nobody would know a budget that was lost together with its agent
	for _, a := range w.agents {
		if kinds&1 != 0 && w.chance(0.5) {
			a.brittle = 0.003
		}
		for range w.IntN(4) {
			at := w.between(time.Second, simCalm)
			length := w.between(0, 15*time.Second)
			switch kind := w.IntN(5); {
			case kinds&2 != 0 && kind == 0:
				w.after(at, nil, func() { w.crash(a, length) })
			case kinds&4 != 0 && kind == 1:
				w.after(at, nil, func() {
					w.note("%s frozen for %v", a.id, length)
					w.disturbed = true
					a.frozen = max(a.frozen, w.now+length)
				})
			case kinds&8 != 0 && kind == 2:
				w.after(at, nil, func() {
					w.note("%s cut for %v", a.id, length)
					w.disturbed = true
					if way := w.IntN(3); way != 0 {
						a.cutOut = w.now + length
					} else {
						a.cutIn = w.now + length
					}
					if w.chance(0.4) {
						a.cutIn, a.cutOut = w.now+length, w.now+length
					}
				})
			}
		}
	}
	if w.wipes {
		w.after(w.between(time.Second, simCalm), nil, func() {
			for _, a := range w.agents {
				if a.proc != nil && a.proc.ended != "" {
					return // an agent that knows the end is gone; the others end again without it
				}
			}
			w.note("the exchange loses all")
			w.disturbed = true
			clear(w.values)
			for p := range w.taken {
				w.taken[p] = true // its owner may be absent
			}
		})
	}
	if last := w.agents[len(w.agents)-1]; kinds&16 != 0 && !w.wipes {
		w.after(w.between(5*time.Second, simCalm), nil, func() {
			if w.chance(0.5) {
				w.crash(last, -1)
			} else {
				w.disturbed = true
				last.leave()
			}
		})
	}
}

// crash ends an agent's process. It restarts after back, or never if back is negative.
func (w *world) crash(a *simAgent, back time.Duration) {
	if a.proc == nil || a.gone {
		return
	}
	w.crashes++
	w.disturbed = true
	w.note("%s crashes, back in %v", a.id, back)
	a.stopped()
	if back < 0 {
		a.gone = true
		return
	}
	a.absent = true
	w.after(back, nil, a.boot)
}

// over reports whether every living agent knows the end.
func (w *world) over() bool {
	some := false
	for _, a := range w.agents {
		if a.absent || a.proc != nil && a.proc.ended == "" {
			return false
		}
		some = some || a.proc != nil
	}
	return some || w.now > simCalm
}

// judge checks that every page that should be fetched was.
func (w *world) judge() {
	for _, a := range w.agents {
		if a.proc != nil {
			w.ended = a.proc.ended
		}
	}
	if w.ended == endedPages && !w.disturbed && w.lossy == 0 && !w.slow && w.pages() < w.maxPages {
		w.fail("%d pages of %d, and nothing was in the way; %s", w.pages(), w.maxPages, w.state())
	}
	if w.ended != endedEmpty {
		return
	}
	for url := range w.links {
		if len(w.by[url]) == 0 {
			w.fail("page %d of partition %d was never fetched; %s", url, partOf(url), w.state())
			return
		}
	}
}

// commit counts a page, and checks that it was not fetched again without cause.
func (w *world) commit(a *simAgent, url int) {
	for _, id := range w.by[url] {
		if !w.taken[partOf(url)] || id == a.id {
			w.fail("page %d was fetched by %s and again by %s", url, id, a.id)
		}
	}
	w.by[url] = append(w.by[url], a.id)
	if w.maxPages > 0 && w.pages() > w.maxPages {
		w.fail("%d pages of %d", w.pages(), w.maxPages)
	}
}

// pages returns the number of pages in all stores.
func (w *world) pages() (total int64) {
	for _, a := range w.agents {
		total += a.disk.pages
	}
	return total
}

// begin checks a host's politeness when a fetch begins.
func (w *world) begin(p *proc, url int, long time.Duration) {
	w.fetches++
	h := &w.hosts[hostOf(url)]
	if h.was && w.now < h.until {
		w.fail("%s fetches from host %d, which %s still does", p.agent.id, hostOf(url), h.by.agent.id)
	}
	if h.was && w.now < h.until+simDelay*9/10 {
		w.fail("%s fetches from host %d %v after %s has", p.agent.id, hostOf(url), w.now-h.until, h.by.agent.id)
	}
	*h = simHost{p, w.now + long, true}
	w.note("%s fetches %d for %v", p.agent.id, url, long)
}

func (w *world) state() string {
	var b strings.Builder
	for _, a := range w.agents {
		fmt.Fprintf(&b, "\n%s absent %v gone %v pages %d", a.id, a.absent, a.gone, a.disk.pages)
		if p := a.proc; p != nil {
			fmt.Fprintf(&b, " report %+v held %v lease %+v ended %q", p.report(), p.node.owned.parts, p.node.lease, p.ended)
			for part, s := range p.node.out.streams {
				fmt.Fprintf(&b, "\n  to %d: %+v", part, *s)
			}
			for part, s := range p.node.in.streams {
				fmt.Fprintf(&b, "\n  from %v: %+v", part, *s)
			}
			fmt.Fprintf(&b, "\n  sight asking %v asked %v next %v, pending %d missing %v rev %d version %d known %d", p.node.view.asking, p.node.view.asked, p.node.view.next, p.node.coord.pending, p.node.coord.missing, p.node.owned.revision, p.node.owned.version(), p.node.known)
			fmt.Fprintf(&b, "\n  taking %d sent %d", p.node.in.taking, p.node.out.sent)
		}
	}
	if v, ok := w.values[tableKey]; ok {
		t, _ := decodeTable(v.Bytes)
		fmt.Fprintf(&b, "\ntable %+v", t)
	}
	if v, ok := w.values[budgetKey]; ok {
		t, _ := decodeBudget(v.Bytes)
		fmt.Fprintf(&b, "\nbudget %+v", t)
	}
	return b.String()
}
