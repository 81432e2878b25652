package rank

import (
	"bufio"
	"fmt"
	"io"
	"slices"

	"fossick/graph"
)

// Highest returns the n nodes with the largest scores, of equal ones the first; only
// those that are in, unless that is nil.
func Highest(score []float64, in []bool, n int) []uint32 {
	var top []uint32
	for v := range score {
		if in != nil && !in[v] || len(top) == n && (n == 0 || score[v] <= score[top[n-1]]) {
			continue
		}
		at, _ := slices.BinarySearchFunc(top, score[v], func(w uint32, x float64) int {
			if score[w] >= x {
				return -1
			}
			return 1
		})
		top = slices.Insert(top, at, uint32(v))
		top = top[:min(n, len(top))]
	}
	return top
}

// Write writes the scores of a graph's nodes, a line each: name TAB score, of hits TAB hub.
func (r *Result) Write(w io.Writer, g *graph.Graph) error {
	b := bufio.NewWriter(w)
	for v, x := range r.Score {
		name, err := g.Name(uint32(v))
		if err != nil {
			return err
		}
		line := fmt.Appendf(b.AvailableBuffer(), "%s\t%.17g", name, x)
		if r.Hub != nil {
			line = fmt.Appendf(line, "\t%.17g", r.Hub[v])
		}
		if _, err := b.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return b.Flush()
}
