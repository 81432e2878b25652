// Package change keeps what visits to pages found, and estimates from it how often pages change and
// whether the next visit succeeds.
//
// In: visits, each with its time and outcome. Out: a History of few bytes a visit; from counts of
// downloads, the chances that a success follows a success and a failure a failure (paper E, E6);
// the chance that a visit succeeds (paper E3); changes a day with a 95 % interval.
//
// It opens no file, knows no store and reads no clock. Changes are taken for a Poisson process, as
// in Cho and Garcia-Molina, Estimating Frequency of Change, ACM TOIT 3(3), 2003, called CGM here.
//
// Files: visit.go what a visit is, equations 1 and 2, and whether two texts differ; history.go the
// encoding, byte by byte; predict.go the predictor of visits, keep.go its record in the store,
// trial.go how good its chances were; rates.go the rate of a page from its visits and a prior,
// evidence.go what visits tell of it, fit.go how the prior is fitted to many pages.
package change
