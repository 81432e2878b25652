package webstats

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"fossick/internal/fileio"
)

// The counters of a tally, over the URLs and pages of a name.
const (
	nKnown      = iota // URLs
	nRequested         // URLs
	nDownloaded        // URLs
	nAnswers
	nMillis // of the answers
	nPages  // stored pages
	nBytes  // of the pages
	nLinks  // of the pages
	tallySize
)

type tally [tallySize]int64

func (t *tally) add(u *tally) {
	for i := range t {
		t[i] += u[i]
	}
}

// Longer names are cut, so that a hostile site cannot exhaust memory.
const (
	longestName = 160     // a site name has at most 128 bytes
	mostNames   = 1 << 15 // in memory
)

// groups sums tallies by name; beyond room names, memory is spilled to disk as a sorted run.
type groups struct {
	dir    string
	room   int // names in memory
	now    map[string]*tally
	disk   *fileio.Sorter[group]
	failed error
}

type group struct {
	name string
	tally
}

func newGroups(dir string) *groups {
	return &groups{dir: dir, room: mostNames, now: map[string]*tally{}}
}

// add adds t to a name; each returns any error.
func (g *groups) add(name string, t *tally) {
	if len(name) > longestName {
		name = strings.ToValidUTF8(name[:longestName], "") + "…"
	}
	if had := g.now[name]; had != nil {
		had.add(t)
		return
	}
	if len(g.now) >= g.room && g.failed == nil {
		g.failed = g.spill()
	}
	own := *t
	g.now[strings.Clone(name)] = &own
}

func (g *groups) count(name string, what int) {
	if had := g.now[name]; had != nil {
		had[what]++
		return
	}
	var t tally
	t[what] = 1
	g.add(name, &t)
}

func (g *groups) spill() error {
	if g.disk == nil {
		g.disk = fileio.NewSorter(fileio.SortOptions[group]{Dir: g.dir, Limit: g.room, Compare: byName, Append: appendGroup, Read: readGroup})
	}
	all := make([]group, 0, len(g.now))
	for name, t := range g.now {
		all = append(all, group{name, *t})
	}
	clear(g.now)
	return g.disk.AddAll(all)
}

func byName(a, b group) int { return cmp.Compare(a.name, b.name) }

func (g *groups) each(ctx context.Context, do func(name string, t tally)) error {
	if g.failed != nil {
		return g.failed
	}
	if g.disk == nil {
		for _, name := range slices.Sorted(maps.Keys(g.now)) {
			do(name, *g.now[name])
		}
		return nil
	}
	if err := g.spill(); err != nil {
		return err
	}
	var last group
	begun := false
	err := g.disk.Each(ctx, func(x group) error {
		switch {
		case begun && x.name == last.name:
			last.add(&x.tally)
			return nil
		case begun:
			do(last.name, last.tally)
		}
		last, begun = x, true
		return nil
	})
	if err == nil && begun {
		do(last.name, last.tally)
	}
	return err
}

func (g *groups) close() error {
	if g.disk == nil {
		return nil
	}
	return g.disk.Close()
}

// top holds the names with the highest counts, ties by name, and the sum of the others.
type top struct {
	groups []group
	others tally
	left   int   // number of other names
	all    int64 // total count of all names
}

// top returns the first n names by counter by; all for n = 0. It holds at most 2n names.
func (g *groups) top(ctx context.Context, n, by int) (t top, err error) {
	prune := func() {
		slices.SortFunc(t.groups, func(a, b group) int {
			return cmp.Or(cmp.Compare(b.tally[by], a.tally[by]), cmp.Compare(b.tally[nKnown], a.tally[nKnown]), cmp.Compare(a.name, b.name))
		})
		for n > 0 && len(t.groups) > n {
			last := len(t.groups) - 1
			t.others.add(&t.groups[last].tally)
			t.groups, t.left = t.groups[:last], t.left+1
		}
	}
	err = g.each(ctx, func(name string, sums tally) {
		t.all += sums[by]
		if t.groups = append(t.groups, group{name, sums}); n > 0 && len(t.groups) > 2*n {
			prune()
		}
	})
	prune()
	return t, err
}

func appendGroup(dst []byte, _, x group) []byte {
	dst = append(binary.AppendUvarint(dst, uint64(len(x.name))), x.name...)
	for _, n := range x.tally {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	return dst
}

var errGroup = errors.New("a temporary file of names is damaged; check the disk of the folder for temporary files")

func readGroup(r *bufio.Reader, _ group) (x group, err error) {
	n, err := binary.ReadUvarint(r)
	if err != nil {
		return x, fmt.Errorf("%w: %w", errGroup, err)
	}
	if n > 2*longestName {
		return x, errGroup
	}
	name := make([]byte, n)
	_, err = io.ReadFull(r, name)
	x.name = string(name)
	for i := range x.tally {
		var v uint64
		if err == nil {
			v, err = binary.ReadUvarint(r)
		}
		x.tally[i] = int64(v)
	}
	if err != nil {
		return x, fmt.Errorf("%w: %w", errGroup, err)
	}
	return x, nil
}
