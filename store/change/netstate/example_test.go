package netstate_test

import (
	"fmt"
	"time"

	"fossick/store/change/netstate"
)

// A host fails at night; the predictor learns when to come.
func Example() {
	p := netstate.New(netstate.Options{URLs: 1000, Hosts: 100})
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var chain netstate.Chain
	before := netstate.OK
	for hour := range 30 * 24 {
		v := netstate.Visit{URL: "http://a.test/", Host: "a.test:80", At: at.Add(time.Duration(hour) * time.Hour)}
		if hour%24 < 6 {
			v.Outcome = netstate.Transient
		}
		p.Learn(v)
		chain.Add(before == netstate.OK, v.Outcome == netstate.OK)
		before = v.Outcome
	}
	month := at.AddDate(0, 0, 30)
	fmt.Printf("at 3: %.2f, at 12: %.2f\n", p.Chance("http://a.test/", "a.test:80", month.Add(3*time.Hour)), p.Chance("http://a.test/", "a.test:80", month.Add(12*time.Hour)))
	ss, _ := chain.SS()
	ff, _ := chain.FF()
	fmt.Printf("visit by visit: SS %.2f, FF %.2f\n", ss, ff)

	fmt.Printf("failures that stay are class %d\n", netstate.Permanent)
	// Output:
	// at 3: 0.07, at 12: 1.00
	// visit by visit: SS 0.94, FF 0.83
	// failures that stay are class 2
}
