package crawler

import "fossick/crawler/hosts"

// flight counts the jobs under way, and has them carried out.
type flight struct {
	exec      executor
	hosts     *hosts.Table
	newcomers *newcomers
	workers   int
	busy      int    // jobs
	slow      int    // of these, those that go on beside the workers
	pages     uint64 // of the jobs, those that fetch a new page
}

// start has a job carried out; nil is none.
func (f *flight) start(j *job) {
	if j != nil {
		f.busy++
		j.hold(1)
		j.addr = j.asked().Addr()
		f.newcomers.begin(j)
		if j.task == taskPage && j.old == nil {
			f.pages++
			f.hosts.CountSite(j.host, 1)
		}
		f.exec.start(j)
	}
}

// landed counts a job out that was in flight.
func (f *flight) landed(o *outcome) {
	f.busy--
	f.newcomers.End(&o.ticket)
	if o.late {
		f.slow--
	}
	o.hold(-1)
	if o.task == taskPage && o.old == nil {
		f.pages--
		f.hosts.CountSite(o.host, -1) // counted again when it is stored
	}
}

// aside takes note of a job that goes on beside the workers.
func (f *flight) aside(o *outcome) {
	f.slow++
	f.newcomers.Aside(&o.ticket)
}

// free says whether a worker is.
func (f *flight) free() bool { return f.busy-f.slow < f.workers }
