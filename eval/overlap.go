package eval

// Overlap returns the URL overlap of two crawls by pages crawled (paper A5): |A_n ∩
// B_n| / n, where A_n are the first n URLs of a. It ends where the shorter crawl ends,
// and has a point every step pages and at that end. URLs of one crawl are distinct, in
// the order of the crawl.
//
// A URL enters the intersection when the later of the two crawls reaches it,
// so one pass over both is enough: O(len(a) + len(b)).
func Overlap(a, b []string, step int) []Point {
	n := min(len(a), len(b))
	at := make(map[string]int, n)
	for i, url := range a[:n] {
		at[url] = i
	}
	enters := make([]int, n) // how many URLs enter at each length
	for j, url := range b[:n] {
		if i, both := at[url]; both {
			enters[max(i, j)]++
		}
	}
	return shares(n, step, func(i int) int { return enters[i] })
}

// MeanOverlap is the mean of the overlap over all pairs of crawls, up to the
// shortest crawl's end; nil for fewer than two crawls.
func MeanOverlap(crawls [][]string, step int) []Point {
	if len(crawls) < 2 {
		return nil
	}
	n := len(crawls[0])
	for _, c := range crawls {
		n = min(n, len(c))
	}
	var mean []Point
	pairs := 0
	for i, a := range crawls {
		for _, b := range crawls[i+1:] {
			pairs++
			for k, p := range Overlap(a[:n], b[:n], step) {
				if pairs == 1 {
					mean = append(mean, p)
				} else {
					mean[k].Share += p.Share
				}
			}
		}
	}
	for k := range mean {
		mean[k].Share /= float64(pairs)
	}
	return mean
}
