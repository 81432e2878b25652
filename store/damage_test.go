package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4"
	"github.com/fxamacker/cbor/v2"
)

func TestOpenErrors(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	if _, err := Open(dir); !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "fossick focus") {
		t.Errorf("no store: got %v, want ErrNone and what to do", err)
	}
	s, err := Create(dir, Info{Topic: "banking"})
	must(t, err)
	if _, err := Create(dir, Info{}); !errors.Is(err, ErrExists) {
		t.Errorf("created twice: got %v, want ErrExists", err)
	}
	if _, err := Open(dir); !errors.Is(err, ErrBusy) {
		t.Errorf("opened twice: got %v, want ErrBusy", err)
	}
	must(t, s.SetSettings([]byte("settings")), s.Close())

	s, err = Open(dir)
	must(t, err)
	if got := s.Info(); got.Topic != "banking" || string(got.Settings) != "settings" || got.Format != format || got.Created == 0 {
		t.Errorf("info after reopening: %+v", got)
	}
	s.info.Format = format + 1
	must(t, s.putInfo(), s.Close())
	if _, err := Open(dir); !errors.Is(err, ErrNewer) {
		t.Errorf("newer format: got %v, want ErrNewer", err)
	}
}

func TestCutOffAtBirth(t *testing.T) {
	s, err := Create(filepath.Join(t.TempDir(), "s"), Info{})
	must(t, err)
	must(t, s.db.Update(func(txn *badger.Txn) error { return txn.Delete(key(keyInfo)) }), s.Close(), os.Remove(filepath.Join(s.Dir(), infoFile)))
	if _, err := Open(s.Dir()); !errors.Is(err, ErrNone) {
		t.Errorf("a store without its info: got %v, want ErrNone", err)
	}
}

// A damaged record is an error that names its key; the others can still be read.
func TestDamagedRecords(t *testing.T) {
	readers := map[byte]func(s *Store) error{
		keyCount:  func(s *Store) error { _, err := s.Counts(); return err },
		keySeen:   func(s *Store) error { _, err := lookedUp(s, HashURL(u2)); return err },
		keyBirth:  func(s *Store) error { _, err := s.URLs().Birth(2); return err },
		keyQueued: func(s *Store) error { return drain(s.URLs().Waiters()) },
		keyVisit:  func(s *Store) error { _, err := s.URLs().Life(u2); return err },
		keyFate:   func(s *Store) error { _, err := s.URLs().Life(u2); return err },
		keyPage:   func(s *Store) error { return drain(s.Pages()) },
		keyBody:   func(s *Store) error { _, err := s.Body(1); return err },
		keyContent: func(s *Store) error {
			b := s.Batch()
			defer b.Cancel()
			_, err := b.PageWith(somePage().Checksum)
			return err
		},
		keyLabel: func(s *Store) error { return drain(s.Labels()) },
		keyHost:  func(s *Store) error { return drain(s.Hosts()) },
		keyMark:  func(s *Store) error { return drain(s.Marks()) },

		keyExchange: func(s *Store) error { return drain(s.Exchanges("")) },
	}
	keys := map[byte][]byte{
		keyCount: key(keyCount), keySeen: bytesKey(keySeen, hashOf(u2)), keyBirth: numKey(keyBirth, 2), keyQueued: numKey(keyQueued, 2),
		keyVisit: visitKey(2, 1), keyFate: numKey(keyFate, 2), keyPage: numKey(keyPage, 1), keyBody: numKey(keyBody, 1),
		keyContent: bytesKey(keyContent, somePage().Checksum), keyLabel: numKey(keyLabel, 1), keyHost: bytesKey(keyHost, []byte("h:80")),
		keyExchange: exchangeKey("h:80", 1), keyMark: numKey(keyMark, 2),
	}
	for kind, read := range readers {
		t.Run(string(kind), func(t *testing.T) {
			s := create(t)
			alter(t, s, func(b *Batch) {
				must(t, b.PutSeen(HashURL(u2), 2, false), b.PutBirth(2, Birth{URL: u2}), b.PutVisit(2, 1, Visit{}), b.PutFate(2, Fate{Page: 1}),
					b.PutQueued(2, Queued{}), b.PutPage(somePage(), s.Compress([]byte("x"))), b.PutLabel(1, Label{}),
					b.PutHost(&Host{Name: "h:80"}), b.put(keys[keyMark], Mark{}), b.PutExchange("h:80", 1, Exchange{}), b.PutCounts(&Counts{}))
			})
			must(t, read(s))
			must(t, s.db.Update(func(txn *badger.Txn) error { return txn.Set(keys[kind], []byte{0xff, 1, 2}) }))
			err := read(s)
			if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), fmt.Sprintf("%q", keys[kind])) {
				t.Errorf("got %v, want ErrDamaged and the key %q", err, keys[kind])
			}
		})
	}
}

// A key of the wrong length is damage too, and no panic.
func TestDamagedKeys(t *testing.T) {
	s := create(t)
	must(t, s.db.Update(func(txn *badger.Txn) error {
		return errors.Join(txn.Set([]byte{keyPage, 1}, nil), txn.Set([]byte{keyLabel}, nil), txn.Set([]byte{keyQueued, 1, 2}, nil))
	}))
	for name, err := range map[string]error{"pages": drain(s.Pages()), "labels": drain(s.Labels()), "waiters": drain(s.URLs().Waiters())} {
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: got %v, want ErrDamaged", name, err)
		}
	}
}

// A value log that lost its end, as after a power cut, is damage as well: the
// pages before it can be read.
func TestValueLogCut(t *testing.T) {
	s, err := Create(filepath.Join(t.TempDir(), "s"), Info{})
	must(t, err)
	for n := uint64(1); n <= 2; n++ {
		alter(t, s, func(b *Batch) {
			p := somePage()
			p.Number = n
			must(t, b.PutPage(p, s.Compress(bodyOf(n))))
		})
	}
	must(t, s.Close())
	logs, err := filepath.Glob(filepath.Join(s.Dir(), database, "*.vlog"))
	must(t, err)
	last := logs[len(logs)-1]
	info, err := os.Stat(last)
	must(t, err)
	must(t, os.Truncate(last, info.Size()-1000))
	if _, err := Open(s.Dir()); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), filepath.Base(last)) {
		t.Errorf("opened with %v, want ErrDamaged and the log", err)
	}
	s, err = OpenToRead(s.Dir())
	must(t, err)
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

// A disk that is nearly full stops the commits with a clear error; the store
// stays as it was, and goes on when there is room.
func TestDiskFull(t *testing.T) {
	s := create(t)
	alter(t, s, func(b *Batch) { must(t, b.PutBirth(1, Birth{URL: u1})) })
	free := func(r room, err error) {
		f := func(string) (room, error) { return r, err }
		s.disk.free.Store(&f)
		s.disk.look()
	}
	free(room{minFreeBytes - 1, 1 << 20}, nil)
	b := s.Batch()
	must(t, b.PutBirth(2, Birth{URL: u2}))
	if err := b.Commit(); !errors.Is(err, ErrDiskFull) || !strings.Contains(err.Error(), "make room") {
		t.Fatalf("got %v, want ErrDiskFull and what to do", err)
	}
	if _, err := s.URLs().Birth(2); !errors.Is(err, ErrUnknown) {
		t.Errorf("the refused batch left something: %v", err)
	}
	_, err := s.URLs().Birth(1)
	must(t, err)

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
	alter(t, s, func(b *Batch) { must(t, b.PutBirth(2, Birth{URL: u2})) })
}

// TestEmptyLogs: a kill just after Badger has made a log, or a table that it has
// not yet entered in its manifest, leaves it empty.
func TestEmptyLogs(t *testing.T) {
	for _, names := range [][]string{{"000077.vlog"}, {"00077.mem"}, {"000077.vlog", "00077.mem", "00078.mem"}, {"000077.sst"}} {
		t.Run(strings.Join(names, " "), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "s")
			s, err := Create(dir, Info{})
			must(t, err)
			for n := uint64(1); n <= 5; n++ {
				alter(t, s, func(b *Batch) { must(t, putExchange(s, b, n), b.PutCounts(&Counts{URLs: n, Pages: n})) })
			}
			must(t, s.Close())
			for _, name := range names {
				must(t, os.WriteFile(filepath.Join(dir, database, name), nil, 0o600))
			}
			s, err = Open(dir)
			must(t, err)
			for n := uint64(1); n <= 5; n++ {
				checkExchange(t, s, n)
			}
			must(t, s.Close())
		})
	}
}

// FuzzDecode reads records from any bytes: no panic, and what can be read is
// the same after writing and reading again.
func FuzzDecode(f *testing.F) {
	records := []func() any{
		func() any { return &Counts{} }, func() any { return &Birth{} }, func() any { return &Queued{} }, func() any { return &Visit{} },
		func() any { return &Fate{} }, func() any { return &Page{} }, func() any { return &Label{} }, func() any { return &Host{} },
		func() any { return &Info{} },
	}
	for _, r := range []any{
		Counts{States: map[string]uint64{"ok": 1}}, Birth{URL: u1}, Queued{Priority: 0.5}, Visit{State: "ok"}, Fate{Reason: "x"}, somePage(), Label{Rule: "x"}, Host{Pages: 1},
		Info{Topic: "x", Settings: []byte("{}")},
	} {
		b, err := encode(r)
		must(f, err)
		f.Add(b)
	}
	f.Add([]byte{0xbf, 0xff})
	f.Add([]byte{0xa1, 0x03, 0xfb, 0x3f, 0xe0, 0, 0, 0, 0, 0, 0}) // half a second, where Info.Created has whole ones
	f.Add([]byte{0x9b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	ordered, err := cbor.CanonicalEncOptions().EncMode() // maps in order
	must(f, err)
	f.Add([]byte("\xa1\x15\xa1\x15-")) // a record in a record
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, fresh := range records {
			first, again := fresh(), fresh()
			if err := decode([]byte("k"), data, first); err != nil {
				if !errors.Is(err, ErrDamaged) {
					t.Fatalf("%v is not ErrDamaged", err)
				}
				continue
			}
			b, err := encode(first)
			must(t, err)
			must(t, decode([]byte("k"), b, again))
			// Compared as CBOR: nil as empty, NaN as itself.
			x, err := ordered.Marshal(first)
			must(t, err)
			y, err := ordered.Marshal(again)
			must(t, err)
			if !bytes.Equal(x, y) {
				t.Fatalf("read %x, wrote and read %x", x, y)
			}
		}
	})
}
