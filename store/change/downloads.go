package change

// Downloads counts pages by how often they could be had: Downloads[n] is |S(n)|, those
// downloaded in exactly n of N crawls, n from 0 to N (paper E, E6).
type Downloads []int

// SS is the chance that a success is followed by a success (paper E, eq. 1):
//
//	SS = 1/(S − |S(0)|) · 1/(N−1) · Σ_{i=1..N} |S(i)| · (i−1)
//
// where S is the number of all pages. It is a mean over the pages that succeeded at all, and
// does not see the order of the crawls. So it is not the chance of a chain's step, which
// package change/tables counts as well. False where it is not known:
// fewer than two crawls, or no success in them.
func (d Downloads) SS() (chance float64, ok bool) {
	n := len(d) - 1
	pages, sum := 0, 0
	for i := 1; i <= n; i++ {
		pages += d[i]
		sum += d[i] * (i - 1)
	}
	return follow(sum, pages, n)
}

// FF is the chance that a failure is followed by a failure (paper E, eq. 2):
//
//	FF = 1/(S − |S(N)|) · 1/(N−1) · Σ_{i=0..N−1} |S(i)| · (N−1−i)
//
// False as of SS, where no visit failed.
func (d Downloads) FF() (chance float64, ok bool) {
	n := len(d) - 1
	pages, sum := 0, 0
	for i := range n {
		pages += d[i]
		sum += d[i] * (n - 1 - i)
	}
	return follow(sum, pages, n)
}

func follow(sum, pages, crawls int) (float64, bool) {
	if crawls < 2 || pages == 0 {
		return 0, false
	}
	return float64(sum) / float64(pages) / float64(crawls-1), true
}
