package orders

import "testing"

func TestTell(t *testing.T) {
	for _, c := range []struct{ order, want string }{
		{"", "priority 0.5"},
		{"relevance", "priority 0.5"},
		{"bfs", "found on page 3 by bfs"},
		{"dfs", "linked latest from page 9 by dfs"},
		{"mcs", "2 links that count by mcs"},
		{"mns", "links that weigh 2 by mns"}, // 1 each: 3 and 9 have an even number of bits
		{"lexbfs", "found on page 3, then linked from page 9 by lexbfs"},
		{"lexdfs", "linked latest from page 9 by lexdfs"},
		{"relevance*0.7+mcs*0.3", "priority 0.5 by relevance, 2 links that count by mcs"},
	} {
		o, err := OrderingByName(c.order)
		if c.order == "" {
			o, err = OrderingByName("relevance")
		}
		if err != nil {
			t.Fatal(err)
		}
		var all []float64
		for _, part := range Parts(o) {
			first := part.Priority(Link{Score: 0.5, Step: 3, Place: 4})
			all = append(all, part.Priority(Link{Score: 0.4, Step: 9, Place: 1, Queued: true, Old: first}))
		}
		if got := Tell(c.order, all[0], all[1:]); got != c.want {
			t.Errorf("%q: %q, want %q", c.order, got, c.want)
		}
	}
	if got := Tell("mcs", named("mcs").Priority(Link{}), nil); got != "1 link that counts by mcs" {
		t.Error(got)
	}
}
