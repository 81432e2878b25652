// Package change keeps the results of visits to pages. From them it estimates how often pages
// change and whether the next visit succeeds, and decides under a budget which page is fetched again
// next.
//
// In: visits with time and outcome. Out: a History of a few bytes per visit; the chances that a
// success follows a success and a failure a failure (paper E, E6); the chance that a visit succeeds
// (paper E3); changes per day with a 95 % interval; from a Scheduler the next page, or when to ask
// again. Its times are days since an origin that the caller chooses, its rates events per day.
//
// It opens no file, knows no store and reads no clock. Changes are modelled as a Poisson process,
// as in Cho and Garcia-Molina, Estimating Frequency of Change, ACM TOIT 3(3), 2003 (CGM).
//
// Files: visit.go visits, equations 1 and 2, and the comparison of texts; history.go the encoding;
// predict.go the predictor of visits, keep.go its stored records, trial.go its evaluation; rates.go
// the rate of a page from its visits and a prior, evidence.go the likelihood of visits, fit.go
// fitting the prior to many pages. scheduler.go planning and turns, policy.go policies, shares.go the
// price at which all visits meet the budget, queue.go pages by host and time, learn.go learning unknown
// rates from visits.
package change
