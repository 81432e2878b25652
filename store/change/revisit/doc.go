// Package revisit decides which stored page is looked at again, and when, under a budget.
//
// In: pages with importance, rate of change where it is known, last visit and host; fetches a
// day; the largest rate of each host; what each visit found. Out: the page that is next, or
// when to ask again. A simulated web compares policies.
//
// It opens no file, reads no clock and knows no store: times are days since an origin that
// the caller chooses, rates are events a day. Changes are taken for Poisson processes.
//
// Start with New, then Next and Visited; Allocate gives the rates that a policy aims at.
//
// Files: policy.go the table of policies; cho.go, azar.go, kolobov.go their rates at a price;
// allocate.go with shares.go the price at which they meet a budget. scheduler.go who is next;
// queue.go with heap.go by host and time, meter.go the budget, plan.go the budget shared out
// anew. evidence.go what visits found, learner.go with grid.go what follows for pages of
// unknown rate. web.go a made-up web, simulate.go its life.
package revisit
