package main

import (
	"slices"

	"fossick/internal/usage"
	"fossick/policy"
)

// policyNamed returns a policy that a flag names.
func policyNamed(name string) (policy.Policy, error) {
	p, err := policy.Named(name)
	return p, usage.Of(err)
}

// exploreShare reads --explore, for a crawl by one of the policies named; byPolicy is
// false where another order takes over.
func exploreShare(given *float64, byPolicy bool, policies ...string) (float64, error) {
	if given == nil {
		return policy.DefaultExplore, nil
	}
	if !(*given >= 0 && *given < 1) {
		return 0, usagef("--explore %v: want a share of the fetches, from 0 to less than 1", *given)
	}
	if !byPolicy || !slices.Contains(policies, "learned") {
		return 0, usagef("--explore %v: only --score learned explores, in its own order; leave it out, or give --model and no --order", *given)
	}
	return *given, nil
}
