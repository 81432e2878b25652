package revisit

import (
	"fmt"
	"slices"

	"fossick/internal/printable"
)

// Policy is a rule by which a budget is shared among pages.
type Policy struct {
	Name   string
	About  string // a phrase for help
	Source string // where it was published

	// rate returns the visits a day that a page gets when one costs price. It falls with
	// the price, from any number down to nothing.
	rate func(price, rate, weight float64) float64
	// chance returns the chance that a page which tells of its changes is visited after
	// one. nil: the policy does not listen to signals.
	chance func(price, rate, weight float64) float64
	learns bool // it goes by what may be true of a page's rate, not by one estimate
}

// Policies returns the table of policies, in the order of their publication.
func Policies() []Policy { return slices.Clone(table) }

var table = []Policy{
	{Name: "uniform", About: "all pages equally often", Source: "Cho and Garcia-Molina 2003",
		rate: func(price, _, _ float64) float64 { return 1 / price }},
	{Name: "proportional", About: "pages as often as they change", Source: "Cho and Garcia-Molina 2003",
		rate: func(price, rate, _ float64) float64 { return rate / price }},
	{Name: "cho", About: "largest freshness, by visits at even intervals", Source: "Cho and Garcia-Molina 2003",
		rate: choRate},
	{Name: "azar", About: "largest freshness, by a formula for visits at random", Source: "Azar et al. 2018",
		rate: azarRate},
	{Name: "kolobov", About: "fewest missed changes, with no page forgotten", Source: "Kolobov et al. 2019",
		rate: kolobovRate},
	{Name: "kolobov-signals", About: "the same, with visits where a page reports a change", Source: "Kolobov et al. 2019",
		rate: kolobovRate, chance: kolobovChance},
	{Name: "learn", About: "largest expected freshness, also where rates are uncertain", Source: "this room",
		rate: choRate, chance: choChance, learns: true},
}

// byName returns the policy of that name.
func byName(name string) (Policy, error) {
	var names []string
	for _, p := range table {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return Policy{}, fmt.Errorf("no revisit policy %q; choose one of %s", name, printable.SomeNames(name, names))
}
