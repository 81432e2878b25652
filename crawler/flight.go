package crawler

import (
	"fossick/crawler/hosts"
)

// flight counts the jobs under way, and has them carried out.
type flight struct {
	exec      executor
	interrupt func() // ends the session of a real crawl, with the grace for what is under way
	hosts     *hosts.Table
	newcomers *newcomers
	workers   int
	busy      int                   // jobs
	slow      int                   // of these, those that go on beside the workers
	pages     uint64                // of the jobs, those that fetch a new page
	jobs      map[*workJob]struct{} // under way; nil where this agent crawls alone
}

// start has a job carried out; nil is none.
func (f *flight) start(j *workJob) {
	if j != nil {
		f.busy++
		j.hold(1)
		j.Addr = j.asked().Addr()
		f.newcomers.begin(j)
		if j.task == workPage && j.Old == nil {
			f.pages++
			f.hosts.CountSite(j.Host, 1)
		}
		if f.jobs != nil {
			f.jobs[j] = struct{}{}
		}
		f.exec.Start(j)
	}
}

// landed counts a job out that was in flight.
func (f *flight) landed(o *outcome) {
	f.busy--
	delete(f.jobs, o.workJob)
	f.newcomers.End(&o.Ticket)
	if o.Late {
		f.slow--
	}
	o.hold(-1)
	if o.task == workPage && o.Old == nil {
		f.pages--
		f.hosts.CountSite(o.Host, -1) // counted again when it is stored
	}
}

// aside takes note of a job that goes on beside the workers.
func (f *flight) aside(o *outcome) {
	f.slow++
	f.newcomers.Aside(&o.Ticket)
}

// free says whether a worker is.
func (f *flight) free() bool { return f.busy-f.slow < f.workers }

// elsewhere counts the jobs at hosts that are another agent's by now.
func (f *flight) elsewhere(sites Sites) (n int) {
	for j := range f.jobs {
		if !sites.Mine(sites.Part("http://" + j.asked().Name + "/")) {
			n++
		}
	}
	return n
}
