// Package slow lets jobs that take long go on beside a crawl's workers.
//
// A server that drips its answer keeps a worker for a minute, a name that no server answers
// for fifteen seconds. With as many of them in the queue as there are workers, nothing else
// was fetched. So a job that takes long goes on beside the workers: another worker takes
// over the place, and the one that had it ends with its job.
//
// Places beside are few, and so is the memory of what is fetched there. Who waits for one
// ends the slowest that has one. Start with Lookups or Exchanges, then Begin and End.
package slow
