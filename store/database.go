package store

import (
	"strings"

	"github.com/dgraph-io/badger/v4"
)

// openTries bounds how often a database is opened: a kill leaves one log of each
// of its two kinds without content at most.
const openTries = 4

// emptyLog is what Badger says of a log without a byte: ristretto's z.NewFile.
const emptyLog = "Create a new file"

// openDatabase opens a Badger database. A kill just after a log was made leaves it
// without a byte. Badger then gives it the header that it lacks, and yet ends with
// an error, as if it had expected a log that was there before; so the next try
// finds all in order, and nothing was in that log to be lost.
func openDatabase(path string) (db *badger.DB, err error) {
	for range openTries {
		db, err = badger.Open(options(path))
		if err == nil || !strings.Contains(err.Error(), emptyLog) {
			break
		}
	}
	return db, err
}
