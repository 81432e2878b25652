package lab

import "time"

// TimePoint is what the crawls of a policy have after some time, in the mean.
type TimePoint struct {
	Seconds  float64
	Pages    float64
	Relevant float64
}

// timeSteps is how many points a curve over time has.
const timeSteps = 50

// took is how long a crawl has taken when it has so many pages; one that ended with fewer
// took as long as it took.
func (c *Crawl) took(pages int) time.Duration {
	if pages >= len(c.URLs) {
		return c.Took
	}
	return c.At[pages-1]
}

// timeCurves are those of all policies over the time of the longest crawl. A crawl that has
// ended keeps what it had, so at any time the policies can be compared.
func timeCurves(crawls [][]*Crawl) [][]TimePoint {
	var longest time.Duration
	for _, policy := range crawls {
		for _, c := range policy {
			longest = max(longest, c.Took)
		}
	}
	curves := make([][]TimePoint, len(crawls))
	for i, policy := range crawls {
		for step := 1; step <= timeSteps; step++ {
			at := longest * time.Duration(step) / timeSteps
			p := TimePoint{Seconds: at.Seconds()}
			for _, c := range policy {
				for k, there := range c.At {
					if there > at {
						continue
					}
					p.Pages += 1 / float64(len(policy))
					if c.Relevant[k] {
						p.Relevant += 1 / float64(len(policy))
					}
				}
			}
			curves[i] = append(curves[i], p)
		}
	}
	return curves
}

// rows are the points as JSON has them: seconds, pages, pages on topic.
func rows(curve []TimePoint) [][3]float64 {
	var out [][3]float64
	for _, p := range curve {
		out = append(out, [3]float64{p.Seconds, p.Pages, p.Relevant})
	}
	return out
}
