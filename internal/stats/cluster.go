package stats

import "gonum.org/v1/gonum/stat/distuv"

// Cluster is draws that came together, as the pages of a site do.
type Cluster struct{ Hits, Of int }

// Clustered returns the 95 % interval of a share of hits where whole clusters were drawn:
// Score's of so many draws as Effective says. Of one cluster it is [0,1].
func Clustered(clusters []Cluster) [2]float64 { return Score(Effective(clusters)) }

// Effective returns the share of hits, and how many independent draws would tell as much
// of it as the clusters do (Korn and Graubard 1998):
//
//	n* = n/deff · (z/t)²,  deff = n/(p(1−p)) · (k−1)/k · Σ ((hits_i − p·of_i) / (n − of_i))²
//
// deff, which is taken for 1 at least, is how many draws tell as much as one. Its variance
// is the jackknife's: what the share is without a cluster tells what that one weighs. t is
// Student's quantile for n²/Σ of_i² − 1 degrees of freedom, which are k − 1 where clusters
// are of one size; few large ones among many small tell less. Where all draws are hits, or
// none is, they do not show how clusters differ, and each counts as a draw, in
// proportion to its size. One cluster tells nothing.
func Effective(clusters []Cluster) (share, draws float64) {
	var hits, n, k, squares float64
	for _, c := range clusters {
		if of := float64(c.Of); of > 0 {
			hits, n, k, squares = hits+float64(c.Hits), n+of, k+1, squares+of*of
		}
	}
	if k == 0 {
		return 0, 0
	}
	p, alike := hits/n, n*n/squares // so many clusters of one size
	if k == 1 {
		return p, 0
	}
	draws = alike
	if hits > 0 && hits < n {
		variance := 0.0
		for _, c := range clusters {
			d := (float64(c.Hits) - p*float64(c.Of)) / (n - float64(c.Of))
			variance += d * d * (k - 1) / k
		}
		draws = n / max(1, n*variance/(p*(1-p)))
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: alike - 1}.Quantile(0.975)
	return p, draws * Z95 * Z95 / (t * t)
}
