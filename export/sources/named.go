package sources

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"fossick/datasets"
	"fossick/graph"
	"fossick/internal/printable"
	"fossick/internal/usage"
)

// StartPages returns the nodes that a file names, a line each, once.
func (s Source) StartPages(g *graph.Graph, path string) (set []uint32, err error) {
	known := map[uint32]bool{}
	for line, err := range datasets.ReadList(path) {
		if err != nil {
			return nil, fmt.Errorf("--seeds: %w", err)
		}
		v, ok, err := g.Node(line.Text)
		switch {
		case err != nil:
			return nil, err
		case !ok:
			return nil, fmt.Errorf("%s:%d: %s is not a page of %s; write it as the graph does", path, line.N, printable.Cut(line.Text, 200), s.Name)
		case !known[v]:
			known[v] = true
			set = append(set, v)
		}
	}
	if len(set) == 0 {
		return nil, usage.Errorf("%s names no start page", path)
	}
	return set, nil
}

// eachNode calls do with the nodes that a file names, a line each, and what stands
// after the tab.
func (s Source) eachNode(g *graph.Graph, path string, do func(v uint32, value string, line int) error) error {
	f, err := datasets.OpenList(path)
	if err != nil {
		return err
	}
	found, err := eachNamed(f, path, func(name, value string, line int) error {
		v, ok, err := g.Node(name)
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("%s:%d: %s is not a node of %s; write it as the graph does", path, line, name, s.Name)
		}
		return do(v, value, line)
	})
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if !found {
		return usage.Errorf("%s names no node", path)
	}
	return nil
}

// eachNamed reads a file that names nodes (rank --personal, --block), one a line, after
// a tab what is said of it. Empty lines and # comments are passed over. It calls do
// with both, spaces cut off, and with the number of the line, and says whether there
// was any.
func eachNamed(r io.Reader, path string, do func(name, value string, line int) error) (found bool, err error) {
	for line, err := range datasets.ListLines(r, path) {
		if err != nil {
			return found, err
		}
		name, value, _ := strings.Cut(line.Text, "\t")
		if err := do(strings.TrimSpace(name), strings.TrimSpace(value), line.N); err != nil {
			return found, err
		}
		found = true
	}
	return found, nil
}

// weightOf reads the weight of a node in a file of --personal, 1 when none stands there.
func weightOf(value string) (float64, error) {
	if value == "" {
		return 1, nil
	}
	x, err := strconv.ParseFloat(value, 64)
	if err != nil || !(x >= 0) || math.IsInf(x, 1) {
		return 0, fmt.Errorf("the weight %q is not a number of at least 0, and finite", value)
	}
	return x, nil
}
