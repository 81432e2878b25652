package features

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// TestWordTable holds the table to a map, on words of all lengths.
func TestWordTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	table, want := newWordTable(newSeed()), map[string]*entry{}
	for range 20000 {
		word := make([]byte, rng.IntN(30))
		for i := range word {
			word[i] = 'a' + byte(rng.IntN(3))
		}
		hash := hashWord(table.seed, word)
		var e *entry
		if _, at := table.find(hash); at != nil {
			e = *at
		}
		if e != want[string(word)] {
			t.Fatalf("%q: %v, want %v", word, e, want[string(word)])
		}
		if e == nil {
			e = &entry{surface: string(word)}
			want[e.surface] = e
			table.add(hash, e)
		}
	}
	if table.n != len(want) || 2*table.n > len(table.young.slots) {
		t.Errorf("%d words in %d slots, want %d words in twice as many slots at least", table.n, len(table.young.slots), len(want))
	}
}

// TestWordTableForgets: words met again and again stay, the others go, and there
// are never more than cacheWords.
func TestWordTableForgets(t *testing.T) {
	table, common := newWordTable(newSeed()), map[string]*entry{}
	meet := func(word string) *entry {
		hash := hashWord(table.seed, []byte(word))
		_, at := table.find(hash)
		if at == nil {
			_, at = table.add(hash, &entry{surface: word})
		}
		return *at
	}
	for i := range 1000 {
		word := fmt.Sprintf("common%d", i)
		common[word] = meet(word)
	}
	first := meet("rare0")
	for i := range 3 * cacheWords {
		meet(fmt.Sprintf("rare%d", i+1))
		if i%1000 == 0 {
			for word, e := range common {
				if meet(word) != e {
					t.Fatalf("%s was forgotten after %d others", word, i)
				}
			}
		}
	}
	if meet("rare0") == first {
		t.Error("a word met once is still known")
	}
	words := map[*entry]bool{}
	for _, half := range []wordHalf{table.young, table.old} {
		for _, e := range half.entries {
			if e != nil {
				words[e] = true
			}
		}
	}
	if len(words) > cacheWords {
		t.Errorf("%d words are kept, want at most %d", len(words), cacheWords)
	}
}

// TestWordSlotSize: four slots fill a cache line, and none lies in two.
func TestWordSlotSize(t *testing.T) {
	if n := unsafe.Sizeof(wordSlot{}); n != 16 {
		t.Errorf("a slot has %d bytes, want 16", n)
	}
}

// TestWordHash: words as pages have them meet few others.
func TestWordHash(t *testing.T) {
	table := newWordTable(newSeed())
	for i := range 30000 {
		word := []byte(fmt.Sprintf("word%d", i))
		table.add(hashWord(table.seed, word), &entry{surface: string(word)})
	}
	steps := 0
	for i, s := range table.young.slots {
		if s.hash != 0 {
			steps += (i - int(s.hash)) & (len(table.young.slots) - 1)
		}
	}
	if mean := float64(steps) / float64(table.n); mean > 2 {
		t.Errorf("words stand %.2f slots behind their place, want at most 2", mean)
	}
}
