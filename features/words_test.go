package features

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestWordTable holds the table to a map, on words of all lengths.
func TestWordTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	table, want := newWordTable(), map[string]*entry{}
	for range 20000 {
		word := make([]byte, rng.IntN(30))
		for i := range word {
			word[i] = 'a' + byte(rng.IntN(3))
		}
		e, h := table.find(word)
		if e != want[string(word)] {
			t.Fatalf("%q: %v, want %v", word, e, want[string(word)])
		}
		if e == nil {
			e = &entry{surface: string(word)}
			want[e.surface] = e
			table.add(e, h)
		}
	}
	if table.n != len(want) || 2*table.n > len(table.slots) {
		t.Errorf("%d words in %d slots, want %d words in twice as many slots at least", table.n, len(table.slots), len(want))
	}
	table.clear()
	if e, _ := table.find([]byte("aaa")); e != nil || table.n != 0 {
		t.Errorf("%v of %d after clear", e, table.n)
	}
}

// TestWordHash: words as pages have them meet few others.
func TestWordHash(t *testing.T) {
	table := newWordTable()
	for i := range 30000 {
		word := []byte(fmt.Sprintf("word%d", i))
		_, h := table.find(word)
		table.add(&entry{surface: string(word)}, h)
	}
	steps := 0
	for i, s := range table.slots {
		if s.entry != nil {
			steps += (i - int(s.hash)) & (len(table.slots) - 1)
		}
	}
	if mean := float64(steps) / float64(table.n); mean > 2 {
		t.Errorf("words stand %.2f slots behind their place, want at most 2", mean)
	}
}
