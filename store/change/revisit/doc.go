// Package revisit decides which stored page is fetched again, and when, under a budget.
//
// In: pages with importance, rate of change if known, last visit and host; fetches per day; each
// host's politeness delay; the result of each visit. Out: the next page, or when to ask again. It
// opens no file, reads no clock and knows no store: times are days since an origin that the caller
// chooses, rates are events per day. Changes are modelled as Poisson processes.
//
// Start with New, then Next and Visited. Files: policy.go policies; shares.go the price at which
// all visits meet the budget; scheduler.go planning and turns; queue.go pages by host and time;
// learn.go learning unknown rates from visits.
package revisit
