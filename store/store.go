package store

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/dgraph-io/badger/v4"

	"fossick/internal/reading"
	"fossick/store/badgerfiles"
)

// format is the version of the key layout that this build writes.
const format = 1

// database is Badger's own folder in a store's; beside it there is room for the
// crawl's model and socket.
const database = "db"

// making is the name of a database that is being made.
const making = database + ".new"

// Errors that callers branch on.
var (
	ErrExists   = errors.New("a store exists there already")
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
	records *records
	disk    *disk
	upkeep  *upkeep
	codec   *codec

	info     Info
	infoLost error // why the database has no Info, nil where it has one

	filter     *seenFilter // nil until FilterSeen
	pageFilter *keyFilter  // before contents and bands of pages; likewise
	outbox     outboxSpans

	copyOf  string    // see Receive
	damaged []Problem // see OpenToRead
}

// Create makes a store in dir, which must not hold one. What a kill left of a store in
// the making is no store. The database is made under another name, and gets its own
// when it is whole.
func Create(dir string, info Info) (*Store, error) {
	if err := reading.OnlyFiles(dir); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	if Exists(dir) {
		return createOver(dir, info)
	}
	if err := checkFolder(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("store: %w; give a folder that can be written to", err)
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
	s, err := openWith(dir, making, optionsToMake)
	if err != nil && !errors.Is(err, ErrBusy) { // a kill may leave what Badger cannot read
		if err = os.RemoveAll(filepath.Join(dir, making)); err == nil {
			s, err = openWith(dir, making, optionsToMake)
		}
	}
	if err != nil {
		return err
	}
	return errors.Join(s.introduce(info), s.Close())
}

// createOver is Create where there is a database: it must be an empty one.
func createOver(dir string, info Info) (*Store, error) {
	switch whose, err := ownerOf(dir); {
	case errors.Is(err, ErrBusy):
		return nil, fmt.Errorf("%s: %w, and %w; give another folder", dir, ErrExists, ErrBusy)
	case err != nil:
		return nil, err
	case whose == ours:
		if err := free(dir); err != nil {
			return nil, fmt.Errorf("%s: %w, and %w; give another folder", dir, ErrExists, err)
		}
		return nil, fmt.Errorf("%s: %w; resume it with --resume, or give another folder", dir, ErrExists)
	case whose == foreign:
		return nil, fmt.Errorf("%s: %w; give another folder", dir, ErrForeign)
	}
	s, err := open(dir, database)
	if err != nil {
		return nil, err
	}
	if err := s.introduce(info); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Open opens the store in dir, recovering what a kill left behind. A store with a table
// that cannot be read is refused with ErrDamaged; see OpenToRead and MendTables.
func Open(dir string) (*Store, error) { return openStore(dir, open) }

// openStore opens the store in dir by one of the ways to open its database.
func openStore(dir string, open func(dir, name string) (*Store, error)) (*Store, error) {
	s, err := openAsIs(dir, open)
	if err != nil {
		return nil, err
	}
	return fulfilPending(s)
}

// openAsIs is openStore that leaves what is still to be forgotten.
func openAsIs(dir string, open func(dir, name string) (*Store, error)) (*Store, error) {
	if !Exists(dir) {
		return nil, fmt.Errorf("%s: %w; make one with fossick focus --store %s", dir, ErrNone, dir)
	}
	if err := reading.OnlyFiles(dir); err != nil { // Badger opens its own, and waits for a pipe's writer
		return nil, fmt.Errorf("store: %w", err)
	}
	if err := refuseForeign(dir); err != nil {
		return nil, err
	}
	s, err := open(dir, database)
	if err != nil {
		return nil, err
	}
	return known(s)
}

// known is a store that was opened, once it has read what it says of itself.
func known(s *Store) (*Store, error) {
	if err := s.readInfo(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.keepInfoFile()
	return s, nil
}

// readInfo takes the Info of the database, or that beside it where damage took the first;
// Verify tells of it.
func (s *Store) readInfo() error {
	err := s.records.get(key(keyInfo), &s.info)
	if beside, ok := readInfoFile(s.dir); ok && err != nil {
		s.info, s.infoLost, err = beside, err, nil
	}
	switch {
	case errors.Is(err, ErrUnknown):
		return fmt.Errorf("%s: %w: the command that made it was interrupted; start the crawl again without --resume", s.dir, ErrNone)
	case err != nil:
		return err
	case s.info.Format <= 0:
		return fmt.Errorf("%s: %w; give another folder", s.dir, ErrForeign)
	case s.info.Format > format:
		return fmt.Errorf("%s: %w (format %d, this build reads up to %d); use that version", s.dir, ErrNewer, s.info.Format, format)
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
	return begin(dir, db)
}

// begin makes a store of its open database.
func begin(dir string, db *badgerfiles.Database) (*Store, error) {
	s := &Store{dir: dir, db: db, records: newRecords(db)}
	var err error
	if s.codec, err = newCodec(); err != nil {
		err = fmt.Errorf("store %s: %w", dir, err)
	} else {
		s.disk, err = watchDisk(dir, db.Path())
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s.upkeep = keepUp(db, s.disk, s.records)
	return s, nil
}

// Close syncs and closes the store. It returns ErrGone when the store is no
// longer there, ErrDisk or ErrDiskFull when it could not be closed. Then all
// that was committed is in its logs, and the next Open finds it there, as after
// a kill. Badger has the files until the process ends.
func (s *Store) Close() (err error) {
	if s.copyOf != "" {
		defer func() { err = errors.Join(err, os.RemoveAll(s.dir)) }()
	}
	s.upkeep.end()
	defer s.db.Release()
	s.codec.close()
	if err := s.disk.here(); err != nil {
		return err // Badger's Close would not return
	}
	if err := s.db.Failure(); err != nil {
		return s.disk.untold(err)
	}
	if full := s.disk.shortToClose(); full != nil { // Badger would be killed by the first page that has no room
		return errors.Join(s.disk.untold(full), s.db.SyncLogs())
	}
	return s.db.Close()
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

// introduce writes the Info of a store that is made now.
func (s *Store) introduce(info Info) error {
	info.Format, info.Created = format, time.Now().Unix()
	s.info = info
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
