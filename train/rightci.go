package train

import "fossick/internal/stats"

// rightCI is the 95 % interval of the share of n pages that are right. Pages of one site that
// was held out whole are right or wrong together, and the next site is what the model
// will meet: there sites count. A page without a site is an independent draw.
func rightCI(n int, site func(int) string, right func(int) bool) [2]float64 {
	var units []stats.Cluster
	at := map[string]int{}
	hits, alone := 0, 0
	for i := range n {
		if right(i) {
			hits++
		}
		if site(i) == "" {
			alone++
		}
	}
	if alone == n {
		return stats.Wilson(hits, n)
	}
	for i := range n {
		s := site(i)
		k, known := at[s]
		if !known || s == "" {
			k = len(units)
			units, at[s] = append(units, stats.Cluster{}), k
		}
		if units[k].Of++; right(i) {
			units[k].Hits++
		}
	}
	return stats.Clustered(units)
}

// apart names the site that a page was held out with, "" where pages are held out singly.
func (c *corpus) apart(page int, bySite bool) string {
	if !bySite {
		return ""
	}
	return c.sites[page]
}
