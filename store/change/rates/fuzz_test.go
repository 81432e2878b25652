package rates

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"
)

// odd are times that histories have by broken clocks and broken servers, and by chance.
var odd = []float64{0, -1, 1e-300, 1e-9, 1e-3, 1, 7, 1e4, 1e300, math.Inf(1), math.Inf(-1), math.NaN()}

// decode makes visits of any bytes.
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

// FuzzEstimate: whatever the visits, estimates are finite and in order, and a model can be
// learned of them.
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
			for _, name := range append(Names(), "") {
				estimate(t, name, m, p)
			}
		}
	})
}

// TestExtremes: every mix of odd gaps and ages, always, never and now and then changed.
func TestExtremes(t *testing.T) {
	for _, days := range odd {
		for _, age := range odd {
			for mask := range 8 {
				var visits []Interval
				for i := range 12 {
					visits = append(visits, Interval{Days: days, Age: age, Told: mask&1 != 0, Changed: mask&2 != 0 || mask&4 != 0 && i%3 == 0})
				}
				for _, name := range Names() {
					estimate(t, name, honest(), Page{Host: "h", Visits: visits})
				}
			}
		}
	}
	for _, name := range Names() {
		if got := estimate(t, name, nil, Page{}); got.Hi < 100*got.Lo {
			t.Errorf("%s without visits: %+v", name, got)
		}
	}
}
