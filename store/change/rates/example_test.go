package rates_test

import (
	"fmt"
	"slices"

	"fossick/store/change/rates"
)

// A site's pages change once in ten days or so; what they tell goes for one that was seen
// once. Six changes in ten daily visits are more than .6 a day.
func Example() {
	var pages []rates.Page
	for i := range 200 {
		p := rates.Page{Host: "a.test", Group: rates.Group{Kind: "0a0", Depth: 1, Site: "a.test", Topic: "banking"}}
		for visit := range 10 {
			p.Visits = append(p.Visits, rates.Interval{Days: 1, Changed: (i+visit)%10 == 0})
		}
		pages = append(pages, p)
	}
	model := rates.Learn(slices.Values(pages))
	best, err := rates.New("", model)
	if err != nil {
		fmt.Println(err)
		return
	}
	seen := best.Estimate(rates.Page{Group: pages[0].Group})
	fmt.Printf("a new page: %.2f a day, at most %.2f; never above %.0f\n", seen.Rate, seen.Hi, rates.MostRate)

	busy := rates.Page{Group: rates.Group{Site: "b.test"}}
	for visit := range 10 {
		busy.Visits = append(busy.Visits, rates.Interval{Days: 1, Changed: visit < 6, Told: true, Age: .5})
	}
	for _, name := range rates.Names() {
		e, err := rates.New(name, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		got := e.Estimate(busy)
		fmt.Printf("%s: %.2f a day, %.2f to %.2f\n", name, got.Rate, got.Lo, got.Hi)
	}
	// Output:
	// a new page: 0.10 a day, at most 0.13; never above 100000
	// bayes: 0.73 a day, 0.27 to 1.60
	// likelihood: 0.92 a day, 0.36 to 1.93
	// corrected: 0.85 a day, 0.37 to 1.78
	// naive: 0.60 a day, 0.22 to 1.31
}
