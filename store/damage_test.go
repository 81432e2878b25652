package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/fxamacker/cbor/v2"
	"golang.org/x/sys/unix"

	"fossick/internal/testkit"
)

func TestOpenErrors(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	if _, err := Open(dir); !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "fossick focus") {
		t.Errorf("no store: got %v, want ErrNone and what to do", err)
	}
	s := testkit.Call(Create(dir, Info{Topic: "banking"})).Must(t)
	if _, err := Create(dir, Info{}); !errors.Is(err, ErrExists) {
		t.Errorf("created twice: got %v, want ErrExists", err)
	}
	if _, err := Open(dir); !errors.Is(err, ErrBusy) {
		t.Errorf("opened twice: got %v, want ErrBusy", err)
	}
	testkit.Must(t, s.SetSettings([]byte("settings")), s.Close())

	s = testkit.Call(Open(dir)).Must(t)
	if got := s.Info(); got.Topic != "banking" || string(got.Settings) != "settings" || got.Format != format || got.Created == 0 {
		t.Errorf("info after reopening: %+v", got)
	}
	s.info.Format = format + 1
	testkit.Must(t, s.putInfo(), s.Close())
	if _, err := Open(dir); !errors.Is(err, ErrNewer) {
		t.Errorf("newer format: got %v, want ErrNewer", err)
	}
}

func TestCutOffAtDiscovery(t *testing.T) {
	s := testkit.Call(Create(filepath.Join(t.TempDir(), "s"), Info{})).Must(t)
	testkit.Must(t, s.db.Update(func(txn *badger.Txn) error { return txn.Delete(key(keyInfo)) }), s.Close(), os.Remove(filepath.Join(s.Dir(), infoFile)))
	if _, err := Open(s.Dir()); !errors.Is(err, ErrNone) {
		t.Errorf("a store without its info: got %v, want ErrNone", err)
	}
}

// TestDamagedRecords: a damaged record gives an error with its key; others can still be read.
func TestDamagedRecords(t *testing.T) {
	readers := map[byte]func(s *Store) error{
		keyCount:     func(s *Store) error { _, err := s.Counts(); return err },
		keySeen:      func(s *Store) error { _, err := lookedUp(s, HashURL(u2)); return err },
		keyDiscovery: func(s *Store) error { _, err := s.URLs().Discovery(2); return err },
		keyQueued:    func(s *Store) error { return drain(s.URLs().Waiters()) },
		keyVisit:     func(s *Store) error { _, err := s.URLs().Life(u2); return err },
		keyOutcome:   func(s *Store) error { _, err := s.URLs().Life(u2); return err },
		keyPage:      func(s *Store) error { return drain(s.Pages()) },
		keyBody:      func(s *Store) error { _, err := s.Body(1); return err },
		keyContent: func(s *Store) error {
			b := s.Batch()
			defer b.Cancel()
			_, err := b.PageWith(somePage().Checksum)
			return err
		},
		keyLabel: func(s *Store) error { return drain(s.Labels()) },
		keyHost:  func(s *Store) error { return drain(s.Hosts()) },
		keyMark:  func(s *Store) error { return drain(s.Marks(false)) },

		keyExchange: func(s *Store) error { return drain(s.Exchanges("")) },
	}
	keys := map[byte][]byte{
		keyCount: key(keyCount), keySeen: bytesKey(keySeen, hashOf(u2)), keyDiscovery: numKey(keyDiscovery, 2), keyQueued: numKey(keyQueued, 2),
		keyVisit: visitKey(2, 1), keyOutcome: numKey(keyOutcome, 2), keyPage: numKey(keyPage, 1), keyBody: numKey(keyBody, 1),
		keyContent: bytesKey(keyContent, somePage().Checksum), keyLabel: numKey(keyLabel, 1), keyHost: bytesKey(keyHost, []byte("h:80")),
		keyExchange: exchangeKey("h:80", 1), keyMark: numKey(keyMark, 2),
	}
	for kind, read := range readers {
		t.Run(string(kind), func(t *testing.T) {
			s := create(t)
			alter(t, s, func(b *Batch) {
				testkit.Must(t, b.PutSeen(HashURL(u2), 2, false), b.PutDiscovery(2, Discovery{URL: u2}), b.PutVisit(2, 1, Visit{}), b.PutOutcome(2, Outcome{Page: 1}),
					b.PutQueued(2, Queued{}), b.PutPage(somePage(), s.Compress([]byte("x"))), b.PutLabel(1, Label{}),
					b.PutHost(&Host{Name: "h:80"}), b.put(keys[keyMark], Mark{}), b.PutExchange("h:80", 1, Exchange{}), b.PutCounts(&Counts{}))
			})
			testkit.Must(t, read(s))
			testkit.Must(t, s.db.Update(func(txn *badger.Txn) error { return txn.Set(keys[kind], []byte{0xff, 1, 2}) }))
			err := read(s)
			if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), fmt.Sprintf("%q", keys[kind])) {
				t.Errorf("got %v, want ErrDamaged and the key %q", err, keys[kind])
			}
		})
	}
}

func TestDamagedKeys(t *testing.T) {
	s := create(t)
	testkit.Must(t, s.db.Update(func(txn *badger.Txn) error {
		return errors.Join(txn.Set([]byte{keyPage, 1}, nil), txn.Set([]byte{keyLabel}, nil), txn.Set([]byte{keyQueued, 1, 2}, nil))
	}))
	for name, err := range map[string]error{"pages": drain(s.Pages()), "labels": drain(s.Labels()), "waiters": drain(s.URLs().Waiters())} {
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: got %v, want ErrDamaged", name, err)
		}
	}
}

// TestValueLogCut: a truncated value log, as after a power cut, leaves earlier pages readable.
func TestValueLogCut(t *testing.T) {
	s := testkit.Call(Create(filepath.Join(t.TempDir(), "s"), Info{})).Must(t)
	for n := uint64(1); n <= 2; n++ {
		alter(t, s, func(b *Batch) {
			p := somePage()
			p.Number = n
			testkit.Must(t, b.PutPage(p, s.Compress(bodyOf(n))))
		})
	}
	testkit.Must(t, s.Close())
	logs := testkit.Call(filepath.Glob(filepath.Join(s.Dir(), database, "*.vlog"))).Must(t)
	last := logs[len(logs)-1]
	info := testkit.Call(os.Stat(last)).Must(t)
	testkit.Must(t, os.Truncate(last, info.Size()-1000))
	if _, err := Open(s.Dir()); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), filepath.Base(last)) {
		t.Errorf("opened with %v, want ErrDamaged and the log", err)
	}
	s = testkit.Call(OpenToRead(s.Dir())).Must(t)
	defer s.Close()
	if body, err := s.Body(1); err != nil || string(body) != string(bodyOf(1)) {
		t.Errorf("the page before the cut: %v", err)
	}
	if _, err := s.Body(2); !errors.Is(err, ErrDamaged) {
		t.Errorf("the page in the cut: got %v, want ErrDamaged", err)
	}
}

func hashOf(url string) []byte {
	h := HashURL(url)
	return h[:]
}

func drain[T any](seq func(func(T, error) bool)) (err error) {
	for _, e := range seq {
		err = errors.Join(err, e)
	}
	return err
}

// TestDiskFull: commits fail without a change to the store, and succeed once there is room.
func TestDiskFull(t *testing.T) {
	s := create(t)
	alter(t, s, func(b *Batch) { testkit.Must(t, b.PutDiscovery(1, Discovery{URL: u1})) })
	free := func(r room, err error) {
		f := func(string) (room, error) { return r, err }
		s.disk.free.Store(&f)
		s.disk.look()
	}
	free(room{minFreeBytes - 1, 1 << 20}, nil)
	b := s.Batch()
	testkit.Must(t, b.PutDiscovery(2, Discovery{URL: u2}))
	if err := b.Commit(); !errors.Is(err, ErrDiskFull) || !strings.Contains(err.Error(), "make room") {
		t.Fatalf("got %v, want ErrDiskFull and what to do", err)
	}
	if _, err := s.URLs().Discovery(2); !errors.Is(err, ErrUnknown) {
		t.Errorf("the refused batch left something: %v", err)
	}
	testkit.Call(s.URLs().Discovery(1)).Must(t)

	free(room{}, errors.New("unknown"))
	if s.disk.full.Load() == nil {
		t.Error("an unknown state of the disk changed what was known")
	}
	free(room{1 << 40, minFreeFiles - 1}, nil)
	b = s.Batch()
	if err := b.Commit(); !errors.Is(err, ErrDiskFull) || !strings.Contains(err.Error(), "df -i") {
		t.Fatalf("no room for files: %v, want ErrDiskFull and what to do", err)
	}
	free(room{1 << 40, minFreeFiles}, nil)
	alter(t, s, func(b *Batch) { testkit.Must(t, b.PutDiscovery(2, Discovery{URL: u2})) })
}

// TestEmptyLogs: a kill just after Badger made a log, or an unlisted table, leaves an empty file.
func TestEmptyLogs(t *testing.T) {
	for _, names := range [][]string{{"000077.vlog"}, {"00077.mem"}, {"000077.vlog", "00077.mem", "00078.mem"}, {"000077.sst"}} {
		t.Run(strings.Join(names, " "), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "s")
			s := testkit.Call(Create(dir, Info{})).Must(t)
			for n := uint64(1); n <= 5; n++ {
				alter(t, s, func(b *Batch) { testkit.Must(t, putExchange(s, b, n), b.PutCounts(&Counts{URLs: n, Pages: n})) })
			}
			testkit.Must(t, s.Close())
			for _, name := range names {
				testkit.Must(t, os.WriteFile(filepath.Join(dir, database, name), nil, 0o600))
			}
			s = testkit.Call(Open(dir)).Must(t)
			for n := uint64(1); n <= 5; n++ {
				checkExchange(t, s, n)
			}
			testkit.Must(t, s.Close())
		})
	}
}

// FuzzDecode: arbitrary bytes give an error, or a record that survives encoding and decoding.
func FuzzDecode(f *testing.F) {
	records := []func() any{
		func() any { return &Counts{} }, func() any { return &Discovery{} }, func() any { return &Queued{} }, func() any { return &Visit{} },
		func() any { return &Outcome{} }, func() any { return &Page{} }, func() any { return &Label{} }, func() any { return &Host{} },
		func() any { return &Info{} },
	}
	for _, r := range []any{
		Counts{States: map[string]uint64{"ok": 1}}, Discovery{URL: u1}, Queued{Priority: 0.5}, Visit{State: "ok"}, Outcome{Reason: "x"}, somePage(), Label{Rule: "x"}, Host{Pages: 1},
		Info{Topic: "x", Settings: []byte("{}")},
	} {
		b, err := encode(r)
		testkit.Must(f, err)
		f.Add(b)
	}
	f.Add([]byte{0xbf, 0xff})
	f.Add([]byte{0xa1, 0x03, 0xfb, 0x3f, 0xe0, 0, 0, 0, 0, 0, 0}) // half a second, though Info.Created has whole seconds
	f.Add([]byte{0x9b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	ordered, err := cbor.CanonicalEncOptions().EncMode()
	testkit.Must(f, err)
	f.Add([]byte("\xa1\x15\xa1\x15-"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, fresh := range records {
			first, again := fresh(), fresh()
			if err := decode([]byte("k"), data, first); err != nil {
				if !errors.Is(err, ErrDamaged) {
					t.Fatalf("%v is not ErrDamaged", err)
				}
				continue
			}
			b := testkit.Call(encode(first)).Must(t)
			testkit.Must(t, decode([]byte("k"), b, again))
			// Compared as CBOR, so that nil equals empty and NaN equals itself.
			x := testkit.Call(ordered.Marshal(first)).Must(t)
			y := testkit.Call(ordered.Marshal(again)).Must(t)
			if !bytes.Equal(x, y) {
				t.Fatalf("read %x, wrote and read %x", x, y)
			}
		}
	})
}

// TestFolderGone: a store whose folder was removed or moved reports it and can be closed.
func TestFolderGone(t *testing.T) {
	for name, away := range map[string]func(dir string) error{
		"removed": os.RemoveAll,
		"moved":   func(dir string) error { return os.Rename(dir, dir+".moved") },
		"replaced": func(dir string) error {
			return errors.Join(os.Rename(dir, dir+".moved"), os.MkdirAll(filepath.Join(dir, database), 0o755))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "s")
			s := testkit.Call(Create(dir, Info{})).Must(t)
			put := func(id ID) error {
				b := s.Batch()
				return errors.Join(b.PutDiscovery(id, Discovery{URL: u1}), b.Commit())
			}
			testkit.Must(t, put(1))
			s.disk.look()
			testkit.Must(t, put(2))
			testkit.Must(t, away(dir))
			s.disk.look()
			if err := put(3); !errors.Is(err, ErrGone) {
				t.Errorf("commit: %v, want ErrGone", err)
			}
			closed := make(chan error, 1)
			go func() { closed <- s.Close() }()
			select {
			case err := <-closed:
				if !errors.Is(err, ErrGone) {
					t.Errorf("close: %v, want ErrGone", err)
				}
			case <-time.After(20 * time.Second):
				t.Fatal("close does not end")
			}
			if name == "removed" {
				return
			}
			// This process holds the lock of the original folder until it ends.
			copyTo(t, dir+".copy", dir+".moved")
			s = testkit.Call(Open(dir + ".copy")).Must(t)
			for id := range ID(2) {
				if b, err := s.URLs().Discovery(id + 1); err != nil || b.URL != u1 {
					t.Errorf("discovery %d: %+v, %v", id+1, b, err)
				}
			}
			testkit.Must(t, s.Close())
		})
	}
}

// TestFolderBack: no commit is lost silently if the folder was away for a while.
func TestFolderBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	s := testkit.Call(Create(dir, Info{})).Must(t)
	testkit.Must(t, os.Rename(dir, dir+".moved"))
	s.disk.look()
	testkit.Must(t, os.Rename(dir+".moved", dir))
	alter(t, s, func(b *Batch) { testkit.Must(t, b.PutDiscovery(1, Discovery{URL: u1})) })
	if b, err := s.URLs().Discovery(1); err != nil || b.URL != u1 {
		t.Errorf("discovery: %+v, %v", b, err)
	}
	testkit.Must(t, s.Close())
}

// childStarves makes the child of childDir use the store while it may open no further file: "close"
// it after a commit, or "commit" on and on.
const childStarves = "FOSSICK_TEST_STORE_STARVES"

// setLimit sets a limit, which is signed only on FreeBSD.
func setLimit[T int64 | uint64](limit *T, to uintptr) { *limit = T(to) }

func starve(dir string, acknowledge io.Writer) error {
	s, err := Open(dir)
	if err != nil {
		return err
	}
	next, err := os.Open(os.DevNull) // has the lowest free number
	if err != nil {
		return err
	}
	var limit unix.Rlimit
	setLimit(&limit.Cur, next.Fd())
	setLimit(&limit.Max, next.Fd())
	if err := errors.Join(next.Close(), unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)); err != nil {
		return err
	}
	for id := ID(1); err == nil && id <= 200_000; id += 1000 {
		b := s.Batch()
		for n := range ID(1000) {
			err = errors.Join(err, b.PutDiscovery(id+n, Discovery{URL: fmt.Sprint(u1, id+n, strings.Repeat("x", 150))}))
		}
		if err = errors.Join(err, b.Commit()); err == nil {
			fmt.Fprintln(acknowledge, id+999)
		}
		if os.Getenv(childStarves) == "close" {
			break
		}
	}
	return errors.Join(err, s.Close())
}

// TestNoMoreFiles: a process that may open no more files cannot flush a memtable. Badger retries
// for ever, which blocks commits and Close. Both must still end and return the reason once, and
// every acknowledged commit is kept.
func TestNoMoreFiles(t *testing.T) {
	testkit.Only(t, "seconds of processor time")
	for _, how := range []string{"close", "commit"} {
		t.Run(how, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "s")
			s, err := Create(dir, Info{})
			testkit.Must(t, err, s.Close())
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			self, err := os.Executable()
			testkit.Must(t, err)
			cmd := exec.CommandContext(ctx, self, "-test.run=^$")
			cmd.Env = append(os.Environ(), childDir+"="+dir, childStarves+"="+how)
			said, err := cmd.Output()
			if ctx.Err() != nil {
				t.Fatal("it does not end")
			}
			numbers, what, _ := strings.Cut(string(said), "error: ")
			if err == nil || strings.Count(what, "ulimit -n") != 1 {
				t.Errorf("%v: %q, want what to do, once", err, what)
			}
			done := strings.Fields(numbers)
			if len(done) == 0 {
				t.Fatal("nothing was committed")
			}
			last, err := strconv.Atoi(done[len(done)-1])
			testkit.Must(t, err)
			wantDiscovery(t, dir, ID(last))
		})
	}
}

func TestCloseWhenFull(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	s := testkit.Call(Create(dir, Info{})).Must(t)
	alter(t, s, func(b *Batch) { testkit.Must(t, b.PutDiscovery(1, Discovery{URL: u1})) })
	none := func(string) (room, error) { return room{4096, 1 << 20}, nil }
	s.disk.free.Store(&none)
	if err := closeWithin(t, s); !errors.Is(err, ErrDiskFull) || !strings.Contains(err.Error(), "make room") {
		t.Errorf("close: %v, want ErrDiskFull and what to do", err)
	}
	if logs, err := filepath.Glob(filepath.Join(dir, database, "*.mem")); err != nil || len(logs) == 0 {
		t.Error("the memtable was written away, to a disk without room")
	}
	wantDiscovery(t, copyOf(t, dir), 1)
	testkit.Must(t, s.db.Close())
}

func closeWithin(t *testing.T, s *Store) error {
	t.Helper()
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	select {
	case err := <-closed:
		return err
	case <-time.After(time.Minute):
		t.Fatal("close does not end")
		return nil
	}
}

// copyOf copies a store that this process has open and thus locked.
func copyOf(t *testing.T, dir string) string {
	t.Helper()
	copyTo(t, dir+".copy", dir)
	return dir + ".copy"
}

// copyTo is os.CopyFS that keeps the holes of sparse logs.
func copyTo(t *testing.T, to, from string) {
	t.Helper()
	testkit.Must(t, filepath.WalkDir(from, func(name string, entry os.DirEntry, err error) error {
		copied := filepath.Join(to, strings.TrimPrefix(name, from))
		if err != nil || entry.IsDir() {
			return errors.Join(err, os.MkdirAll(copied, 0o755))
		}
		data, size := readData(t, name)
		return errors.Join(os.WriteFile(copied, data, 0o600), os.Truncate(copied, size))
	}))
}

// readData returns a file's size, and its content without the final hole of up to 256 MiB.
func readData(t *testing.T, name string) (data []byte, size int64) {
	t.Helper()
	f := testkit.Call(os.Open(name)).Must(t)
	defer f.Close()
	info := testkit.Call(f.Stat()).Must(t)
	end := int64(0)
	for {
		at, err := f.Seek(end, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) {
			break
		}
		testkit.Must(t, err)
		end, err = f.Seek(at, unix.SEEK_HOLE)
		testkit.Must(t, err)
	}
	data = make([]byte, min(end, info.Size()))
	testkit.Call(f.ReadAt(data, 0)).Must(t)
	return data, info.Size()
}

func wantDiscovery(t *testing.T, dir string, id ID) {
	t.Helper()
	s := testkit.Call(Open(dir)).Must(t)
	if b, err := s.URLs().Discovery(id); err != nil || !strings.HasPrefix(b.URL, u1) {
		t.Errorf("discovery %d: %+v, %v", id, b, err)
	}
	testkit.Must(t, s.Close())
}
