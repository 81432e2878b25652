package badgerfiles

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"

	"github.com/dgraph-io/badger/v4"
)

// Database is an open Badger database. What Badger may do for ever ends here when the
// disk fails.
type Database struct {
	*badger.DB
	dir    string // the store's folder, for errors
	path   string // the database's, as the kernel names it
	plain  bool
	log    *complaints
	levels *levels
	lent   lender
}

// Open opens the database of these options for the store in dir. Plain does without all
// that this package knows of Badger's files; so does a build with another Badger than
// the one that it knows.
func Open(dir string, o badger.Options, plain bool) (*Database, error) {
	if other := unknownVersion(); other != "" && !plain {
		slog.Warn("store: this build has another Badger than it knows, and leaves its files and memory alone", "has", other, "knows", Version)
		plain = true
	}
	d := &Database{dir: dir, plain: plain, levels: &levels{}}
	if !plain {
		if err := checkTables(o.Dir, o); err != nil {
			return nil, err
		}
		d.levels = readLevels(o.Dir)
	}
	if err := d.open(o); err != nil {
		d.levels.close()
		if strings.Contains(err.Error(), busyText) {
			return nil, busy(dir)
		}
		return nil, err
	}
	var err error
	if d.path, err = kernelName(o.Dir); err != nil {
		_ = d.Close() // that it cannot be named is the error
		return nil, err
	}
	if !plain {
		d.lent.replace(d.NewTransaction(false))
	}
	return d, nil
}

// Texts of Badger's errors, which have no other mark.
const (
	// emptyLog is said of a log without a byte: ristretto's z.NewFile.
	emptyLog = "Create a new file"
	// busyText is said of a database that another process has.
	busyText = "Another process is using this Badger database"
)

func busy(dir string) error {
	return fmt.Errorf("%s: %w; wait until it ends, or stop it", dir, ErrBusy)
}

// openTries bounds how often a database is opened: a kill leaves one log of each
// of its two kinds without content at most.
const openTries = 4

// open opens the database. A kill just after a log was made leaves it without a byte.
// Badger then gives it the header that it lacks, and yet ends with an error, as if it had
// expected a log that was there before; so the next try finds all in order, and
// nothing was in that log to be lost.
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
}

// Close closes the database, or gives it up when its disk fails.
func (d *Database) Close() error {
	d.lent.replace(nil)
	defer d.levels.close()
	closed := make(chan error, 1)
	if !d.Bounded(func() { closed <- d.DB.Close() }) {
		return d.Failure()
	}
	return d.told(<-closed, "")
}

// Commit is txn.Commit that ends when the disk fails. What it began may still come
// to disk then, as a whole.
func (d *Database) Commit(txn *badger.Txn) error {
	done := make(chan error, 1)
	txn.CommitWith(func(err error) { done <- err })
	select {
	case err := <-done:
		return d.told(err, "commit: ")
	case <-d.log.heard:
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
