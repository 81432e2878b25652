package main

import "slices"

// defaultExplore is the share of its fetches that learned spends on URLs of which
// little is known: docs/relevance.md says what that costs.
const defaultExplore = 0.02

// exploreShare reads --explore, for a crawl by one of the policies named; byPolicy is
// false where another order takes over.
func exploreShare(given *float64, byPolicy bool, policies ...string) (float64, error) {
	if given == nil {
		return defaultExplore, nil
	}
	if !(*given >= 0 && *given < 1) {
		return 0, usagef("--explore %v: want a share of the fetches, from 0 to less than 1", *given)
	}
	if !byPolicy || !slices.Contains(policies, "learned") {
		return 0, usagef("--explore %v: only --score learned explores, in its own order; leave it out, or give --model and no --order", *given)
	}
	return *given, nil
}
