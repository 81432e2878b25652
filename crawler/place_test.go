package crawler

import (
	"testing"

	"fossick/graph/orders"
	"fossick/store"
)

// TestPlaceMoved: of a scorer that rescores the journal hears of clearly better parents and of
// priorities that have gone far, of another one all that changes.
func TestPlaceMoved(t *testing.T) {
	for _, c := range []struct {
		name            string
		rescores        bool
		priority, score float64 // 0.5 and 0.4 in the journal
		want            bool
	}{
		{"the same", false, 0.5, 0.4, false},
		{"a little better", false, 0.51, 0.3, true},
		{"the same, rescored", true, 0.5, 0.4, false},
		{"a little better, by a worse parent", true, 0.65, 0.3, false},
		{"a little worse, by a worse parent", true, 0.35, 0.3, false},
		{"a parent a little better", true, 0.5, 0.52, false},
		{"a better parent", true, 0.5, 0.63, true},
		{"much better, by a worse parent", true, 0.75, 0.3, true},
		{"much worse", true, 0.25, 0.3, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &queue{opt: options{Scorer: plainScorer{}, Ordering: orders.Latest}, orders: []orders.Ordering{orders.Latest}}
			if c.rescores {
				w.opt.Scorer = askedScorer{}
			}
			if got := w.moved(0, store.Queued{Score: 0.4}, 0.5, c.priority, c.score); got != c.want {
				t.Errorf("priority %v by a parent of %v: journalled %v, want %v", c.priority, c.score, got, c.want)
			}
		})
	}
}
