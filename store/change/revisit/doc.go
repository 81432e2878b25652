// Package revisit decides which stored page is fetched again, and when, under a budget.
//
// In: pages with importance, rate of change where it is known, last visit and host; fetches a
// day; the rest of each host; what each visit found. Out: the page that is next, or when to ask
// again. It opens no file, reads no clock and knows no store: times are days since an origin that
// the caller chooses, rates are events a day. Changes are taken for Poisson processes.
//
// Start with New, then Next and Visited. Files: policy.go the policies; shares.go the price at
// which their visits meet the budget; scheduler.go the turns and how they are planned; queue.go
// pages by host and time; learn.go what visits say of rates that are not known.
package revisit
