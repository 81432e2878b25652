package features

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"unsafe"
)

// lookUp is what a row does for each of its words.
func (t *wordNumbers) lookUp(hash uint64) (known, bool) {
	return bucketOf(*t.table.Load(), hash).find(hash)
}

// inUse counts the slots that have a word.
func (t *wordNumbers) inUse() (n int) {
	for i := range *t.table.Load() {
		for j := range bucketSlots {
			s := &(*t.table.Load())[i][j]
			if s.check.Load()|s.numbers.Load() != 0 {
				n++
			}
		}
	}
	return n
}

// TestWordNumbers: what is found is what was added, negative numbers and zeros too, and
// while there is room nearly all is found.
func TestWordNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	table, want := newWordNumbers(), map[uint64]known{}
	for range 100000 {
		hash := rng.Uint64() | 1<<63
		w := known{body: int32(rng.IntN(5) - 2), also: rng.Uint32() * uint32(rng.IntN(2))}
		if _, ok := table.lookUp(hash); ok {
			t.Fatalf("%x is known before it came", hash)
		}
		table.add(hash, w)
		table.add(hash, known{body: 7}) // another was quicker
		want[hash] = w
		if got, ok := table.lookUp(hash); !ok || got != w {
			t.Fatalf("%x: %v, %v, want %v", hash, got, ok, w)
		}
	}
	lost := 0
	for hash, w := range want {
		got, ok := table.lookUp(hash)
		if !ok {
			lost++
		} else if got != w {
			t.Fatalf("%x: %v, want %v", hash, got, w)
		}
	}
	if lost > len(want)/10 {
		t.Errorf("%d of %d words are lost, want at most a tenth", lost, len(want))
	}
	if n := table.inUse(); n != table.n {
		t.Errorf("%d slots are in use, counted %d", n, table.n)
	}
}

// TestWordNumbersBound: the table stays as large as was said, however many words come,
// and those met last are found.
func TestWordNumbersBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	table := newWordNumbers()
	var hash uint64
	for range 3 * maxBuckets * bucketSlots {
		hash = rng.Uint64() | 1<<63
		table.add(hash, known{also: 1})
		if _, ok := table.lookUp(hash); !ok {
			t.Fatal("a word is not found right after it came")
		}
	}
	if n := len(*table.table.Load()); n != maxBuckets {
		t.Errorf("%d buckets, want %d", n, maxBuckets)
	}
	if n := table.inUse(); n != table.n || n < maxBuckets*bucketSlots*99/100 {
		t.Errorf("%d slots are in use, counted %d, want nearly all", n, table.n)
	}
}

// TestWordNumbersAtOnce: while some write in the same buckets, others find either
// what belongs to a word or nothing.
func TestWordNumbersAtOnce(t *testing.T) {
	const words = 5000 // in few buckets: they drive each other out
	table := newWordNumbers()
	hash := func(i int) uint64 { return uint64(i)*0x9E3779B97F4A7C15&^0xFF | 1<<63 }
	numbers := func(i int) known { return known{body: int32(i - words/2), also: uint32(i) * 0x85EBCA6B} }
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(7, uint64(worker)))
			for range 100000 {
				i := rng.IntN(words)
				if got, ok := table.lookUp(hash(i)); !ok {
					table.add(hash(i), numbers(i))
				} else if got != numbers(i) {
					t.Errorf("word %d: %v, want %v", i, got, numbers(i))
					return
				}
			}
		})
	}
	all.Wait()
}

// TestNumberBucketSize: a bucket is a line of the processor's cache.
func TestNumberBucketSize(t *testing.T) {
	if n := unsafe.Sizeof(numberBucket{}); n != 64 {
		t.Errorf("a bucket has %d bytes, want 64", n)
	}
}

func BenchmarkWordNumbers(b *testing.B) {
	table := newWordNumbers()
	seed := newSeed()
	var hashes []uint64
	for i := range 100000 {
		hash := hashWord(seed, fmt.Appendf(nil, "word%d", i))
		table.add(hash, known{body: 1})
		hashes = append(hashes, hash)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		table.lookUp(hashes[i%len(hashes)])
	}
}
