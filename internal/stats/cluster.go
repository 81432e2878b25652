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
//	n* = n/deff · (z/t)²,  deff = k/(k−1) · Σ (hits_i − p·of_i)² / (n·p(1−p))
//
// deff, which is taken for 1 at least, is how many draws tell as much as one. t is
// Student's quantile for k − 1 degrees of freedom. Where all draws are hits, or none is,
// they do not show how clusters differ, and each cluster counts as a draw. One cluster
// tells nothing.
func Effective(clusters []Cluster) (share, draws float64) {
	var hits, n, k float64
	for _, c := range clusters {
		if c.Of > 0 {
			hits, n, k = hits+float64(c.Hits), n+float64(c.Of), k+1
		}
	}
	if k == 0 {
		return 0, 0
	}
	p := hits / n
	if k == 1 {
		return p, 0
	}
	draws = k
	if hits > 0 && hits < n {
		between := 0.0
		for _, c := range clusters {
			d := float64(c.Hits) - p*float64(c.Of)
			between += d * d
		}
		draws = n / max(1, k/(k-1)*between/(n*p*(1-p)))
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: k - 1}.Quantile(0.975)
	return p, draws * Z95 * Z95 / (t * t)
}
