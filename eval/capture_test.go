package eval

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"fossick/internal/stats"
)

func TestLincolnPetersen(t *testing.T) {
	// Seber's textbook case: 200 marked, 100 caught, 20 of them marked. By hand:
	// N = 201·101/21 − 1 = 965.714; var = 201·101·180·80/(21²·22) = 30130.9.
	p := lincolnPetersen(200, 100, 20)
	checkNear(t, "N", p.Size, 965.7143)
	if p.Seen != 280 {
		t.Errorf("seen: got %d, want 280", p.Seen)
	}
	unseen := 965.7142857 - 280
	k := math.Exp(1.959964 * math.Sqrt(math.Log(1+30130.9/(unseen*unseen))))
	if !(math.Abs(p.CI[0]-(280+unseen/k)) <= 0.05) || !(math.Abs(p.CI[1]-(280+unseen*k)) <= 0.05) {
		t.Errorf("interval: got %v, want [%v, %v]", p.CI, 280+unseen/k, 280+unseen*k)
	}

	same := lincolnPetersen(50, 50, 50)
	checkNear(t, "the same pages twice", same.Size, 50)
	checkNear(t, "the same pages twice, lo", same.CI[0], 50)
	checkNear(t, "the same pages twice, hi", same.CI[1], 50+stats.Z95*stats.Z95) // Wilson's lower end of 50 in 50 is 50/(50+z²)
	checkNear(t, "all of the smaller crawl again, hi", lincolnPetersen(50, 80, 50).CI[1], 80*(50+stats.Z95*stats.Z95)/50)
	if none := lincolnPetersen(3, 0, 0); none.Size != 3 || none.CI != (interval95{3, 3}) {
		t.Errorf("the second found nothing: got %+v, want 3", none)
	}
	if apart := lincolnPetersen(10, 10, 0); apart.Size != 120 || apart.CI[1] < 2*apart.CI[0] {
		t.Errorf("nothing in common: got %+v, want 120 and a wide interval", apart)
	}
}

func TestChao(t *testing.T) {
	// By hand: t = 3, f1 = 10, f2 = 4: N = 30 + (2/3)·10·9/(2·5) = 36;
	// var = 6 + (4/9)·10·19²/(4·25) + (4/9)·100·4·81/(4·625) = 6 + 16.0444 + 5.76.
	p := chao2(3, 30, 10, 4)
	checkNear(t, "N", p.Size, 36)
	k := math.Exp(stats.Z95 * math.Sqrt(math.Log(1+27.80444/36)))
	checkNear(t, "lo", p.CI[0], 30+6/k)
	checkNear(t, "hi", p.CI[1], 30+6*k)
	all := chao2(3, 30, 0, 5)
	checkNear(t, "no page found once", all.Size, 30)
	checkNear(t, "no page found once, lo", all.CI[0], 30)
	checkNear(t, "no page found once, hi", all.CI[1], 30*(1+stats.Z95*stats.Z95/60)) // 1 − Wilson's upper end of 0 in 60 is 60/(60+z²)
	// Wilson's upper end of 1 in 2·30 − 1 captures: (x + z²/2 + z·√(x(1 − x/n) + z²/4)) / (n + z²).
	const x, n, z = 1., 59., stats.Z95
	share := (x + z*z/2 + z*math.Sqrt(x*(1-x/n)+z*z/4)) / (n + z*z)
	one := chao2(3, 30, 1, 5)
	checkNear(t, "one page found once, hi", one.CI[1], 30/(1-share))
}

// TestRecallOfPopulation: a recall's interval inverts the ends of the population's interval.
func TestRecallOfPopulation(t *testing.T) {
	e := relevantWeb{Size: 50, Seen: 40, CI: interval95{40, 80}}.recall(20)
	if e.Caution != cautionBound || !e.Upper() {
		t.Errorf("capture–recapture gives no more than a bound: %+v", e)
	}
	if e := (relevantWeb{Size: 50, CI: interval95{40, 80}, Method: methodFrontier}).recall(20); e.Caution != cautionFrontier || e.Upper() {
		t.Errorf("the frontier's estimate is no bound: %+v", e)
	}
	if e.Value != 0.4 || e.CI != (interval95{0.25, 0.5}) || e.Together != 0.8 {
		t.Errorf("%+v, want 0.4 (0.25 to 0.5), together 0.8", e)
	}
}

func TestCapture(t *testing.T) {
	if _, ok := capture([][]string{{"a"}}); ok {
		t.Error("one crawl gave an estimate")
	}
	if _, ok := capture([][]string{nil, nil}); ok {
		t.Error("nothing found gave an estimate")
	}
	p, ok := capture([][]string{{"a", "b", "c"}, {"b", "c", "d"}})
	if want := lincolnPetersen(3, 3, 2); !ok || p != want {
		t.Errorf("two crawls: got %+v, want %+v", p, want)
	}
	p, ok = capture([][]string{{"a", "b"}, {"b", "c"}, {"b", "c", "d"}})
	if want := chao2(3, 4, 2, 1); !ok || p != want {
		t.Errorf("three crawls: got %+v, want %+v", p, want)
	}
	e := p.recall(3)
	checkNear(t, "recall", e.Value, 3/p.Size)
	checkNear(t, "together", e.Together, 4/p.Size)
	if e.CI[0] > e.Value || e.CI[1] < e.Value {
		t.Errorf("recall %v outside its interval %v", e.Value, e.CI)
	}
}

// On independent samples, which the estimators assume, about 95 intervals in 100 must hold the
// true population.
func TestCaptureCoverage(t *testing.T) {
	const population, rounds = 400, 300
	r := rand.New(rand.NewPCG(1, 3))
	for _, captures := range []int{2, 3, 5} {
		held, sum := 0, 0.0
		for range rounds {
			var crawls [][]string
			for range captures {
				var c []string
				for _, i := range r.Perm(population)[:100] {
					c = append(c, strconv.Itoa(i))
				}
				crawls = append(crawls, c)
			}
			p, _ := capture(crawls)
			sum += p.Size
			if p.CI[0] <= population && population <= p.CI[1] {
				held++
			}
		}
		if mean := sum / rounds; !(math.Abs(mean-population) <= 0.05*population) {
			t.Errorf("%d captures: mean estimate %.0f, want about %d", captures, mean, population)
		}
		if share := float64(held) / rounds; share < 0.90 {
			t.Errorf("%d captures: the interval held the truth in %.2f of %d rounds, want about 0.95", captures, share, rounds)
		}
	}
}
