package webstats

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestGroups compares sums with a map's while memory holds few names.
func TestGroups(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, room := range []int{2, 7, 1000} {
		g := newGroups(t.TempDir())
		g.room = room
		want := map[string]tally{}
		for range 3000 {
			name := fmt.Sprint("site", int(100*rng.Float64()*rng.Float64()))
			var add tally
			add[nRequested], add[nBytes] = 1, int64(rng.IntN(1000))
			g.add(name, &add)
			sums := want[name]
			sums.add(&add)
			want[name] = sums
		}
		n, last := 0, ""
		err := g.each(t.Context(), func(name string, got tally) {
			if n++; got != want[name] || name <= last {
				t.Errorf("room %d: %s behind %s has %v, want %v", room, name, last, got, want[name])
			}
			last = name
		})
		if err != nil || n != len(want) {
			t.Errorf("room %d: %d names, %v; want %d", room, n, err, len(want))
		}
		if err := g.close(); err != nil {
			t.Error(err)
		}
	}
}

// TestTop: the highest counts come first; the others are summed.
func TestTop(t *testing.T) {
	g := newGroups(t.TempDir())
	g.room = 5
	for i := range 20 {
		for range (i * 7) % 20 {
			g.count(fmt.Sprintf("%02d", i), nPages)
		}
	}
	got, err := g.top(t.Context(), 3, nPages)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, x := range got.groups {
		names = append(names, fmt.Sprint(x.name, " ", x.tally[nPages]))
	}
	if want := []string{"17 19", "14 18", "11 17"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	if got.left != 16 || got.all != 190 || got.others[nPages] != 190-19-18-17 {
		t.Errorf("%d left with %d of %d", got.left, got.others[nPages], got.all)
	}
	all, err := g.top(t.Context(), 0, nPages)
	if err != nil || len(all.groups) != 19 || !slices.IsSortedFunc(all.groups, func(a, b group) int { return cmp.Compare(b.tally[nPages], a.tally[nPages]) }) {
		t.Errorf("all: %d, %v", len(all.groups), err)
	}
	if err := g.close(); err != nil {
		t.Error(err)
	}
}

// TestLongNames: long names cannot exhaust memory.
func TestLongNames(t *testing.T) {
	g := newGroups("")
	g.count(strings.Repeat("ä", 5000), nPages)
	for name := range g.now {
		if len(name) > longestName+3 {
			t.Errorf("%d bytes", len(name))
		}
	}
}

// FuzzReadGroup: records round-trip; anything else is an error.
func FuzzReadGroup(f *testing.F) {
	f.Add(appendGroup(nil, group{}, group{"a.test", tally{1, 2, 3}}))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := readGroup(bufio.NewReader(bytes.NewReader(b)), group{})
		if err != nil {
			return
		}
		again, err := readGroup(bufio.NewReader(bytes.NewReader(appendGroup(nil, group{}, x))), group{})
		if err != nil || again != x {
			t.Errorf("%+v became %+v, %v", x, again, err)
		}
	})
}
