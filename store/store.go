package store

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"
	badgeroptions "github.com/dgraph-io/badger/v4/options"

	"fossick/internal/fileio"
	"fossick/store/badgerfiles"
)

const format = 1

const database = "db"

const making = database + ".new"

var (
	ErrExists   = errors.New("a store exists there already")
	ErrNone     = errors.New("no store there")
	ErrBusy     = badgerfiles.ErrBusy
	ErrNewer    = errors.New("the store was made by a newer fossick")
	ErrDisk     = badgerfiles.ErrDisk
	ErrDiskFull = badgerfiles.ErrDiskFull
	ErrUnknown  = errors.New("the store does not know it")
)

// Store is an open store, safe for concurrent use, but only one Batch may be open at a time.
type Store struct {
	dir     string
	db      *badgerfiles.Database
	records *records
	disk    *disk
	upkeep  *upkeep
	codec   *codec

	settings sync.RWMutex // guards info.Settings, which alone changes while the store is open
	info     Info
	infoLost error // why the database's Info cannot be read, or nil

	filter     *seenFilter // nil until FilterSeen
	pageFilter *keyFilter  // for checksums and near-duplicate bands of pages; nil until FilterSeen
	outbox     outboxSpans

	copyOf  string // folder of the original, set by Receive
	damaged []Problem
}

// Create makes a store in dir, which must not hold one. It builds the database under another name
// and renames it when complete, so a kill leaves no half-made store.
func Create(dir string, info Info) (*Store, error) {
	if err := fileio.OnlyFiles(dir); err != nil {
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

func makeDatabase(dir string, info Info) error {
	s, err := openWith(dir, making, optionsToMake)
	if err != nil && !errors.Is(err, ErrBusy) { // after a kill Badger may find files that it cannot read
		if err = os.RemoveAll(filepath.Join(dir, making)); err == nil {
			s, err = openWith(dir, making, optionsToMake)
		}
	}
	if err != nil {
		return err
	}
	return errors.Join(s.introduce(info), s.Close())
}

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

// Open opens the store in dir and recovers from a kill. It refuses a store with an unreadable table
// with ErrDamaged; see OpenToRead and RepairAll.
func Open(dir string) (*Store, error) { return openStore(dir, open) }

func openStore(dir string, open func(dir, name string) (*Store, error)) (*Store, error) {
	s, err := openAsIs(dir, open)
	if err != nil {
		return nil, err
	}
	return fulfilPending(s)
}

// openAsIs opens a store without carrying out pending requests to forget pages.
func openAsIs(dir string, open func(dir, name string) (*Store, error)) (*Store, error) {
	if !Exists(dir) {
		return nil, fmt.Errorf("%s: %w; make one with fossick focus --store %s", dir, ErrNone, dir)
	}
	if err := fileio.OnlyFiles(dir); err != nil { // Badger would block on opening a named pipe
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

func known(s *Store) (*Store, error) {
	if err := s.readInfo(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.keepInfoFile()
	return s, nil
}

// readInfo reads the Info record, or the info file if it is damaged, which Verify reports.
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

func Exists(dir string) bool { return badgerfiles.Exists(filepath.Join(dir, database)) }

func open(dir, name string) (*Store, error) { return openWith(dir, name, options) }

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

// Close syncs and closes the store. It returns ErrGone if the store's folder is gone, ErrDisk or
// ErrDiskFull if closing failed. In the latter cases the logs keep all commits for the next Open,
// and Badger holds its files until the process ends.
func (s *Store) Close() (err error) {
	if s.copyOf != "" {
		defer func() { err = errors.Join(err, os.RemoveAll(s.dir)) }()
	}
	s.upkeep.end()
	defer s.db.Release()
	s.codec.close()
	if err := s.disk.here(); err != nil {
		return err // Badger's Close would never return
	}
	if err := s.db.Failure(); err != nil {
		return s.disk.unreported(err)
	}
	if full := s.disk.shortToClose(); full != nil { // Badger would crash on the first mapped page without disk space
		return errors.Join(s.disk.unreported(full), s.db.SyncLogs())
	}
	return s.db.Close()
}

// Dir returns the store's folder, or for a copy, the folder of the original.
func (s *Store) Dir() string { return cmp.Or(s.copyOf, s.dir) }

func (s *Store) Info() Info {
	s.settings.RLock()
	defer s.settings.RUnlock()
	return s.info
}

func (s *Store) SetSettings(settings []byte) error {
	s.settings.Lock()
	s.info.Settings = settings
	s.settings.Unlock()
	return s.putInfo()
}

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

// plain turns off everything that depends on Badger's file formats, until a fixed build appears.
func plain() bool { return os.Getenv("FOSSICK_STORE_PLAIN") != "" }

// options keeps Badger's memory small, since a crawl needs the memory for its pages in flight.
func options(path string) badger.Options {
	o := badger.DefaultOptions(path).
		WithMemTableSize(26 << 20).          // limits a batch to 15 % of it; costs its size in mapped files, 1.3 times that in the heap, and as much to flush
		WithNumMemtables(1).                 // besides the one being written and the one being flushed
		WithCompression(badgeroptions.None). // tables are read from mapped files: no block cache, half the memory to build one
		WithBlockCacheSize(0).
		WithIndexCacheSize(0). // only encrypted tables use it; other indexes are read from mapped files
		// A compaction of level 0 holds all of it and the next level in memory: hundreds of MiB
		// with many tables. Where compaction cannot keep up, the crawl waits.
		WithNumLevelZeroTables(4).
		WithNumLevelZeroTablesStall(8).
		WithBaseLevelSize(128 << 20).
		// Up to 13 tables are built at once; each takes twice its size in the heap and 3 MiB for
		// its index. So sizes must not double from level to level.
		WithBaseTableSize(2 << 20).
		WithValueThreshold(inTables). // bodies go to the value log, so compactions do not rewrite them; see MaxBatchBytes
		WithValueLogFileSize(128 << 20).
		WithNumCompactors(2).
		WithDetectConflicts(false).                              // there is only one writer
		WithChecksumVerificationMode(badgeroptions.OnBlockRead). // a damaged block gives an error instead of wrong data
		WithVerifyValueChecksum(true)                            // a damaged value gives an error; Badger might panic on it
	o.TableSizeMultiplier = 1
	return o
}

func optionsToMake(path string) badger.Options { return options(path).WithMemTableSize(1 << 20) }

// A copy of the Info lies beside the database. It identifies a store before Badger opens, and so
// changes, any file; and a damaged table cannot destroy the crawl's settings. Its format:
//
//	"FSKINFO1" · CRC-32C of the rest (4 bytes, big-endian) · Info as in the database
const (
	infoFile = "info.fossick"
	infoHead = "FSKINFO1"
)

const maxInfoBytes = 16 << 20

func readInfoFile(dir string) (info Info, ok bool) {
	name := filepath.Join(dir, infoFile)
	if stat, err := os.Lstat(name); err != nil || !stat.Mode().IsRegular() || stat.Size() > maxInfoBytes {
		return Info{}, false
	}
	text, err := fileio.All(name, maxInfoBytes)
	if err != nil || len(text) < len(infoHead)+4 || string(text[:len(infoHead)]) != infoHead {
		return Info{}, false
	}
	text = text[len(infoHead):]
	if binary.BigEndian.Uint32(text) != badgerfiles.Checksum(text[4:]) {
		return Info{}, false
	}
	err = decode(key(keyInfo), text[4:], &info)
	return info, err == nil && info.Format > 0
}

func (s *Store) writeInfoFile() error {
	if s.Temporary() {
		return nil
	}
	body, err := encode(s.info)
	if err != nil {
		return err
	}
	text := binary.BigEndian.AppendUint32([]byte(infoHead), badgerfiles.Checksum(body))
	err = fileio.Write(filepath.Join(s.dir, infoFile), 0o600, func(f *os.File) error {
		_, err := f.Write(append(text, body...))
		return err
	})
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

// keepInfoFile writes the info file if it differs; the store can be read without it.
func (s *Store) keepInfoFile() {
	if beside, ok := readInfoFile(s.dir); !ok || !reflect.DeepEqual(beside, s.info) {
		_ = s.writeInfoFile()
	}
}

// ErrForeign reports a non-empty folder, or a database, that is not a fossick store.
var ErrForeign = errors.New("it is not empty, and not a store of fossick")

// beside lists the files that may lie beside a crawl's database.
var beside = []string{database, making, quarantine, infoFile, "model.fossick", "seeds.txt", "crawl.sock", Derived, "lost+found"}

// checkFolder refuses a folder for a new store that holds other files, unless hidden.
func checkFolder(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("store: %w; give a folder", err)
	}
	for _, e := range entries {
		if !slices.Contains(beside, e.Name()) && !strings.HasPrefix(e.Name(), ".") {
			return fmt.Errorf("%s: %w (%q is in it); give another folder", dir, ErrForeign, e.Name())
		}
	}
	if rest, _ := os.ReadDir(filepath.Join(dir, database)); len(rest) > 0 {
		return fmt.Errorf("%s: %w: it has a database without its list of tables; mend it with fossick repair %s, or give another folder", dir, ErrExists, dir)
	}
	return nil
}

type owner int

const (
	nobodys owner = iota // the database is empty
	ours
	foreign
)

// inTables is the size in bytes from which values lie in the value log, not in tables.
const inTables = 256

const sampled = 1000

// ownerOf finds the owner of a closed database without changing a file.
func ownerOf(dir string) (whose owner, err error) {
	if _, ok := readInfoFile(dir); ok {
		return ours, nil
	}
	db, err := badgerfiles.OpenView(dir, options(filepath.Join(dir, database)), plain())
	if err != nil {
		return nobodys, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	err = db.View(func(txn *badger.Txn) error { whose = ownerIn(txn); return nil })
	return whose, err
}

// refuseForeign returns ErrForeign for another program's database and ErrBusy for one in use. It
// lets an unreadable database pass, since that may be ours.
func refuseForeign(dir string) error {
	switch whose, err := ownerOf(dir); {
	case errors.Is(err, ErrBusy):
		return err
	case err == nil && whose == foreign:
		return fmt.Errorf("%s: %w; give another folder", dir, ErrForeign)
	}
	return nil
}

func free(dir string) error { return badgerfiles.Free(dir, filepath.Join(dir, database)) }

// ownerIn finds the owner by the database's keys. It is ours without an Info record if all sampled
// keys have our shapes and one is an entry of the seen-set.
func ownerIn(txn *badger.Txn) owner {
	var info Info
	item, err := txn.Get(key(keyInfo))
	if err == nil && item.ValueSize() < inTables && get(txn, key(keyInfo), &info) == nil && info.Format > 0 {
		return ours
	}
	opt := badger.DefaultIteratorOptions
	opt.PrefetchValues = false
	it := txn.NewIterator(opt)
	defer it.Close()
	n := 0
	for it.Rewind(); it.Valid() && n < sampled; it.Next() {
		if n++; !ourKey(it.Item().Key()) {
			return foreign
		}
	}
	if n == 0 {
		return nobodys
	}
	if it.Seek(key(keySeen)); it.ValidForPrefix(key(keySeen)) && it.Item().ValueSize() == 9 && ourKey(it.Item().Key()) {
		return ours
	}
	return foreign
}

func ourKey(k []byte) bool {
	if len(k) == 0 {
		return false
	}
	switch k[0] {
	case keyInfo, keyCount, keyRanking, keyRounds, keyChances, keyHoldings:
		return len(k) == 1
	case keySeen, keyForget:
		return len(k) == 1+len(Hash{})
	case keyDiscovery, keyQueued, keyOutcome, keyPage, keyBody, keyLabel, keyMark:
		return len(k) == 9
	case keyVisit, keyHistory, keyVersion, keyParcel, keyResource:
		return len(k) == 11
	case keyHolder:
		return len(k) == holderKeyLen
	case keyNear:
		return len(k) == 8
	case keyRank, keyMarkFor:
		return len(k) == 10
	}
	return len(k) <= maxKeyBytes && (k[0] == keyCursor || k[0] == keyAddress && len(k) > 3 || k[0] == keyContent || k[0] == keyHost || k[0] == keyExchange)
}

func AgentDir(dir string, agent int) string {
	return filepath.Join(dir, fmt.Sprintf("agent-%d", agent))
}

// AgentDirs returns the agents' store folders in dir; none unless several agents crawled.
func AgentDirs(dir string) (dirs []string) {
	for Exists(AgentDir(dir, len(dirs))) {
		dirs = append(dirs, AgentDir(dir, len(dirs)))
	}
	return dirs
}

const (
	busyPatience = 5 * time.Second
	busyPause    = 50 * time.Millisecond
)

// OpenWhenFree opens a store that another process may hold, such as a command that explains or
// marks a page. It waits up to five seconds, then returns an error that wraps ErrBusy.
func OpenWhenFree(ctx context.Context, dir string) (*Store, error) {
	ctx, stop := context.WithTimeout(ctx, busyPatience)
	defer stop()
	return openWhenFree(dir, func() bool {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(busyPause):
			return true
		}
	})
}

func openWhenFree(dir string, wait func() bool) (*Store, error) {
	for {
		if s, err := Open(dir); !errors.Is(err, ErrBusy) || !wait() {
			return s, err
		}
	}
}

const quarantine = "quarantine"

// OpenToRead opens the store in dir for reading, without compaction. Of a store that Open refuses
// as damaged it shows the readable part; it is then Temporary, and Verify reports the damage.
func OpenToRead(dir string) (*Store, error) { return openStore(dir, openToRead) }

func openToRead(dir, name string) (*Store, error) {
	path := filepath.Join(dir, name)
	if err := writable(dir, path); err != nil {
		return nil, err
	}
	db, damage, err := badgerfiles.OpenToRead(dir, options(path), plain())
	if err != nil {
		return nil, err
	}
	s, err := begin(dir, db)
	if err != nil {
		return nil, err
	}
	if s.damaged = problemsOf(damage); len(damage) == 0 {
		return openToForget(s, name)
	}
	return s, nil
}

// openToForget reopens a store for writing if it has pages to forget.
func openToForget(s *Store, name string) (*Store, error) {
	if pending, err := pendingForgets(s); err != nil || len(pending) == 0 {
		return s, nil // Verify reports unreadable requests
	}
	dir, held := s.dir, s.db.Keep()
	if err := s.Close(); err != nil {
		return nil, err
	}
	defer held.Release()
	path := filepath.Join(dir, name)
	db, err := badgerfiles.OpenUnder(held, dir, options(path), plain())
	if err != nil {
		return nil, err
	}
	return begin(dir, db)
}

// Damaged returns the damage that OpenToRead found, as an ErrDamaged with advice, or nil.
func (s *Store) Damaged() error {
	if len(s.damaged) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %w: %s: %s; the result is incomplete; fossick repair %s keeps everything that can be read", s.Dir(), ErrDamaged, s.damaged[0].Key, s.damaged[0].What, s.Dir())
}

// mendTables repairs the files of the closed store in dir so that Open accepts it, and returns the
// damage. Replaced files go to quarantine; afterwards repair must check for missing records.
func mendTables(dir string) ([]Problem, error) {
	if Exists(dir) {
		if err := refuseForeign(dir); err != nil {
			return nil, err
		}
	}
	path := filepath.Join(dir, database)
	damage, err := badgerfiles.Mend(dir, path, filepath.Join(dir, quarantine), options(path), plain())
	return problemsOf(damage), err
}

func problemsOf(damage []badgerfiles.Damage) (problems []Problem) {
	for _, d := range damage {
		problems = append(problems, Problem{Key: d.File, What: d.What, Repair: d.Done, Lost: d.Lost})
	}
	return problems
}
