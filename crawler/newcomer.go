package crawler

import (
	"time"

	"fossick/crawler/frontier"
	"fossick/crawler/hosts"
)

const (
	// newcomersWaiting is how many wait for the next places, for each worker.
	newcomersWaiting = 4
	// putOffFor is how long a newcomer is left aside that finds no place to wait in.
	putOffFor = 2 * time.Second
	// maxPutOff bounds how many are put off before the owner does something else.
	maxPutOff = 64
)

// newcomers are the exchanges with hosts that have answered nothing yet.
type newcomers struct {
	hosts.Newcomers
	frontier *frontier.Frontier
	queue    *queue
	now      func() time.Time
	most     int               // that wait
	waits    []waitingNewcomer // leased, for the next places, the first first
	putOff   int               // since the owner looked for work
}

type waitingNewcomer struct {
	item frontier.Item
	job  *workJob
}

// admits says whether an exchange with h may begin.
func (n *newcomers) admits(h *hosts.Host) bool {
	return !h.Health.Newcomer() || n.Free() && !n.NetBusy(h.Addr())
}

// begin counts a job, if it is with a newcomer.
func (n *newcomers) begin(j *workJob) {
	if j.task != address && j.Host.Health.Newcomer() {
		j.Ticket = n.Begin(j.Host.Addr())
	}
}

// next returns the URL of a newcomer for which there is a place now.
func (n *newcomers) next() (frontier.Item, bool) {
	if len(n.waits) > 0 && n.Free() {
		w := n.waits[0]
		n.waits = n.waits[1:]
		w.job.hold(-1)
		return w.item, true
	}
	return frontier.Item{}, false
}

// await has a newcomer wait that is not admitted. It is leased until there is a
// place. Where too many wait, or its net is busy, for which nobody knows how
// long, it is asked for a little later.
func (n *newcomers) await(it frontier.Item, j *workJob) {
	if len(n.waits) < n.most && !n.NetBusy(j.Host.Addr()) {
		n.waits = append(n.waits, waitingNewcomer{it, j})
		j.hold(1)
		return
	}
	n.putOff++
	n.queue.Requeue(j)
	n.frontier.Rest(j.Host.Party, n.now().Add(putOffFor))
	n.frontier.Done(j.Host.Party, time.Time{})
}

// sendHome puts back into the queue what still waits at the end.
func (n *newcomers) sendHome() {
	for _, w := range n.waits {
		n.queue.Requeue(w.job)
		n.frontier.Done(w.job.Host.Party, time.Time{})
		w.job.hold(-1)
	}
	n.waits = nil
}
