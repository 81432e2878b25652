package frontier

import (
	"fmt"
	"slices"
	"strings"
)

// Link is what an ordering may know of a link to a URL.
type Link struct {
	Score  float64 // what the scorer thinks of the link; paper A: R of its page
	Step   uint64  // when its page was visited: 1 for the first page, 0 for a start URL
	Queued bool    // the URL is queued already,
	Old    float64 // with this priority
}

// Ordering turns a discovered link into the priority of its URL.
type Ordering interface {
	Priority(l Link) float64
}

// OrderingFunc is an Ordering that is a function.
type OrderingFunc func(l Link) float64

// Priority calls the function.
func (f OrderingFunc) Priority(l Link) float64 { return f(l) }

// orderings are the known ones. Each says what a further link to a queued URL
// does; ties are broken by discovery, see ID.
var orderings = map[string]OrderingFunc{
	// The best of the parents counts (paper A2 with increase-key).
	"relevance": func(l Link) float64 { return best(l, l.Score) },
	// The neighbour of the earliest visited page first (paper B1): it is its
	// first parent that counts, and that one was visited first.
	"bfs": func(l Link) float64 { return best(l, -float64(l.Step)) },
	// The neighbour of the latest visited page first (paper B1).
	"dfs": func(l Link) float64 { return best(l, float64(l.Step)) },
}

// Latest is the ordering of a scorer that weighs all links to a URL itself: what
// it says last holds.
var Latest = OrderingFunc(func(l Link) float64 { return l.Score })

func best(l Link, priority float64) float64 {
	if l.Queued {
		return max(l.Old, priority)
	}
	return priority
}

// OrderingByName returns one of Orderings.
func OrderingByName(name string) (Ordering, error) {
	o, ok := orderings[name]
	if !ok {
		return nil, fmt.Errorf("ordering %q is not known; choose one of %s", name, strings.Join(Orderings(), ", "))
	}
	return o, nil
}

// Orderings returns the names of the known orderings, sorted.
func Orderings() []string {
	var names []string
	for name := range orderings {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
