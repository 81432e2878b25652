package store

import (
	"fmt"
	"strings"

	"github.com/dgraph-io/badger/v4"
)

// openTries bounds how often a database is opened: a kill leaves one log of each
// of its two kinds without content at most.
const openTries = 4

// emptyLog is what Badger says of a log without a byte: ristretto's z.NewFile.
const emptyLog = "Create a new file"

// openDatabase opens the Badger database of these options for the store in dir, and
// returns its log. A kill just after a log was made leaves it without a byte. Badger
// then gives it the header that it lacks, and yet ends with an error, as if it had
// expected a log that was there before; so the next try finds all in order, and
// nothing was in that log to be lost.
func openDatabase(dir string, o badger.Options) (db *badger.DB, log *complaints, err error) {
	for range openTries {
		if db, log, err = tryToOpen(dir, o); err == nil || !strings.Contains(err.Error(), emptyLog) {
			break
		}
	}
	return db, log, err
}

// tryToOpen opens a database, or gives up when the disk fails meanwhile.
func tryToOpen(dir string, o badger.Options) (*badger.DB, *complaints, error) {
	type opened struct {
		db  *badger.DB
		err error
	}
	log := newComplaints(dir)
	done := make(chan opened, 1)
	if !log.bounded(func() {
		db, err := badger.Open(o.WithLogger(log))
		done <- opened{db, err}
	}) {
		return nil, log, log.failure()
	}
	r := <-done
	if r.err == nil {
		return r.db, log, nil
	}
	if disk := diskError(dir, r.err.Error()); disk != nil {
		return nil, log, disk
	}
	return nil, log, fmt.Errorf("store %s: %w", dir, r.err)
}
