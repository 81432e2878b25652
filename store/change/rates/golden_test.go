package rates

import (
	"math"
	"testing"
)

func estimate(t *testing.T, name string, m *Model, p Page) Estimate {
	t.Helper()
	e, err := New(name, m)
	if err != nil {
		t.Fatal(err)
	}
	got := e.Estimate(p)
	for _, x := range []float64{got.Rate, got.Lo, got.Hi} {
		if math.IsNaN(x) || x < 0 || x > MostRate {
			t.Fatalf("%s of %+v: %+v", name, p, got)
		}
	}
	if got.Lo > got.Rate || got.Rate > got.Hi {
		t.Fatalf("%s of %+v: %+v is out of order", name, p, got)
	}
	return got
}

// daily is n visits a day apart of which the first few found a change.
func daily(changed, n int) (visits []Interval) {
	for i := range n {
		visits = append(visits, Interval{Days: 1, Changed: i < changed})
	}
	return visits
}

// The examples of Cho and Garcia-Molina: a page seen daily for ten days that changed six
// times; one seen on the days 1, 2, 7 and 10 that had changed on 2 and on 7, whose rate is
// the root of 1/(e^λ−1) + 5/(e^5λ−1) = 3. The rest are closed forms.
func TestExamples(t *testing.T) {
	cached := []Interval{{Days: 1, Changed: true}, {Days: 5, Changed: true}, {Days: 3}}
	aged := []Interval{{Days: 4, Changed: true, Age: 1, Told: true}, {Days: 3}, {Days: 6, Changed: true, Age: 2, Told: true}}
	honest := &Model{truths: truths{hosts: map[string]Checks{"h": {Made: 100}}, share: .5}, prior: firstPrior()}
	for _, c := range []struct {
		name, estimator string
		visits          []Interval
		want            float64
	}{
		{"six of ten", "naive", daily(6, 10), .6},
		{"six of ten", "corrected", daily(6, 10), math.Log(10.5 / 4.5)},
		{"six of ten", "likelihood", daily(6, 10), math.Log(1 / .4)},
		{"ten of ten", "naive", daily(10, 10), 1},
		{"ten of ten", "corrected", daily(10, 10), math.Log(21)},
		{"ten of ten", "likelihood", daily(10, 10), -math.Log(1 - math.Pow(.5, .1))},
		{"none of ten", "naive", daily(0, 10), 0},
		{"none of ten", "corrected", daily(0, 10), 0},
		{"none of ten", "likelihood", daily(0, 10), math.Ln2 / 10},
		{"days 1, 2, 7, 10", "naive", cached, 2. / 9},
		{"days 1, 2, 7, 10", "corrected", cached, math.Log(3.5/1.5) / 3},
		{"days 1, 2, 7, 10", "likelihood", cached, cachedRate()},
		{"two known changes in six quiet days", "likelihood", aged, 2. / 6},
	} {
		if got := estimate(t, c.estimator, honest, Page{Host: "h", Visits: c.visits}); math.Abs(got.Rate-c.want) > 1e-9 {
			t.Errorf("%s, %s: rate %.10f, want %.10f", c.name, c.estimator, got.Rate, c.want)
		}
	}
}

// cachedRate solves the equation of the example by Newton's method.
func cachedRate() float64 {
	rate := .3
	for range 50 {
		f := 1/math.Expm1(rate) + 5/math.Expm1(5*rate) - 3
		d := -math.Exp(rate)/math.Pow(math.Expm1(rate), 2) - 25*math.Exp(5*rate)/math.Pow(math.Expm1(5*rate), 2)
		rate -= f / d
	}
	return rate
}

// The intervals at the edges: of never and always, 2.5 % are left.
func TestIntervals(t *testing.T) {
	for _, c := range []struct {
		estimator    string
		changed, n   int
		lo, hi, near float64
	}{
		{"naive", 0, 10, 0, .3689, .003},        // Garwood's table: 3.689
		{"naive", 6, 10, .2202, 1.3059, .003},   // 2.202 and 13.059
		{"naive", 10, 10, .4795, 1.8390, .003},  // 4.795 and 18.390
		{"likelihood", 0, 10, 0, .36889, 1e-5},  // −log(.025)/10
		{"likelihood", 10, 10, 1.1763, 1e5, .1}, // −log(1 − .025^.1)
		{"corrected", 0, 10, 0, .3253, 1e-3},    // Wilson's 0 to .2775
	} {
		got := estimate(t, c.estimator, nil, Page{Visits: daily(c.changed, c.n)})
		if math.Abs(got.Lo-c.lo) > c.near || math.Abs(got.Hi-c.hi) > c.near {
			t.Errorf("%s, %d of %d: %.4f to %.4f, want %.4f to %.4f", c.estimator, c.changed, c.n, got.Lo, got.Hi, c.lo, c.hi)
		}
	}
}

// Of visits two days apart the interval of the corrected estimate is half of that of daily ones:
// Wilson's .3127 to .8318 of 6 in 10, put through −log(1−p)/2.
func TestIntervalOfTwoDays(t *testing.T) {
	visits := daily(6, 10)
	for i := range visits {
		visits[i].Days = 2
	}
	got := estimate(t, "corrected", nil, Page{Visits: visits})
	if math.Abs(got.Lo-.1875) > 1e-3 || math.Abs(got.Hi-.8913) > 1e-3 {
		t.Errorf("%.4f to %.4f, want .1875 to .8913", got.Lo, got.Hi)
	}
}

func TestUnknownEstimator(t *testing.T) {
	if _, err := New("best", nil); err == nil {
		t.Error("no error")
	}
	if Names()[0] != "bayes" {
		t.Errorf("default %s", Names()[0])
	}
}
