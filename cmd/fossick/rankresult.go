package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"fossick/graph/sources"
	"fossick/internal/printable"
	"fossick/store"
)

// rankResult is what rank prints (cli.md).
type rankResult struct {
	Graph      string       `json:"graph"`
	Method     string       `json:"method"`
	Nodes      int          `json:"nodes"`
	Edges      int64        `json:"edges"`
	Damping    *float64     `json:"damping"` // null for hits
	Epsilon    float64      `json:"epsilon"`
	Iterations int          `json:"iterations"` // over all edges; those of hits visit them twice
	Residual   float64      `json:"residual"`
	Seconds    float64      `json:"seconds"`     // turning the graph round included, reading it not
	Processor  *float64     `json:"cpu_seconds"` // of all processors; null where the system does not tell
	InMemory   bool         `json:"in_memory"`
	Blocks     *int         `json:"blocks"`            // null without
	Before     *int64       `json:"iterations_before"` // what local ranks and block rank cost, in iterations; null where they are no start
	Begin      *float64     `json:"residual_before"`   // of local ranks times block rank
	Pages      *uint64      `json:"pages"`             // of a store that were given a rank; null when it is no store
	Top        []rankedNode `json:"top"`               // of a store's, pages only
	File       *string      `json:"file"`
}

// rankedNode is one of the highest.
type rankedNode struct {
	Node  string   `json:"node"` // its URL, or what the graph calls it
	Score float64  `json:"score"`
	Hub   *float64 `json:"hub,omitempty"`
}

// keep writes the scores where they are wanted and picks the highest.
func (r *rankRun) keep() error {
	var pages []bool // nodes that are stored pages; nil when it is no store
	var err error
	if store.Exists(r.Graph) {
		if pages, err = r.toStore(); err != nil {
			return err
		}
	}
	if r.Output != "" {
		r.result.File = &r.Output
		if err := writePage(r.Output, r.write); err != nil {
			return err
		}
	}
	for _, v := range highest(r.ranked.Score, pages, r.Top) {
		name, err := r.g.Name(v)
		if err != nil {
			return err
		}
		n := rankedNode{Node: name, Score: r.ranked.Score[v]}
		if r.ranked.Hub != nil {
			n.Hub = &r.ranked.Hub[v]
		}
		r.result.Top = append(r.result.Top, n)
	}
	return nil
}

// toStore gives the store's pages their ranks, and says which nodes they are.
func (r *rankRun) toStore() (pages []bool, err error) {
	s, done, err := r.app.openToRead(r.Graph)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	pages = make([]bool, r.g.Nodes())
	var ranks []store.NumberedRank
	for p, err := range sources.Pages(r.g, s) {
		if err != nil {
			return nil, err
		}
		pages[p.Node] = true
		rank := store.NumberedRank{Page: p.Number, Rank: store.Rank{Score: r.ranked.Score[p.Node]}}
		if r.ranked.Hub != nil {
			rank.Hub = r.ranked.Hub[p.Node]
		}
		ranks = append(ranks, rank)
	}
	personal := r.Topic
	if r.Personal != "" {
		personal = r.Personal
	}
	ranking := store.Ranking{
		Method: r.Method, Damping: r.Damping, Personal: personal, Nodes: r.g.Nodes(), Edges: r.g.Edges(),
		Iterations: r.result.Iterations, Residual: r.result.Residual, At: time.Now().UnixMilli(),
	}
	if r.Method == "hits" {
		ranking.Damping = 0
	}
	if s.Temporary() {
		r.app.say("a crawl is writing %s: the ranks are printed and not kept with its pages; rank it again when the crawl has ended", r.Graph)
		return pages, nil
	}
	n := uint64(len(ranks))
	r.result.Pages = &n
	return pages, s.Ranks().Put(r.app.ctx, ranking, slices.Values(ranks))
}

// highest returns the n nodes with the largest scores, of equal ones the first; only
// those that are in, unless that is nil.
func highest(score []float64, in []bool, n int) []uint32 {
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

// write writes all scores.
func (r *rankRun) write(w io.Writer) error {
	b := bufio.NewWriter(w)
	for v, x := range r.ranked.Score {
		name, err := r.g.Name(uint32(v))
		if err != nil {
			return err
		}
		line := fmt.Appendf(b.AvailableBuffer(), "%s\t%.17g", name, x)
		if r.ranked.Hub != nil {
			line = fmt.Appendf(line, "\t%.17g", r.ranked.Hub[v])
		}
		if _, err := b.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return b.Flush()
}

func (r *rankResult) print(w io.Writer) {
	printable.Fprintf(w, "%s: %d nodes, %d edges; %s in %d iterations, residual %.2g, %.3f s", r.Graph, r.Nodes, r.Edges, r.Method, r.Iterations, r.Residual, r.Seconds)
	if !r.InMemory {
		io.WriteString(w, ", over the compressed graph")
	}
	io.WriteString(w, "\n")
	switch {
	case r.Before != nil:
		printable.Fprintf(w, "%d blocks; ranks within them and of them, as costly as %d iterations, have the residual %.2g\n", *r.Blocks, *r.Before, *r.Begin)
	case r.Blocks != nil:
		printable.Fprintf(w, "%d blocks\n", *r.Blocks)
	}
	if len(r.Top) > 0 {
		io.WriteString(w, "\n")
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if len(r.Top) > 0 && r.Top[0].Hub != nil {
		io.WriteString(t, "  authority\thub\tnode\n")
	}
	for _, n := range r.Top {
		printable.Fprintf(t, "  %.6f\t", n.Score)
		if n.Hub != nil {
			printable.Fprintf(t, "%.6f\t", *n.Hub)
		}
		printable.Fprintln(t, printable.Cut(n.Node, 100))
	}
	_ = t.Flush() // its only errors are w's
	if r.Pages != nil {
		printable.Fprintf(w, "\n%d pages of the store have their rank; fossick eval %s uses it\n", *r.Pages, r.Graph)
	}
	if r.File != nil {
		printable.Fprintf(w, "\nscores: %s\n", *r.File)
	}
}

// listed names the labels that there are, the most frequent first, ten at most.
func listed(found map[string]int) string {
	if len(found) == 0 {
		return "none; fossick refine gives them"
	}
	labels := slices.Sorted(maps.Keys(found))
	slices.SortStableFunc(labels, func(a, b string) int { return cmp.Compare(found[b], found[a]) })
	more := ""
	if len(labels) > 10 {
		labels, more = labels[:10], ", …"
	}
	return strings.Join(labels, ", ") + more
}
