package badgerfiles

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
	badgeroptions "github.com/dgraph-io/badger/v4/options"
	"golang.org/x/sys/unix"

	"fossick/internal/testkit"
)

// TestTrim: while 170 MiB are written, resident mapped files stay below the limit.
func TestTrim(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "real")
	testkit.Must(t, os.Mkdir(dir, 0o755))
	link := filepath.Join(filepath.Dir(dir), "link")
	testkit.Must(t, os.Symlink(dir, link)) // the kernel knows the files by their real names
	s := openWith(t, badger.DefaultOptions(filepath.Join(link, "db")).WithMemTableSize(26<<20).WithNumMemtables(1).
		WithBlockCacheSize(0).WithCompression(badgeroptions.None).WithValueThreshold(256).WithValueLogFileSize(128<<20))
	defer func() { testkit.Must(t, s.Close()) }()
	const pages, bytes = 600, 300_000
	body := func(n uint64) []byte {
		r := rand.NewChaCha8([32]byte{byte(n), byte(n >> 8)})
		b := make([]byte, bytes)
		_, _ = r.Read(b)
		return b
	}
	for n := uint64(1); n <= pages; n++ {
		txn, content := s.NewTransaction(true), body(n)
		testkit.Must(t, txn.Set(fmt.Appendf(nil, "body %d", n), content))
		for k := range 500 { // adds keys, so that there are tables
			testkit.Must(t, txn.Set(fmt.Appendf(nil, "key %d %d", n, k), fmt.Appendf(nil, "http://h.example/%d/%x", n, content[k:k+64])))
		}
		testkit.Must(t, s.Commit(txn))
		s.Renew()
		testkit.Must(t, s.Trim(true))
		// A table may be written meanwhile: 32 MiB and some.
		if resident, err := mappedBytes(); err != nil || resident > trimAbove+48<<20 {
			t.Fatalf("page %d: %d MiB of mapped files are resident, %v; want hardly more than %d", n, resident>>20, err, trimAbove>>20)
		}
	}
	if len(s.Tables()) == 0 {
		t.Error("no tables were written: this test means nothing")
	}
	for n := uint64(1); n <= pages; n += 7 {
		got, key := value(t, s, fmt.Sprintf("body %d", n)), value(t, s, fmt.Sprintf("key %d 0", n))
		if string(got) != string(body(n)) || string(key) != fmt.Sprintf("http://h.example/%d/%x", n, body(n)[:64]) {
			t.Fatalf("page %d is not what was written", n)
		}
	}
	kept := testkit.Call(mappedBytes()).Must(t)
	testkit.Must(t, s.release(unix.MADV_DONTNEED, func(string) bool { return true }))
	if now, err := mappedBytes(); err != nil || now > kept-20<<20 {
		t.Errorf("%d MiB resident, %d before all was released, %v: nothing was given back", now>>20, kept>>20, err)
	}
}

// TestTrimOfTablesInTheMaking: an unlisted table of a compaction is released, too.
func TestTrimOfTablesInTheMaking(t *testing.T) {
	s := openSmall(t, t.TempDir())
	defer func() { testkit.Must(t, s.Close()) }()
	table := tableInTheMaking(t, s)
	testkit.Must(t, s.Trim(false))
	if now, err := mappedBytes(); err != nil || now > trimAbove {
		t.Errorf("%d MiB are resident (%v), want less than %d", now>>20, err, trimAbove>>20)
	}
	for i := 0; i < len(table); i += 4096 {
		if table[i] != byte(i>>12) {
			t.Fatalf("byte %d was lost", i)
		}
	}
}

// TestTrimReadsNoTable: releasing memory must not make a table resident, as Badger's list would.
func TestTrimReadsNoTable(t *testing.T) {
	path := t.TempDir()
	makeTables(t, path, 80)
	s := openSmall(t, path)
	defer func() { testkit.Must(t, s.Close()) }()
	n := len(s.Tables())
	for tries := 0; ; tries++ { // a compaction may have removed a table just mapped
		err := s.release(unix.MADV_DONTNEED, func(name string) bool { return strings.HasSuffix(name, ".sst") })
		if err == nil {
			break
		}
		if !errors.Is(err, unix.ENOMEM) || tries == 10 {
			t.Fatal(err)
		}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := faults(t)
	testkit.Must(t, s.giveBack(true))
	if faults := faults(t) - before; n < 50 || faults > int64(n)/2 {
		t.Errorf("%d pages were touched with %d tables", faults, n)
	}
}

func faults(t *testing.T) int64 {
	var u unix.Rusage
	testkit.Must(t, unix.Getrusage(unix.RUSAGE_THREAD, &u))
	return u.Minflt + u.Majflt
}

// TestTrimWaitsForNoCommit: memory is released while a commit waits because level 0 is full.
func TestTrimWaitsForNoCommit(t *testing.T) {
	testkit.Only(t, "seconds of processor time")
	s := openWith(t, smallTables(t.TempDir()).WithNumCompactors(0).WithNumLevelZeroTables(1).WithNumLevelZeroTablesStall(2))
	var commits sync.WaitGroup
	defer commits.Wait()
	defer s.Close() // abandons Badger, which would not end
	defer s.log.fail(syscall.EIO.Error())
	committed := make(chan struct{}, 300)
	commits.Go(func() {
		rng := rand.New(rand.NewPCG(1, 2))
		for range 300 {
			if putKeys(s, rng, 500) != nil {
				break
			}
			committed <- struct{}{}
		}
		close(committed)
	})
	for waits := false; !waits; {
		select {
		case _, ok := <-committed:
			if !ok {
				t.Fatal("no commit waits: this test means nothing")
			}
		case <-time.After(2 * time.Second):
			waits = true
		}
	}
	tableInTheMaking(t, s)
	limit, tick := time.After(10*time.Second), time.NewTicker(10*time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			testkit.Must(t, s.Trim(false))
			if now, err := mappedBytes(); err == nil && now < trimAbove {
				return
			}
		case <-limit:
			now, err := mappedBytes()
			t.Fatalf("%d MiB are resident (%v) while a commit waits, want less than %d", now>>20, err, trimAbove>>20)
		}
	}
}

// tableInTheMaking maps and fills a large file like an unlisted table of a compaction.
func tableInTheMaking(t *testing.T, s *Database) []byte {
	t.Helper()
	f := testkit.Call(os.Create(filepath.Join(s.Path(), "999999.sst"))).Must(t)
	const size = trimAbove + 64<<20
	testkit.Must(t, f.Truncate(size))
	table := testkit.Call(unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)).Must(t)
	t.Cleanup(func() { testkit.Must(t, errors.Join(unix.Munmap(table), f.Close())) })
	for i := range table {
		table[i] = byte(i >> 12)
	}
	return table
}

func TestMapping(t *testing.T) {
	for _, test := range []struct{ line, name string }{
		{"7f0000000000-7f0000200000 rw-s 00000000 08:01 1234   /data/my crawl/db/000001.vlog", "000001.vlog"},
		{"7f0000000000-7f0000200000 rw-p 00000000 08:01 1234   /data/my crawl/db/000001.vlog", ""},
		{"7f0000000000-7f0000200000 rw-s 00000000 08:01 1234   /data/my crawl/db/deep/000001.vlog", ""},
		{"7f0000000000-7f0000200000 rw-s 00000000 08:01 1234   /data/other/000001.vlog", ""},
		{"c000000000-c000400000 rw-p 00000000 00:00 0", ""},
		{"", ""},
	} {
		name, at := mapping(test.line, "/data/my crawl/db")
		if name != test.name || name != "" && (at != span{0x7f0000000000, 0x7f0000200000}) {
			t.Errorf("%q: got %q at %x, want %q", test.line, name, at, test.name)
		}
	}
}
