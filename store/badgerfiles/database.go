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

// Database is an open Badger database. What Badger may do for ever ends here when the
// disk fails.
type Database struct {
	*badger.DB
	dir    string // the store's folder, for errors
	path   string // the database's, as the kernel names it
	plain  bool
	held   lock
	view   string // a folder to remove at the end, see OpenToRead
	log    *complaints
	levels *levels
	lent   lender

	progress *progress // nil when plain
	checked  uint64    // the table that CheckNext looked at last
}

// Open opens the database of these options for the store in dir. Each block of each
// table is looked at before. Where one cannot be read it is ErrDamaged: a compaction
// would lose what is beside it.
//
// Plain does without all that this package knows of Badger's files; so does a build with
// another Badger than the one that it knows.
func Open(dir string, o badger.Options, plain bool) (*Database, error) {
	return OpenUnder(nil, dir, o, plain)
}

// OpenUnder is Open of a database that a guard has kept locked.
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

// readMemtableBytes is the size of the memtable of who reads; it bounds a batch at 15 % of
// it. Memory and file of a larger one are half of what opening a small database costs.
const readMemtableBytes = 4 << 20

// OpenToRead is Open for who reads and hardly writes, and compacts nothing. Of a database
// that is damaged it opens a view, what Mend would make of it, in a temporary
// folder that Close removes. It returns what is the matter; the database itself
// stays as it is. What is written to a view is lost.
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

// smallMemtable are options with a small memtable. Logs that a kill left are read into
// memtables of this size, so that there must be none.
func smallMemtable(o badger.Options) badger.Options {
	if names, err := logsOf(o.Dir, memtableFiles); err != nil || len(names) > 0 {
		return o
	}
	return o.WithMemTableSize(min(o.MemTableSize, readMemtableBytes))
}

// uncompacted are options without compactions. Level 0 grows by a table at a time then, and
// must not wait for a compaction to take them away.
func uncompacted(o badger.Options) badger.Options {
	return o.WithNumCompactors(0).WithNumLevelZeroTablesStall(math.MaxInt).WithCompactL0OnClose(false)
}

// begin locks the database's folder, which it makes if need be. Badger's own lock comes too
// late: what is looked at before must not change.
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

// finish opens a database that is sound.
func (d *Database) finish(o badger.Options) (*Database, error) {
	if !d.plain {
		d.levels, d.progress = readLevels(o.Dir), readProgress(o.Dir)
		o = o.WithBypassLockGuard(true)
	}
	if err := d.open(o); err != nil {
		d.levels.close()
		if d.Failure() == nil { // else Badger may still be at it
			d.giveUp()
		}
		if strings.Contains(err.Error(), busyText) {
			return nil, busy(d.dir)
		}
		return nil, err
	}
	var err error
	if d.path, err = kernelName(o.Dir); err != nil {
		_ = d.Close() // that it cannot be named is the error
		return nil, err
	}
	if !d.plain {
		d.lent.replace(d.NewTransaction(false))
	}
	return d, nil
}

// giveUp lets go of a database that is not opened, for another error.
func (d *Database) giveUp() {
	_ = d.removeView()
	d.held.release()
}

// Texts of Badger's errors, which have no other mark.
const (
	// emptyLog is said of a log without a byte: ristretto's z.NewFile.
	emptyLog = "Create a new file"
	// busyText is said of a database that another process has.
	busyText = "Another process is using this Badger database"
	// unreadValue and unreadVersion are said of a value that cannot be read.
	unreadValue   = "Unable to read: Key"
	unreadVersion = "Key: %v, Version"
)

func busy(dir string) error {
	return fmt.Errorf("%s: %w; wait until it ends, or stop it", dir, ErrBusy)
}

// openTries bounds how often a database is opened: a kill leaves one log of each
// of its two kinds without content at most.
const openTries = 4

// open opens the database. A kill just after a log was made leaves it without a
// byte. Badger then gives it the header that it lacks, and yet ends with an
// error, as if it had expected a log that was there before. So the next try
// finds all in order, and nothing was in that log to be lost.
func (d *Database) open(o badger.Options) (err error) {
	for range openTries {
		if err = d.tryToOpen(o); err == nil || d.plain || !strings.Contains(err.Error(), emptyLog) {
			break
		}
	}
	return err
}

// tryToOpen opens the database, or gives up when the disk fails meanwhile.
func (d *Database) tryToOpen(o badger.Options) error {
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

// told is what Badger returned, with what to do where the disk fails.
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

// Failure returns the first complaint of the disk, nil as long as there is none.
func (d *Database) Failure() error { return d.log.failure() }

// Bounded runs what Badger might never end; false when it was left behind, still
// running, some time after a complaint.
func (d *Database) Bounded(f func()) (ended bool) { return d.log.bounded(f) }

// Release lets go of what Trim needs, where a database is given up instead of closed.
func (d *Database) Release() {
	d.lent.replace(nil)
	d.levels.close()
	d.progress.close()
}

// Close closes the database, or gives it up when its disk fails.
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

// Commit is txn.Commit that ends when the disk fails. What it began may still come
// to disk then, as a whole.
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

// kernelName returns the name of the database's folder without symbolic links.
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

// patience is how long Badger may go on after its first complaint of the disk. It
// tries again without end to write what it has in memory, and neither opens, commits
// nor closes until it could.
const patience = 2 * time.Second

// complaints is Badger's log. Badger tells nobody but its log that a table could not be
// written. It tries again every second, and every commit and the end of the process
// wait. So the first complaint of the disk ends the use of the store. What was
// committed is in the logs, as after a kill, and the sooner it ends the less there is
// for repair (see manifest.go).
type complaints struct {
	dir    string
	failed chan struct{} // closed by the first one
	once   sync.Once
	err    error // the first, once failed is closed
}

func newComplaints(dir string) *complaints {
	return &complaints{dir: dir, failed: make(chan struct{})}
}

// troubles are the answers of a system that cannot write, by their texts: Badger
// wraps errors by their texts alone.
func troubles() []syscall.Errno {
	return append(linuxTroubles(),
		syscall.EIO, syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EFBIG, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM,
		syscall.ESTALE, syscall.EACCES, syscall.EPERM, syscall.ENODEV, syscall.ENXIO, syscall.ENOTCONN)
}

// troubleIn returns what the system said in the text of an error, 0 when nothing.
func troubleIn(text string) syscall.Errno {
	for _, errno := range troubles() {
		if strings.Contains(text, errno.Error()) {
			return errno
		}
	}
	return 0
}

// diskError is an error of Badger's as one of the disk, with what to do about it; nil
// when it is none.
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

// end ends the use of the store, unless something has before.
func (c *complaints) end(err error) {
	c.once.Do(func() {
		c.err = err
		close(c.failed)
	})
}

// failure returns the first complaint, nil as long as there is none.
func (c *complaints) failure() error {
	select {
	case <-c.failed:
		return c.err
	default:
		return nil
	}
}

// bounded runs what Badger might never end; false when it was left behind, still
// running, some time after a complaint.
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

// Errorf hears what went wrong; what is not of the disk goes to our own log.
func (c *complaints) Errorf(format string, args ...any) {
	what := fmt.Sprintf(format, args...)
	switch {
	case troubleIn(what) != 0:
		c.fail(what)
	case strings.HasPrefix(format, unreadValue), strings.HasPrefix(format, unreadVersion):
		// Badger hands out an empty value then, and who reads it says so.
	case !strings.Contains(what, emptyLog): // see open
		slog.Error("store: " + what)
	}
}

// Warningf hears of compactions that failed.
func (c *complaints) Warningf(format string, args ...any) {
	if what := fmt.Sprintf(format, args...); troubleIn(what) != 0 {
		c.fail(what)
	}
}

// Infof drops what is no trouble.
func (c *complaints) Infof(string, ...any) {}

// Debugf does so, too.
func (c *complaints) Debugf(string, ...any) {}

// RenewEvery is how often there should be a new transaction to lend. A compaction keeps
// what was written over since the oldest one began.
const RenewEvery = time.Second

// lender has a transaction for those who must not wait for one. One that begins
// waits for the commits that go on. These wait, when level 0 is full, for a
// compaction, for as long as it takes: just when most memory is to be given
// back.
type lender struct {
	mu  sync.RWMutex // held by who has it
	txn *badger.Txn  // to read only; nil when there is none
}

// lend calls f with a transaction that began some time ago, not at all when there is none.
func (l *lender) lend(f func(txn *badger.Txn) error) error {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.txn == nil {
		return nil
	}
	return f(l.txn)
}

// replace lends another transaction from now on, none if it is nil.
func (l *lender) replace(txn *badger.Txn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.txn != nil {
		l.txn.Discard()
	}
	l.txn = txn
}

// Renew renews what is lent; false when there is nothing to renew any more.
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

// knownVersion is the Badger whose files this package knows. A test opens a real database
// with the one of go.mod and looks at all that is relied on.
const knownVersion = "v4.9.6"

const module = "github.com/dgraph-io/badger/v4"

// unknownVersion returns the Badger that this build has, "" when it is the one we know or
// the build does not say.
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
