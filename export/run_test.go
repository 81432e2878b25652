package export

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"
)

type counted struct {
	nodes            []uint32
	finished, closed int
	failAt           int // number of the failing write; 0 for none
}

var errFull = errors.New("full")

func (c *counted) Write(_ context.Context, p *Page) error {
	if c.nodes = append(c.nodes, p.Node); len(c.nodes) == c.failAt {
		return errFull
	}
	return nil
}
func (c *counted) Finish(context.Context) error { c.finished++; return nil }
func (c *counted) Close() error                 { c.closed++; return nil }

func numbered(n int, end error) iter.Seq2[*Page, error] {
	return func(yield func(*Page, error) bool) {
		for i := range n {
			if !yield(&Page{Node: uint32(i)}, nil) {
				return
			}
		}
		if end != nil {
			yield(nil, end)
		}
	}
}

// TestRun writes pages to three sinks; a sink may fail, or the pages may end with an error.
func TestRun(t *testing.T) {
	broken := errors.New("broken")
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		name     string
		ctx      context.Context
		failAt   int
		end      error
		want     error
		finished int
	}{
		{"all goes well", t.Context(), 0, nil, nil, 1},
		{"a sink fails", t.Context(), 20, nil, errFull, 0},
		{"the pages end badly", t.Context(), 0, broken, broken, 0},
		{"cancelled", cancelled, 0, nil, context.Canceled, 0},
	} {
		all := []*counted{{}, {failAt: test.failAt}, {}}
		n, err := Run(test.ctx, numbered(100, test.end), []Sink{all[0], all[1], all[2]})
		if !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
		if err == nil && n != 100 {
			t.Errorf("%s: %d records", test.name, n)
		}
		for i, c := range all {
			if c.closed != 1 || test.want == nil && c.finished != 1 || test.failAt > 0 && i == 1 && c.finished != 0 || errors.Is(test.want, broken) && c.finished != 0 {
				t.Errorf("%s: sink %d was finished %d times and closed %d times", test.name, i, c.finished, c.closed)
			}
			if !slices.IsSorted(c.nodes) || test.want == nil && len(c.nodes) != 100 {
				t.Errorf("%s: sink %d got %v", test.name, i, c.nodes)
			}
		}
	}
}

// One pass gives two sinks the same pages.
func Example() {
	first, second := &counted{}, &counted{}
	n, err := Run(context.Background(), numbered(3, nil), []Sink{first, second})
	fmt.Println(n, err, first.nodes, second.nodes)
	// Output: 3 <nil> [0 1 2] [0 1 2]
}
