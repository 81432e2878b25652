package store

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/klauspost/compress/zstd"

	"fossick/store/badgerfiles"
)

// Format is the version of the key layout that this build writes.
const Format = 1

// database is Badger's own folder in a store's; beside it there is room for the
// crawl's model and socket.
const database = "db"

// making is the name of a database that is being made.
const making = database + ".new"

// syncEvery bounds what a power cut can cost. A kill of the process costs
// nothing: what is committed is in the kernel's hands.
const syncEvery = 5 * time.Second

// trimEvery is how often memory is looked at beside the writer: while Badger
// compacts, a commit may wait for seconds, and a hundred MiB are mapped in a
// quarter of one.
const trimEvery = 20 * time.Millisecond

// A store that nobody used in the last quietAfter looks is looked at every quietEvery
// looks: a crawl whose hosts all rest should cost nothing. Compactions that still go
// on map some 80 MiB in between.
const (
	quietAfter = 50
	quietEvery = 10
)

// Errors that callers branch on.
var (
	ErrExists   = errors.New("a store is there already")
	ErrNone     = errors.New("no store there")
	ErrBusy     = badgerfiles.ErrBusy
	ErrNewer    = errors.New("the store was made by a newer fossick")
	ErrDisk     = badgerfiles.ErrDisk
	ErrDiskFull = badgerfiles.ErrDiskFull
	ErrUnknown  = errors.New("the store does not know it")
)

// Store is an open store. Its methods may be called from many goroutines, but
// only one Batch may be open at a time.
type Store struct {
	dir     string
	db      *badgerfiles.Database
	info    Info
	enc     *zstd.Encoder         // EncodeAll is safe for concurrent use
	scratch sync.Pool             // of *[]byte, for Compress
	dec     *zstd.Decoder         // and so is DecodeAll
	full    atomic.Pointer[error] // why the disk is too full to write to, nil when it is not; set by watchRoom

	filter     *seenFilter // nil until FilterSeen
	pageFilter *keyFilter  // before contents and bands of pages; likewise
	folder     os.FileInfo // the database's
	gone       atomic.Bool // it is; set by watch
	told       atomic.Bool // a commit has returned why the disk cannot be written to
	untrimmed  int         // bytes written since the last trim; the batch's
	used       atomic.Bool // read or written since keepTrimmed looked last
	committing atomic.Bool // a commit may wait for a compaction, which maps tables

	free atomic.Pointer[func(dir string) (room, error)] // nil but in tests

	copyOf   string    // see Receive
	damaged  []Problem // see OpenToRead
	infoLost error     // why the database has no Info, nil where it has one

	stop chan struct{}
	kept sync.WaitGroup
}

// Create makes a store in dir, which must not hold one. What a kill left of a
// store in the making is no store: the database is made under another name, and
// gets its own when it is whole.
func Create(dir string, info Info) (*Store, error) {
	if Exists(dir) {
		return createOver(dir, info)
	}
	if err := checkFolder(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("store: %w; name a folder that can be written to", err)
	}
	if err := roomToMake(dir); err != nil {
		return nil, err
	}
	if err := makeDatabase(dir, info); err != nil {
		return nil, err
	}
	if err := os.Rename(filepath.Join(dir, making), filepath.Join(dir, database)); err != nil {
		return nil, fmt.Errorf("store %s: %w", dir, err)
	}
	return Open(dir)
}

// makeDatabase makes a database with the store's Info, and closes it.
func makeDatabase(dir string, info Info) error {
	s, err := open(dir, making)
	if err != nil && !errors.Is(err, ErrBusy) { // a kill may leave what Badger cannot read
		if err = os.RemoveAll(filepath.Join(dir, making)); err == nil {
			s, err = open(dir, making)
		}
	}
	if err != nil {
		return err
	}
	info.Format, info.Created = Format, time.Now().Unix()
	s.info = info
	return errors.Join(s.putInfo(), s.Close())
}

// createOver is Create where there is a database: it must be an empty one.
func createOver(dir string, info Info) (*Store, error) {
	switch whose, err := ownerOf(dir); {
	case errors.Is(err, ErrBusy):
		return nil, fmt.Errorf("%s: %w, and %w; name another folder", dir, ErrExists, ErrBusy)
	case err != nil:
		return nil, err
	case whose == ours:
		if err := free(dir); err != nil {
			return nil, fmt.Errorf("%s: %w, and %w; name another folder", dir, ErrExists, err)
		}
		return nil, fmt.Errorf("%s: %w; resume it with --resume, or name another folder", dir, ErrExists)
	case whose == foreign:
		return nil, fmt.Errorf("%s: %w; name another folder", dir, ErrForeign)
	}
	s, err := open(dir, database)
	if err != nil {
		return nil, err
	}
	info.Format, info.Created = Format, time.Now().Unix()
	s.info = info
	if err := s.putInfo(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Open opens the store in dir, recovering what a kill left behind. A store with a table
// that cannot be read is refused with ErrDamaged; see OpenToRead and MendTables.
func Open(dir string) (*Store, error) { return openStore(dir, open) }

// openStore opens the store in dir by one of the ways to open its database.
func openStore(dir string, open func(dir, name string) (*Store, error)) (*Store, error) {
	if !Exists(dir) {
		return nil, fmt.Errorf("%s: %w; make one with fossick focus --store %s", dir, ErrNone, dir)
	}
	if err := refuseForeign(dir); err != nil {
		return nil, err
	}
	s, err := open(dir, database)
	if err != nil {
		return nil, err
	}
	if err := s.readInfo(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.keepInfoFile()
	return s, nil
}

// readInfo takes the Info of the database, or that beside it where damage took the first;
// Verify tells of it.
func (s *Store) readInfo() error {
	err := s.view(func(txn *badger.Txn) error { return get(txn, key(keyInfo), &s.info) })
	if beside, ok := readInfoFile(s.dir); ok && err != nil {
		s.info, s.infoLost, err = beside, err, nil
	}
	switch {
	case errors.Is(err, ErrUnknown):
		return fmt.Errorf("%s: %w: its making was cut off; start the crawl again without --resume", s.dir, ErrNone)
	case err != nil:
		return err
	case s.info.Format <= 0:
		return fmt.Errorf("%s: %w; name another folder", s.dir, ErrForeign)
	case s.info.Format > Format:
		return fmt.Errorf("%s: %w (format %d, this build reads up to %d); use that version", s.dir, ErrNewer, s.info.Format, Format)
	}
	return nil
}

// Exists says whether there is a store in dir.
func Exists(dir string) bool { return badgerfiles.Exists(filepath.Join(dir, database)) }

// open opens the database of this name in dir.
func open(dir, name string) (*Store, error) { return openWith(dir, name, options) }

// openWith opens it with options for its path.
func openWith(dir, name string, options func(path string) badger.Options) (*Store, error) {
	path := filepath.Join(dir, name)
	if err := writable(dir, path); err != nil {
		return nil, err
	}
	db, err := badgerfiles.Open(dir, options(path), plain())
	if err != nil {
		return nil, err
	}
	return begun(&Store{dir: dir, db: db, stop: make(chan struct{})})
}

func begun(s *Store) (*Store, error) {
	if err := s.begin(); err != nil {
		return nil, errors.Join(err, s.db.Close())
	}
	return s, nil
}

// begin makes what belongs to the open database.
func (s *Store) begin() (err error) {
	s.scratch.New = func() any { return new([]byte) }
	if s.enc, err = newEncoder(); err == nil {
		s.dec, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(256<<20))
	}
	if err != nil {
		return fmt.Errorf("store %s: %w", s.dir, err)
	}
	if s.folder, err = os.Stat(s.db.Path()); err != nil {
		return fmt.Errorf("store %s: %w", s.dir, err)
	}
	s.watch()
	s.kept.Go(s.keepSynced)
	s.kept.Go(s.keepTrimmed)
	s.kept.Go(func() { s.db.KeepLending(s.stop) })
	s.kept.Go(func() { s.db.KeepChecking(s.stop) })
	return nil
}

// watch asks how much room the disk has, and whether the store is still there.
func (s *Store) watch() {
	s.gone.Store(s.here() != nil)
	s.watchRoom()
}

// Close syncs and closes the store; ErrGone when it is no longer there, ErrDisk or
// ErrDiskFull when it could not be closed: then all that was committed is in its logs,
// and the next Open finds it there, as after a kill. Badger has the files until the
// process ends.
func (s *Store) Close() (err error) {
	if s.copyOf != "" {
		defer func() { err = errors.Join(err, os.RemoveAll(s.dir)) }()
	}
	close(s.stop)
	s.kept.Wait()
	defer s.db.Release()
	s.dec.Close()
	if err := s.here(); err != nil {
		return err // Badger's Close would not return
	}
	if err := s.db.Failure(); err != nil {
		return s.once(err)
	}
	if !s.roomToClose() { // Badger would be killed by the first page that has no room
		s.watchRoom()
		if full := s.full.Load(); full != nil {
			return errors.Join(s.once(*full), s.db.SyncLogs())
		}
	}
	return s.db.Close()
}

// once returns err unless a Commit has returned it already.
func (s *Store) once(err error) error {
	if s.told.Load() {
		return nil
	}
	return err
}

// Dir returns the store's folder; of a copy, that of the store it is of.
func (s *Store) Dir() string { return cmp.Or(s.copyOf, s.dir) }

// Info returns what the store says of itself.
func (s *Store) Info() Info { return s.info }

// SetSettings replaces the crawl's settings.
func (s *Store) SetSettings(settings []byte) error {
	s.info.Settings = settings
	return s.putInfo()
}

func (s *Store) putInfo() error {
	b := s.Batch()
	if err := b.put(key(keyInfo), s.info); err != nil {
		return err
	}
	if err := b.Commit(); err != nil {
		return err
	}
	return s.writeInfoFile()
}
