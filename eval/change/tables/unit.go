package tables

import "fmt"

// unit is how times are told.
type unit struct {
	name string
	days float64 // in one
}

var units = []unit{{"days", 1}, {"hours", 1. / 24}, {"minutes", 1. / (24 * 60)}, {"seconds", 1. / (24 * 3600)}}

// unitOf is the largest of which there is one.
func unitOf(days float64) unit {
	for _, u := range units {
		if days >= u.days {
			return u
		}
	}
	return units[len(units)-1]
}

// period is a time for a person.
func period(days float64) string {
	u := unitOf(days)
	return fmt.Sprintf("%.3g %s", days/u.days, u.name)
}
