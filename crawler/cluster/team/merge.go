package team

import (
	"time"

	"fossick/crawler"
)

// sumProgress is how far several crawls are together.
func sumProgress(all []crawler.Progress) (sum crawler.Progress) {
	for _, p := range all {
		sum.Counts = sum.Counts.Plus(p.Counts)
		sum.Queue += p.Queue
		sum.Hosts += p.Hosts
		sum.Busy += p.Busy
		sum.Elapsed = max(sum.Elapsed, p.Elapsed)
		sum.Pages += p.Pages
		sum.Turns = sum.Turns.Plus(p.Turns)
		sum.Resting += p.Resting
		if !p.RestUntil.IsZero() && (sum.RestUntil.IsZero() || p.RestUntil.Before(sum.RestUntil)) {
			sum.RestUntil = p.RestUntil
		}
		if !p.DownSince.IsZero() && (sum.DownSince.IsZero() || p.DownSince.Before(sum.DownSince)) {
			sum.DownSince = p.DownSince
		}
		sum.Outages = max(sum.Outages, p.Outages)
		sum.OutageTime = max(sum.OutageTime, p.OutageTime)
	}
	if sum.Busy > 0 {
		sum.RestUntil = time.Time{} // somebody works
	}
	return sum
}

// result is what the agents came to together, once all have ended.
func (t *Team) result(why crawler.Stop) (sum crawler.Result) {
	nothing := true
	for _, a := range t.agents {
		r := &a.result
		sum.Counts = sum.Counts.Plus(r.Counts)
		sum.Hosts += r.Hosts
		sum.Attempts = sum.Attempts.After(r.Attempts)
		sum.Outages = max(sum.Outages, r.Outages)
		sum.OutageTime = max(sum.OutageTime, r.OutageTime)
		nothing = nothing && r.Stopped == crawler.StopNothing
	}
	sum.Stopped = why
	if nothing {
		sum.Stopped = crawler.StopNothing
	}
	sum.Next = t.harvest.Estimate()
	return sum
}
