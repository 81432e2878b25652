package store

import "slices"

// Plus adds the totals of another agent of the same crawl. The time is that of the longest.
func (c Counts) Plus(o Counts) Counts {
	c.URLs += o.URLs
	c.Pages += o.Pages
	c.Relevant += o.Relevant
	c.Requests += o.Requests
	c.Skipped += o.Skipped
	c.Bytes += o.Bytes
	c.Schemes += o.Schemes
	c.NearDuplicates += o.NearDuplicates
	c.Lost += o.Lost
	c.Dropped += o.Dropped
	c.Elapsed = max(c.Elapsed, o.Elapsed)
	c.States, c.Codes = addUp(c.States, o.States), addUp(c.Codes, o.Codes)
	topics := slices.Grow(slices.Clone(c.Topics), len(o.Topics))
	for i, n := range o.Topics {
		if i == len(topics) {
			topics = append(topics, TopicCounts{})
		}
		topics[i].Relevant += n.Relevant
		topics[i].Paid += n.Paid
	}
	c.Topics = topics
	return c
}

func addUp[K comparable](a, b map[K]uint64) map[K]uint64 {
	sum := map[K]uint64{}
	for _, counts := range []map[K]uint64{a, b} {
		for k, n := range counts {
			sum[k] += n
		}
	}
	return sum
}
