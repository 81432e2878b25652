package change

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"
)

// FuzzPredictor: for any visits, chances are in [0,1] and reproducible.
func FuzzPredictor(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0, 1, 1, 10, 0, 2, 1, 200})
	f.Add([]byte{7, 3, 255, 255, 7, 3, 0, 0, 7, 0, 128, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		a, b := NewPredictor(PredictorOptions{URLs: 4, Hosts: 2}), NewPredictor(PredictorOptions{URLs: 4, Hosts: 2})
		at := start
		for ; len(data) >= 4; data = data[4:] {
			at = at.Add(time.Duration(int8(data[2])) * time.Duration(1+int(data[3])*int(data[3])) * time.Minute)
			v := Attempt{URL: fmt.Sprint(data[0] % 32), Host: fmt.Sprint(data[0] % 8), At: at, Outcome: Outcome(data[1] % 5)}
			c := a.Chance(v.URL, v.Host, v.At)
			if !(c > 0 && c < 1) || math.IsNaN(c) || c != b.Chance(v.URL, v.Host, v.At) {
				t.Fatalf("%+v: chance %g", v, c)
			}
			a.Learn(v)
			b.Learn(v)
		}
	})
}

// TestFirstChances: first chances are about paper E's, and lower for URLs of a failing host.
func TestFirstChances(t *testing.T) {
	p := NewPredictor(PredictorOptions{})
	if c := p.Chance("u", "h", start); math.Abs(c-newcome) > .08 {
		t.Errorf("of a new URL %.3f, want about %.3f", c, newcome)
	}
	day := 48 * time.Hour
	p.Learn(Attempt{"ok", "h", start, OK})
	p.Learn(Attempt{"bad", "g", start, transient})
	good, bad := p.Chance("ok", "h", start.Add(day)), p.Chance("bad", "g", start.Add(day))
	if good < .9 || bad > .5 {
		t.Errorf("after a success %.3f, after a failure %.3f; want about %.3f and %.3f", good, bad, firstSS, 1-firstFF)
	}
	if other := p.Chance("new", "g", start.Add(time.Minute)); other >= p.Chance("new", "h", start.Add(time.Minute)) {
		t.Errorf("a new URL of a host that failed has %.3f", other)
	}
}

func TestBounded(t *testing.T) {
	p := NewPredictor(PredictorOptions{URLs: 50, Hosts: 10})
	for i := range 1000 {
		p.Learn(Attempt{fmt.Sprint("u", i), fmt.Sprint("h", i), start.Add(time.Duration(i) * time.Second), OK})
	}
	n, m := 0, 0
	for range p.urls.All() {
		n++
	}
	for range p.hosts.All() {
		m++
	}
	if n < 50 || n > 100 || m < 10 || m > 20 {
		t.Errorf("%d URLs and %d hosts are remembered", n, m)
	}
}

// odd holds times from broken clocks and servers, and boundary values.
var odd = []float64{0, -1, 1e-300, 1e-9, 1e-3, 1, 7, 1e4, 1e300, math.Inf(1), math.Inf(-1), math.NaN()}

func decode(data []byte) (visits []Interval) {
	for len(data) >= 4 && len(visits) < 40 {
		v := Interval{Changed: data[0]&1 != 0, Told: data[0]&2 != 0}
		v.Days, v.Age = odd[int(data[1])%len(odd)], odd[int(data[2])%len(odd)]
		data = data[3:]
		if len(data) >= 16 && data[0]&4 != 0 {
			v.Days = math.Float64frombits(binary.LittleEndian.Uint64(data))
			v.Age = math.Float64frombits(binary.LittleEndian.Uint64(data[8:]))
			data = data[16:]
		}
		visits = append(visits, v)
	}
	return visits
}

// FuzzEstimate: for any visits, estimates are finite and ordered, and a model can be learned.
func FuzzEstimate(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{1, 5, 0, 1, 5, 0, 1, 5, 0, 1, 5, 0})
	f.Add([]byte{0, 5, 0, 0, 7, 0, 0, 8, 0, 0, 8, 0})
	f.Add([]byte{3, 0, 8, 3, 8, 2, 3, 11, 11, 2, 9, 10, 3, 1, 1, 1, 2, 2})
	f.Fuzz(func(t *testing.T, data []byte) {
		p := Page{Host: "h", Visits: decode(data)}
		models := []*Model{nil, honest()}
		if len(data)%8 == 0 { // it takes longest
			models = append(models, Learn(slices.Values([]Page{p, {Host: "h", Group: Group{Depth: 1}, Visits: daily(3, 5)}})))
		}
		for _, m := range models {
			for _, name := range []string{"bayes", "naive"} {
				estimateOf(t, name, m, p)
			}
		}
	})
}

// TestExtremes combines all odd gaps and ages, with changes always, never and sometimes.
func TestExtremes(t *testing.T) {
	for _, days := range odd {
		for _, age := range odd {
			for mask := range 8 {
				var visits []Interval
				for i := range 12 {
					visits = append(visits, Interval{Days: days, Age: age, Told: mask&1 != 0, Changed: mask&2 != 0 || mask&4 != 0 && i%3 == 0})
				}
				for _, name := range []string{"bayes", "naive"} {
					estimateOf(t, name, honest(), Page{Host: "h", Visits: visits})
				}
			}
		}
	}
	for _, name := range []string{"bayes", "naive"} {
		if got := estimateOf(t, name, nil, Page{}); got.Hi < 100*got.Lo {
			t.Errorf("%s without visits: %+v", name, got)
		}
	}
}
