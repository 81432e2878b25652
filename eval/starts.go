package eval

import "math"

// sighting is what a crawl came across of the others' start pages. These were not
// chosen by following links, so they are a sample of the topic that the crawl's
// preferences had no part in. A crawl comes across a page when it fetches it or a page
// of it links to it. Its own start pages count: where links lead nowhere they are all
// that it has.
type sighting struct {
	met    float64 // relevant pages that the crawl came across, expected
	starts int     // relevant start pages of the other crawls
	seen   int     // of them, those that it came across
}

// sightings tells of each crawl what it came across. probability is that of each
// waiting URL to be relevant.
func (r *replay) sightings(crawls []*Crawl, probability map[uint64]float64) []sighting {
	starts := make([]map[uint64]bool, len(crawls))
	met := make([]map[uint64]bool, len(crawls))
	for i, c := range crawls {
		starts[i], met[i] = map[uint64]bool{}, map[uint64]bool{}
		for _, s := range c.Trail.Steps {
			if s.Start && s.Page >= 0 && c.Pages[s.Page].Relevant && s.Key%r.thin == 0 {
				starts[i][s.Key] = true
			}
			if s.Key%r.thin == 0 {
				met[i][s.Key] = true
			}
			for _, key := range s.Links {
				if key = r.target(key); key%r.thin == 0 {
					met[i][key] = true
				}
			}
		}
	}
	out := make([]sighting, len(crawls))
	for i := range crawls {
		others := map[uint64]bool{}
		for j := range starts {
			for key := range starts[j] {
				if j != i {
					others[key] = true
				}
			}
		}
		out[i].starts = len(others)
		for key := range others {
			if met[i][key] {
				out[i].seen++
			}
		}
		out[i].met = float64(r.thin) * r.expected(met[i], probability)
	}
	return out
}

// expected is how many of some URLs are relevant: by their labels, or as the
// model expects of those that wait.
func (r *replay) expected(keys map[uint64]bool, probability map[uint64]float64) (n float64) {
	for _, key := range sortedKeys(keys) {
		if relevant, done := r.fetched[key]; !done {
			n += probability[key]
		} else if relevant {
			n++
		}
	}
	return n
}

// logLikelihood is that of a population of size when so many start pages were
// seen: binomial, each with the chance that a relevant page was come across. Several
// crawls see the same start pages, so all together count as one look.
func logLikelihood(all []sighting, size float64) (sum float64) {
	for _, s := range all {
		p := max(1e-6, min(1-1e-6, (s.met+0.5)/(size+1)))
		sum += float64(s.seen)*math.Log(p) + float64(s.starts-s.seen)*math.Log1p(-p)
	}
	return sum / max(1, float64(len(all)-1))
}

const (
	gridPoints  = 2000
	gridWidth   = 12 // spreads to each side
	tailDegrees = 3  // of Student's t: what the frontier cannot see may be far more
)

// posterior returns median and 95 % interval of the unseen. It is Student's t of
// ln(unseen+1) around the frontier's estimate, with spread as its scale, times the
// likelihood of the start pages seen. Below the frontier's estimate that is kept at its
// value there. That a crawl came across well-known pages is no evidence of fewer; that
// it missed them is evidence of more.
func posterior(seen, unseen, spread float64, all []sighting) (median float64, ci Interval) {
	centre := math.Log(unseen + 1)
	at, weight := make([]float64, 0, gridPoints), make([]float64, 0, gridPoints)
	top := math.Inf(-1)
	for i := range gridPoints {
		x := centre + spread*gridWidth*(2*float64(i)/(gridPoints-1)-1)
		if x < 0 {
			continue // fewer than none
		}
		z := (x - centre) / spread
		w := logLikelihood(all, seen+math.Exp(max(x, centre))-1) - (tailDegrees+1)/2.*math.Log1p(z*z/tailDegrees)
		at, weight, top = append(at, x), append(weight, w), max(top, w)
	}
	total := 0.0
	for i, w := range weight {
		weight[i] = math.Exp(w - top)
		total += weight[i]
	}
	quantile := func(q float64) float64 {
		sum := 0.0
		for i, w := range weight {
			if sum += w; sum >= q*total {
				return math.Exp(at[i]) - 1
			}
		}
		return math.Exp(at[len(at)-1]) - 1
	}
	return quantile(0.5), Interval{quantile(0.025), quantile(0.975)}
}
