package badgerfiles

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/dgraph-io/badger/v4"
)

// Database is an open Badger database whose operations return even if the disk fails.
type Database struct {
	*badger.DB
	dir    string // the store's folder, for error messages
	path   string // the database's folder, as the kernel names it
	plain  bool
	held   lock
	view   string // folder to remove on Close, see OpenToRead
	log    *complaints
	levels *levels
	lent   lender

	progress *progress // nil if plain
	checked  uint64    // table that CheckNext checked last
}

// Open opens a database after checking each block of each table. It returns ErrDamaged if one is
// unreadable, because a compaction would lose its neighbours. With plain, or with an unknown
// version of Badger, it uses no knowledge of Badger's files.
func Open(dir string, o badger.Options, plain bool) (*Database, error) {
	return OpenUnder(nil, dir, o, plain)
}

func OpenUnder(g *Guard, dir string, o badger.Options, plain bool) (*Database, error) {
	d, err := begin(g, dir, o, plain)
	if err != nil {
		return nil, err
	}
	if !d.plain {
		f, err := examine(o.Dir, o)
		if err == nil {
			err = f.err(dir)
		}
		if err != nil {
			d.giveUp()
			return nil, err
		}
	}
	return d.finish(o)
}

// readMemtableBytes is the memtable size of a reader, which limits its batches to 15 % of it. A
// larger one is half of the cost of opening a small database.
const readMemtableBytes = 4 << 20

// OpenToRead opens a database for a reader that writes little; it compacts nothing. Of a damaged
// database it opens a view, repaired as by Mend, in a temporary folder that Close removes, and
// returns the damage. Writes to a view are lost.
func OpenToRead(dir string, o badger.Options, plain bool) (*Database, []Damage, error) {
	d, err := begin(nil, dir, o, plain)
	if err != nil {
		return nil, nil, err
	}
	o = uncompacted(o)
	if d.plain {
		d, err = d.finish(smallMemtable(o))
		return d, nil, err
	}
	f, err := examine(o.Dir, o)
	if err == nil && len(f.damage) > 0 {
		o, err = d.makeView(o)
	}
	if err != nil {
		d.giveUp()
		return nil, nil, err
	}
	d, err = d.finish(smallMemtable(o))
	return d, f.damage, err
}

// smallMemtable reduces the memtable, unless a kill left logs, which must fit into it.
func smallMemtable(o badger.Options) badger.Options {
	if names, err := logsOf(o.Dir, memtableFiles); err != nil || len(names) > 0 {
		return o
	}
	return o.WithMemTableSize(min(o.MemTableSize, readMemtableBytes))
}

// uncompacted turns compactions off; writes to level 0 then must not wait for one.
func uncompacted(o badger.Options) badger.Options {
	return o.WithNumCompactors(0).WithNumLevelZeroTablesStall(math.MaxInt).WithCompactL0OnClose(false)
}

// begin locks the database's folder, since Badger's own lock would come after our checks.
func begin(g *Guard, dir string, o badger.Options, plain bool) (*Database, error) {
	if other := unknownVersion(); other != "" && !plain {
		slog.Warn("store: this build has an unknown version of Badger; it does not trim its files and memory", "has", other, "knows", knownVersion)
		plain = true
	}
	d := &Database{dir: dir, plain: plain, held: noLock, levels: &levels{}}
	if plain {
		return d, nil
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	var err error
	if d.held, err = g.take(dir, o.Dir); err != nil {
		return nil, err
	}
	return d, nil
}

func (d *Database) finish(o badger.Options) (*Database, error) {
	if !d.plain {
		d.levels, d.progress = readLevels(o.Dir), readProgress(o.Dir)
		o = o.WithBypassLockGuard(true)
	}
	if err := d.open(o); err != nil {
		d.levels.close()
		if d.Failure() == nil { // otherwise Badger may still be using it
			d.giveUp()
		}
		if strings.Contains(err.Error(), busyText) {
			return nil, busy(d.dir)
		}
		return nil, err
	}
	var err error
	if d.path, err = kernelName(o.Dir); err != nil {
		_ = d.Close() // report only the failed naming
		return nil, err
	}
	if !d.plain {
		d.lent.replace(d.NewTransaction(false))
	}
	return d, nil
}

// giveUp releases a database that could not be opened.
func (d *Database) giveUp() {
	_ = d.removeView()
	d.held.release()
}

// Texts of Badger's errors, which cannot be told apart otherwise.
const (
	busyText = "Another process is using this Badger database"
	// unreadValue and unreadVersion report an unreadable value.
	unreadValue   = "Unable to read: Key"
	unreadVersion = "Key: %v, Version"
)

func busy(dir string) error {
	return fmt.Errorf("%s: %w; wait until it ends, or stop it", dir, ErrBusy)
}

// removeEmpty removes logs without a byte, which a kill just after their creation leaves. Badger would fail
// to open them, and leave goroutines.
func removeEmpty(path string) error {
	for _, kind := range []string{memtableFiles, valueFiles} {
		names, err := logsOf(path, kind)
		if err != nil {
			return err
		}
		for _, name := range names {
			if info, err := os.Stat(name); err == nil && info.Size() == 0 {
				if err := os.Remove(name); err != nil {
					return fmt.Errorf("store: %w", err)
				}
			}
		}
	}
	return nil
}

func (d *Database) open(o badger.Options) error {
	if !d.plain {
		if err := removeEmpty(o.Dir); err != nil {
			return err
		}
	}
	type opened struct {
		db  *badger.DB
		err error
	}
	d.log = newComplaints(d.dir)
	done := make(chan opened, 1)
	if !d.Bounded(func() {
		db, err := badger.Open(o.WithLogger(d.log))
		done <- opened{db, err}
	}) {
		return d.Failure()
	}
	r := <-done
	d.DB = r.db
	return d.told(r.err, "")
}

func (d *Database) told(err error, doing string) error {
	if err == nil {
		return nil
	}
	if disk := diskError(d.dir, err.Error()); disk != nil {
		return disk
	}
	return fmt.Errorf("store %s: %s%w", d.dir, doing, err)
}

// Path returns the database's folder, without symbolic links.
func (d *Database) Path() string { return d.path }

// Failure returns the first disk failure, or nil.
func (d *Database) Failure() error { return d.log.failure() }

// Bounded runs f, but after a disk failure stops waiting for it and returns false.
func (d *Database) Bounded(f func()) (ended bool) { return d.log.bounded(f) }

// Release frees the resources of Trim if the database is abandoned instead of closed.
func (d *Database) Release() {
	d.lent.replace(nil)
	d.levels.close()
	d.progress.close()
}

// Close closes the database, or abandons it if its disk fails.
func (d *Database) Close() error {
	d.lent.replace(nil)
	defer d.levels.close()
	defer d.progress.close()
	closed := make(chan error, 1)
	if !d.Bounded(func() { closed <- d.DB.Close() }) {
		return d.Failure()
	}
	err := d.told(<-closed, "")
	d.held.release()
	return errors.Join(err, d.removeView())
}

// Commit commits txn. If the disk fails it stops waiting; txn may still reach the disk, whole.
func (d *Database) Commit(txn *badger.Txn) error {
	done := make(chan error, 1)
	txn.CommitWith(func(err error) { done <- err })
	select {
	case err := <-done:
		return d.told(err, "commit: ")
	case <-d.log.failed:
		return d.log.err
	}
}

func kernelName(path string) (string, error) {
	absolute, err := filepath.Abs(path)
	if err == nil {
		absolute, err = filepath.EvalSymlinks(absolute)
	}
	if err != nil {
		return "", fmt.Errorf("store %s: %w", path, err)
	}
	return absolute, nil
}

// Errors that callers branch on.
var (
	ErrDisk     = errors.New("the disk of the store fails")
	ErrDiskFull = errors.New("the disk is nearly full")
	ErrBusy     = errors.New("another process is using the store")
	ErrDamaged  = errors.New("damaged record")
)

// patience is how long Badger may run on after its first disk failure; it would retry for ever.
const patience = 2 * time.Second

// complaints is Badger's log. Only there does Badger report a table that it cannot write, and
// retries every second while commits and Close wait. So the first reported disk failure ends the
// use of the store. All commits are in the logs, as after a kill.
type complaints struct {
	dir    string
	failed chan struct{} // closed by the first failure
	once   sync.Once
	err    error // the first failure, once failed is closed
}

func newComplaints(dir string) *complaints {
	return &complaints{dir: dir, failed: make(chan struct{})}
}

// troubles lists the system's errors for failed writes. Badger keeps only their text.
func troubles() []syscall.Errno {
	return append(linuxTroubles(),
		syscall.EIO, syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EFBIG, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM,
		syscall.ESTALE, syscall.EACCES, syscall.EPERM, syscall.ENODEV, syscall.ENXIO, syscall.ENOTCONN)
}

func troubleIn(text string) syscall.Errno {
	for _, errno := range troubles() {
		if strings.Contains(text, errno.Error()) {
			return errno
		}
	}
	return 0
}

// diskError turns a text from Badger into a disk error with advice, or nil.
func diskError(dir, text string) error {
	errno := troubleIn(text)
	text = strings.Join(strings.Fields(text), " ")
	switch errno {
	case 0:
		return nil
	case syscall.ENOSPC, syscall.EDQUOT:
		return fmt.Errorf("%s: %w (%s); make room, and go on with --resume", dir, ErrDiskFull, text)
	case syscall.EMFILE, syscall.ENFILE:
		return fmt.Errorf("%s: %w: %s; raise the limit of open files (ulimit -n), and go on with --resume", dir, ErrDisk, text)
	case syscall.EFBIG:
		return fmt.Errorf("%s: %w: %s; raise the limit of a file's size (ulimit -f), and go on with --resume", dir, ErrDisk, text)
	}
	return fmt.Errorf("%s: %w: %s; check the disk (dmesg), then mend the store with fossick repair %s and go on with --resume", dir, ErrDisk, text, dir)
}

func (c *complaints) fail(what string) { c.end(diskError(c.dir, what)) }

func (c *complaints) end(err error) {
	c.once.Do(func() {
		c.err = err
		close(c.failed)
	})
}

func (c *complaints) failure() error {
	select {
	case <-c.failed:
		return c.err
	default:
		return nil
	}
}

func (c *complaints) bounded(f func()) (ended bool) {
	done := make(chan struct{})
	go func() { f(); close(done) }()
	select {
	case <-done:
		return true
	case <-c.failed:
	}
	select {
	case <-done:
		return true
	case <-time.After(patience):
		return false
	}
}

// Errorf passes errors that are not the disk's to our own log.
func (c *complaints) Errorf(format string, args ...any) {
	what := fmt.Sprintf(format, args...)
	switch {
	case troubleIn(what) != 0:
		c.fail(what)
	case strings.HasPrefix(format, unreadValue), strings.HasPrefix(format, unreadVersion):
		// Badger then returns an empty value, which its reader reports.
	default:
		slog.Error("store: " + what)
	}
}

func (c *complaints) Warningf(format string, args ...any) {
	if what := fmt.Sprintf(format, args...); troubleIn(what) != 0 {
		c.fail(what)
	}
}

func (c *complaints) Infof(string, ...any) {}

func (c *complaints) Debugf(string, ...any) {}

// RenewEvery is how often to renew the lent transaction, whose data compactions must keep.
const RenewEvery = time.Second

// lender lends a read transaction without waiting. A new one would wait for commits, which wait for
// a compaction while level 0 is full: just when memory must be freed.
type lender struct {
	mu  sync.RWMutex // held while f uses txn
	txn *badger.Txn  // nil if there is none
}

func (l *lender) lend(f func(txn *badger.Txn) error) error {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.txn == nil {
		return nil
	}
	return f(l.txn)
}

func (l *lender) replace(txn *badger.Txn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.txn != nil {
		l.txn.Discard()
	}
	l.txn = txn
}

// Renew renews the lent transaction; false means that it need not be called again.
func (d *Database) Renew() (goOn bool) {
	if d.plain {
		return false
	}
	begun := make(chan *badger.Txn, 1)
	if !d.Bounded(func() { begun <- d.NewTransaction(false) }) {
		return false // the disk fails, and commits never end
	}
	d.lent.replace(<-begun)
	return true
}

// knownVersion is the version of Badger whose files this package knows; tests check it.
const knownVersion = "v4.9.6"

const module = "github.com/dgraph-io/badger/v4"

// unknownVersion returns this build's version of Badger if it is not the known one, else "".
func unknownVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return otherThan(knownVersion, info)
}

func otherThan(version string, info *debug.BuildInfo) string {
	for _, m := range info.Deps {
		switch {
		case m.Path != module:
		case m.Replace != nil:
			return m.Replace.Path + " " + m.Replace.Version
		case m.Version != version:
			return m.Version
		}
	}
	return ""
}
