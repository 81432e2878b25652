// Package rates estimates how often pages change.
//
// In: what visits to pages found, as intervals between two visits, each with a change or
// without, and with the age that Last-Modified told, where it did. Out: changes a day with
// a 95 % interval, by a named estimator.
//
// Changes are taken for a Poisson process, as in Cho and Garcia-Molina, Estimating
// Frequency of Change, ACM TOIT 3(3), 2003, called CGM here. The room opens no file and
// reads no clock. Start with Learn, then New and Estimate.
//
// Files: interval.go what is in and out; evidence.go what visits say of a rate;
// estimators.go the table of estimators; counted.go those that count changes;
// likelihood.go maximum likelihood; truth.go which hosts' Last-Modified is true; learn.go
// what many pages say of the next; prior.go rates that a page may have; effects.go,
// shape.go how the prior is fitted; posterior.go what a page's visits make of it.
package rates
