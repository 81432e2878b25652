package badgerfiles

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4"
	badgeroptions "github.com/dgraph-io/badger/v4/options"

	"fossick/internal/testkit"
)

// oneTable makes a closed database with one table of n records.
func oneTable(t testing.TB, o func(path string) badger.Options, n int) (path, name string, text []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "db")
	d := openWith(t, o(path))
	txn := d.NewTransaction(true)
	for i := range n {
		testkit.Must(t, txn.Set(fmt.Appendf(nil, "key %06d", i), fmt.Appendf(nil, "%0100d", i)))
	}
	testkit.Must(t, d.Commit(txn), d.Close())
	tables := testkit.Call(filepath.Glob(filepath.Join(path, tableFiles))).Must(t)
	if len(tables) != 1 {
		t.Fatalf("%d tables", len(tables))
	}
	text = testkit.Call(os.ReadFile(tables[0])).Must(t)
	return path, tables[0], text
}

func recordsOf(t testing.TB, blocks []block) map[string]string {
	t.Helper()
	records := map[string]string{}
	for _, b := range blocks {
		testkit.Must(t, b.each(func(key, value []byte) error {
			records[string(key)] = string(value)
			return nil
		}))
	}
	return records
}

// TestReadBlocks: blocks read back as written, whole, compressed and without the index.
func TestReadBlocks(t *testing.T) {
	const n = 1000
	for name, c := range map[string]badgeroptions.CompressionType{"plain": badgeroptions.None, "Snappy": badgeroptions.Snappy} {
		t.Run(name, func(t *testing.T) {
			_, _, text := oneTable(t, func(path string) badger.Options {
				return smallTables(path).WithCompression(c).WithBlockCacheSize(1 << 20)
			}, n)
			records := recordsOf(t, wholeBlocks(text, c))
			if len(records) != n {
				t.Fatalf("%d records, want %d", len(records), n)
			}
			for k, v := range records {
				var i int
				if _, err := fmt.Sscanf(k, "key %d", &i); err != nil || !strings.HasSuffix(v, fmt.Sprintf("%0100d", i)) {
					t.Fatalf("%q: %q", k, v)
				}
			}
			if bad, err := checkTable(text, c); bad != 0 || err != nil {
				t.Errorf("a sound table: %d, %v", bad, err)
			}
			if c != badgeroptions.None {
				return
			}
			clear(text[len(text)-20:])
			if found := recordsOf(t, wholeBlocks(text, c)); !maps.Equal(found, records) {
				t.Errorf("%d records without the index, want %d", len(found), n)
			}
		})
	}
}

// TestFlippedBits: flipped bits cost a table only their blocks, for a reader and after mending.
func TestFlippedBits(t *testing.T) {
	path, name, text := oneTable(t, smallTables, 300)
	places := testkit.Call(readIndex(text)).Must(t)
	rng := rand.New(rand.NewPCG(1, 2))
	for try := range 12 {
		at := rng.IntN(len(text))
		noIndex := try%3 == 0
		if noIndex {
			at = places[len(places)-1].to + rng.IntN(len(text)-places[len(places)-1].to)
		}
		spoilt := bytes.Clone(text)
		spoilt[at] ^= 1 << rng.IntN(8)
		want := 0
		for _, p := range places {
			if b, err := readBlock(text[p.from:p.to], badgeroptions.None); err == nil && (at < p.from || at >= p.to) {
				want += len(b.offsets) / 4
			}
		}
		if noIndex && want != 300 {
			t.Fatalf("byte %d is not of the index", at)
		}
		testkit.Must(t, os.WriteFile(name, spoilt, 0o600))
		if _, err := Open(path, smallTables(path), false); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), filepath.Base(name)) {
			t.Errorf("byte %d: opened with %v, want ErrDamaged", at, err)
		}
		d, damage, err := OpenToRead(path, smallTables(path), false)
		testkit.Must(t, err)
		if got := countRecords(d); got != want || len(damage) != 1 {
			t.Errorf("byte %d: a reader sees %d records, want %d; %v", at, got, want, damage)
		}
		testkit.Must(t, d.Close())
		if now, err := os.ReadFile(name); err != nil || !bytes.Equal(now, spoilt) {
			t.Errorf("byte %d: the reader changed the table (%v)", at, err)
		}
	}
}

func countRecords(d *Database) (n int) {
	txn := d.NewTransaction(false)
	defer txn.Discard()
	it := txn.NewIterator(badger.IteratorOptions{})
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		n++
	}
	return n
}

// TestMendKeeps: a replaced table goes to quarantine once; an unreadable one leaves the manifest.
func TestMendKeeps(t *testing.T) {
	path, name, text := oneTable(t, smallTables, 300)
	kept := filepath.Join(t.TempDir(), "quarantine")
	for round, spoil := range []func(){
		func() { text[len(text)/2] ^= 1 },
		func() { text[len(text)/3] ^= 1 },
		func() { clear(text) },
	} {
		spoil()
		testkit.Must(t, os.WriteFile(name, text, 0o600))
		for again := range 2 {
			damage, err := Mend(path, path, kept, smallTables(path), false)
			if testkit.Must(t, err); len(damage) != 1-again {
				t.Errorf("round %d, %d: %v", round, again, damage)
			}
		}
		if files, err := filepath.Glob(filepath.Join(kept, "*.sst*")); err != nil || len(files) != round+1 {
			t.Errorf("round %d: in quarantine: %v", round, files)
		}
		d := openSmall(t, path)
		if n := countRecords(d); (n == 0) != (round == 2) {
			t.Errorf("round %d: %d records", round, n)
		}
		testkit.Must(t, d.Close())
	}
	if files, err := filepath.Glob(filepath.Join(path, ".*")); err != nil || len(files) > 0 {
		t.Errorf("left behind: %v", files)
	}
}

// FuzzTable: reading never panics, and a table of the readable records holds nothing else.
func FuzzTable(f *testing.F) {
	_, _, text := oneTable(f, smallTables, 20)
	f.Add(text)
	f.Add(make([]byte, 192)) // an empty index has the checksum zero
	f.Add(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(bytes.Clone(text[:100]), 90), 0))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, c := range []badgeroptions.CompressionType{badgeroptions.None, badgeroptions.Snappy} {
			bad, err := checkTable(text, c)
			if bad > 0 && err == nil {
				t.Errorf("%d blocks are bad, and yet no error", bad)
			}
			blocks := wholeBlocks(text, c)
			made := tableOf(blocks, badgeroptions.None, smallTables(""))
			if made == nil {
				continue
			}
			if _, err := checkTable(made, badgeroptions.None); err != nil {
				t.Fatalf("a table that was made: %v", err)
			}
			kept := recordsOf(t, wholeBlocks(made, badgeroptions.None))
			for _, b := range blocks {
				_ = b.each(func(key, value []byte) error { // unreadable entries are not kept
					if v, ok := kept[string(key)]; ok && v == string(value) {
						delete(kept, string(key))
					}
					return nil
				})
			}
			if len(kept) > 0 {
				t.Errorf("made up: %q", slices.Collect(maps.Keys(kept)))
			}
		}
	})
}

// BenchmarkCheckTable checks a table of some 2 MiB, as each opening does for each table.
func BenchmarkCheckTable(b *testing.B) {
	_, name, text := oneTable(b, func(path string) badger.Options { return smallTables(path).WithMemTableSize(64 << 20) }, 15_000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	var buf []byte
	for b.Loop() {
		var err error
		buf, err = readFile(name, buf)
		testkit.Must(b, err)
		testkit.Call(checkTable(buf, badgeroptions.None)).Must(b)
	}
}

// TestDamageFoundLater: new damage ends the use of an open database; a replaced table does not.
func TestDamageFoundLater(t *testing.T) {
	path, name, text := oneTable(t, smallTables, 300)
	d := openSmall(t, path)
	defer func() {
		d.held.release() // Badger is abandoned, as after a disk failure
		d.Release()
	}()
	for range 3 {
		if !d.CheckNext() {
			t.Error("it ends without damage")
		}
	}
	testkit.Must(t, d.Failure(), put(d, []byte("key"), []byte("value")))
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	testkit.Must(t, err)
	_, err = f.WriteAt([]byte{text[len(text)/2] ^ 1}, int64(len(text)/2))
	testkit.Must(t, err, f.Close())
	if d.CheckNext() {
		t.Error("it goes on")
	}
	if err := d.Failure(); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), filepath.Base(name)) || !strings.Contains(err.Error(), "fossick repair") {
		t.Errorf("it goes on: %v, want ErrDamaged, the table and what to do", err)
	}
}

// TestCheckValues: a value log with an unreadable part must not be rewritten.
func TestCheckValues(t *testing.T) {
	path, _ := database(t)
	testkit.Must(t, CheckValues(path, false))
	names := testkit.Call(logsOf(path, valueFiles)).Must(t)
	text := testkit.Call(os.ReadFile(names[0])).Must(t)
	if len(text) < 100 {
		t.Fatalf("%s has %d bytes", names[0], len(text))
	}
	text[60] ^= 1
	testkit.Must(t, os.WriteFile(names[0], text, 0o600))
	if err := CheckValues(path, false); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), filepath.Base(names[0])) {
		t.Errorf("got %v, want ErrDamaged and the log", err)
	}
}
