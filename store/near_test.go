package store

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"fossick/internal/testkit"
)

// signatureOf returns a signature with bands of the given bytes; the last one fills the rest.
func signatureOf(bands ...byte) []byte {
	var s []byte
	for i := range 16 {
		s = append(s, bytes.Repeat([]byte{bands[min(i, len(bands)-1)] + 1}, nearRows)...)
	}
	return s
}

func pagesOf(pages ...uint64) (v []byte) {
	for _, n := range pages {
		v = append(v, numKey(keyPage, n)[1:]...)
	}
	return v
}

func nearPage(n uint64, signature []byte) *Page {
	return &Page{
		Number: n, ID: ID(n), URL: fmt.Sprintf("http://h.test/%d", n), Signature: signature,
		Checksum: bytes.Repeat([]byte{byte(n), byte(n >> 8)}, 8),
	}
}

// TestCandidates compares the index with a scan of all pages, with many shared bands.
func TestCandidates(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	s := create(t)
	var stored [][]byte
	for n := uint64(1); n <= 300; n++ {
		bands := make([]byte, nearBands)
		for i := range bands {
			bands[i] = byte(rng.IntN(60))
		}
		signature := signatureOf(bands...)
		if got, want := numbers(all2(t, s, signature)), naiveCandidates(stored, signature); !slices.Equal(got, want) {
			t.Fatalf("page %d: candidates %v, want %v", n, got, want)
		}
		alter(t, s, func(b *Batch) { testkit.Must(t, b.PutPage(nearPage(n, signature), s.Compress(nil))) })
		stored = append(stored, signature)
	}
}

// naiveCandidates ranks pages by shared bands, of each band only the newest nearBucket.
func naiveCandidates(stored [][]byte, signature []byte) (pages []uint64) {
	shared := map[uint64]int{}
	for band := range nearBands {
		part := func(s []byte) []byte { return s[band*nearRows : (band+1)*nearRows] }
		left := nearBucket
		for i := len(stored) - 1; i >= 0 && left > 0; i-- {
			if bytes.Equal(part(stored[i]), part(signature)) {
				shared[uint64(i+1)]++
				left--
			}
		}
	}
	for most := nearBands; most > 0; most-- {
		for n := uint64(len(stored)); n > 0; n-- {
			if shared[n] == most {
				pages = append(pages, n)
			}
		}
	}
	return pages[:min(len(pages), nearMostRead)]
}

func all2(t *testing.T, s *Store, signature []byte) []Candidate {
	t.Helper()
	c := testkit.Call(s.Candidates(signature)).Must(t)
	return c
}

func numbers(candidates []Candidate) (pages []uint64) {
	for _, c := range candidates {
		pages = append(pages, c.Number)
	}
	return pages
}

func TestCandidatesOfDamage(t *testing.T) {
	s := create(t)
	signature := signatureOf(7)
	alter(t, s, func(b *Batch) {
		for n := uint64(1); n <= 3; n++ {
			testkit.Must(t, b.PutPage(nearPage(n, signature), s.Compress(nil)))
		}
	})
	testkit.Must(t, s.db.Update(func(txn *badger.Txn) error {
		testkit.Must(t, txn.Delete(numKey(keyPage, 1)), txn.Set(numKey(keyPage, 2), []byte{0xff}))
		return txn.Set(nearKeys(signature)[3], []byte{1, 2})
	}))
	if got := numbers(all2(t, s, signature)); !slices.Equal(got, []uint64{3}) {
		t.Errorf("candidates %v, want [3]", got)
	}
	for _, none := range [][]byte{nil, {}, signature[:nearBands*nearRows-1], signatureOf(9)} {
		if got := all2(t, s, none); len(got) > 0 {
			t.Errorf("a signature of %d bytes has candidates %v", len(none), got)
		}
	}
}

// TestStoreWithoutIndex: pages of earlier builds, without signatures, remain valid.
func TestStoreWithoutIndex(t *testing.T) {
	s := create(t)
	testkit.Must(t, s.db.Update(func(txn *badger.Txn) error {
		return txn.Set(numKey(keyPage, 1), []byte("\xa1\x02\x69http://h/")) // {2: "http://h/"}
	}))
	p, err := s.Page(1)
	if err != nil || p.URL != "http://h/" || p.Signature != nil {
		t.Errorf("page %+v, %v", p, err)
	}
	problems, err := s.Verify(t.Context())
	testkit.Must(t, err)
	for _, p := range problems {
		if p.Key[1] == keyNear {
			t.Errorf("verify wants an index: %+v", p)
		}
	}
}

// FuzzNearRecord: a decodable index record encodes to the same bytes.
func FuzzNearRecord(f *testing.F) {
	f.Add(nearKeys(signatureOf(1))[0], pagesOf(1, 2, 3))
	f.Add([]byte{keyNear}, []byte{})
	f.Fuzz(func(t *testing.T, k, v []byte) {
		pages, err := decodeNear(k, v)
		if err == nil && (!bytes.Equal(pagesOf(pages...), v) || !slices.IsSorted(pages) || len(pages) > nearBucket) {
			t.Errorf("%x is read as %v", v, pages)
		}
	})
}

// TestNearIndexIsTheStores: the index in memory returns the same pages as a store's, in order.
func TestNearIndexIsTheStores(t *testing.T) {
	s := testkit.Call(Create(t.TempDir()+"/store", Info{})).Must(t)
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	rng := rand.New(rand.NewPCG(1, 1))
	var index NearIndex
	signature := func() []byte {
		b := make([]byte, nearBands*nearRows)
		for band := range nearBands {
			b[band*nearRows] = byte(rng.IntN(4))
		}
		return b
	}
	for n := uint64(1); n <= 200; n++ {
		b := s.Batch()
		sig := signature()
		testkit.Must(t, b.addNear(n, sig))
		testkit.Must(t, b.Commit())
		index.Add(n, sig)
		asked := signature()
		txn := s.db.NewTransaction(false)
		want, err := sharing(txn, s.pageFilter, asked)
		txn.Discard()
		if err != nil {
			t.Fatal(err)
		}
		if got := index.Sharing(asked); !slices.Equal(got, want) {
			t.Fatalf("after %d pages the index in memory names %v, the store's %v", n, got, want)
		}
	}
}

// TestNearIndexOfChangingPages checks the index after each of many replacements of similar pages.
func TestNearIndexOfChangingPages(t *testing.T) {
	s := create(t)
	rng := rand.New(rand.NewPCG(1, 19))
	var pages []*Page
	made := 0
	page := func(n uint64) *Page {
		made++
		return &Page{Number: n, ID: ID(n), Checksum: fmt.Appendf(nil, "%016d", made), Signature: signatureOf(byte(rng.IntN(3)), byte(rng.IntN(3)), byte(rng.IntN(30)))}
	}
	for step := range 150 {
		alter(t, s, func(b *Batch) {
			if len(pages) < 9 || rng.IntN(4) == 0 {
				p := page(uint64(len(pages) + 1))
				pages = append(pages, p)
				testkit.Must(t, b.PutPage(p, s.Compress(nil)))
				return
			}
			at := rng.IntN(len(pages))
			p := page(uint64(at + 1))
			testkit.Must(t, b.ReplacePage(pages[at], p, s.Compress(nil)))
			pages[at] = p
		})
		in := newInspection(s, false)
		testkit.Must(t, derived{in.findings}.near(t.Context()))
		if len(in.problems) > 0 {
			t.Fatalf("step %d: %+v", step, in.problems)
		}
	}
	for _, p := range pages {
		found := testkit.Call(s.Candidates(p.Signature)).Must(t)
		for _, c := range found {
			if c.Number == 0 {
				t.Fatalf("candidates %+v", found)
			}
		}
	}
}
