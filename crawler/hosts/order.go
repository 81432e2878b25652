package hosts

import "fossick/graph/orders"

// Lower is the priority of a URL that waits for another try: what its page is worth, times
// the chance that it is had. In an ordering by links it is less by the chance of a failure,
// in widths of equal priorities, so that the URL comes after its equals.
func Lower(o orders.Ordering, priority, chance float64) float64 {
	switch {
	case chance >= 1:
		return priority
	case !orders.ByScore(o):
		return priority - (1-chance)*orders.Width(o)
	case priority > 0:
		return priority * chance
	}
	return priority / chance
}

// Raise takes back what Lower did.
func Raise(o orders.Ordering, priority, chance float64) float64 {
	switch {
	case chance >= 1:
		return priority
	case !orders.ByScore(o):
		return priority + (1-chance)*orders.Width(o)
	case priority > 0:
		return priority / chance
	}
	return priority * chance
}
