package rates

import "math"

const (
	fewest = 64   // points at which a posterior is looked at
	most   = 1024 // where the prior is narrow
	drop   = 18   // below the top, as a logarithm, a density is nothing
)

// estimate is the median of log λ after a page's visits, and the interval with 2.5 % on each
// side, under the prior of its group. The median is right for the change interval 1/λ too.
func (m *Model) estimate(p Page) Estimate {
	e := evident(p.Visits, m.truths.believed(p.Host))
	bells := m.prior.of(p.Group)
	q := quantiles(func(z float64) float64 { return e.log(z) + logDensity(bells, z) }, bells, tail, .5, 1-tail)
	return within(math.Exp(q[1]), math.Exp(q[0]), math.Exp(q[2]))
}

// quantiles returns those of a posterior, in rising order, whose log density is log, but for
// a constant. It looks at the whole range of the prior first, then where the density is.
func quantiles(log func(z float64) float64, bells []bell, levels ...float64) []float64 {
	lo, hi, points := extent(bells)
	var z, density []float64
	for looks := range 6 {
		z, density = look(log, lo, hi, points)
		first, last := 0, points-1
		for first < last && density[first] == 0 {
			first++
		}
		for last > first && density[last] == 0 {
			last--
		}
		if looks > 0 && last-first > points/2 {
			break
		}
		lo, hi = z[max(0, first-1)], z[min(points-1, last+1)]
		points = 2 * fewest
	}
	return cut(z, density, levels)
}

// extent is where a prior has its mass, among the rates that there are, and how many points
// show its narrowest part.
func extent(bells []bell) (lo, hi float64, points int) {
	lo, hi = math.Inf(1), math.Inf(-1)
	narrow := math.Inf(1)
	for _, b := range bells {
		spread := math.Sqrt(b.variance)
		lo, hi = min(lo, b.mean-7*spread), max(hi, b.mean+7*spread)
		narrow = min(narrow, spread)
	}
	lo = min(max(lo, math.Log(leastRate)), math.Log(MostRate)-1)
	hi = max(min(hi, math.Log(MostRate)), lo+1)
	return lo, hi, int(min(max(2*(hi-lo)/narrow, fewest), most))
}

// look returns points from lo to hi, and the density there in units of the highest.
func look(log func(z float64) float64, lo, hi float64, points int) (z, density []float64) {
	z, density = make([]float64, points), make([]float64, points)
	top := math.Inf(-1)
	for i := range z {
		z[i] = lo + (hi-lo)*float64(i)/float64(points-1)
		density[i] = log(z[i])
		top = max(top, density[i])
	}
	for i, d := range density {
		if density[i] = 0; d > top-drop {
			density[i] = math.Exp(d - top)
		}
	}
	return z, density
}

// cut returns the quantiles of a density that is given at equal distances, and linear
// between.
func cut(z, density []float64, levels []float64) []float64 {
	sum := make([]float64, len(z))
	for i := 1; i < len(z); i++ {
		sum[i] = sum[i-1] + (density[i-1]+density[i])/2
	}
	found := make([]float64, 0, len(levels))
	i := 1
	for _, level := range levels {
		want := level * sum[len(sum)-1]
		for i < len(z)-1 && sum[i] < want {
			i++
		}
		found = append(found, z[i-1]+share(density[i-1], density[i], want-sum[i-1])*(z[i]-z[i-1]))
	}
	return found
}

// share is the part of a step from density a to density b that has so much mass, in steps
// by density: the root x of a·x + (b−a)·x²/2 = mass.
func share(a, b, mass float64) float64 {
	root := a + math.Sqrt(max(0, a*a+2*(b-a)*mass))
	if mass <= 0 || root == 0 {
		return 0
	}
	return min(2*mass/root, 1)
}
