package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dgraph-io/badger/v4"

	"fossick/store/badgerfiles"
)

// ErrForeign reports a folder, or a database, that is not empty and no store.
var ErrForeign = errors.New("it is not empty, and not a store of fossick")

// beside are the names of what belongs to a crawl beside its database.
var beside = []string{database, making, quarantine, infoFile, "model.fossick", "seeds.txt", "crawl.sock", Derived, "lost+found"}

// checkFolder refuses a folder in which a store is to be made and that has something else.
// Hidden files are nobody's work.
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

// owner is whose a database is.
type owner int

const (
	nobodys owner = iota // it has no keys
	ours
	foreign
)

// inTables is the size from which on values lie in the value log; see options.
const inTables = 256

// sampled is how many keys are looked at to see whose a database is.
const sampled = 1000

// ownerOf says whose the closed database of the store in dir is, and changes no file of
// it. Where Info stands beside the database no more is asked.
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

// refuseForeign returns ErrForeign for another program's database, ErrBusy for one in use.
// One that cannot be read is not known to be foreign: opening says what is the matter.
func refuseForeign(dir string) error {
	switch whose, err := ownerOf(dir); {
	case errors.Is(err, ErrBusy):
		return err
	case err == nil && whose == foreign:
		return fmt.Errorf("%s: %w; give another folder", dir, ErrForeign)
	}
	return nil
}

// free returns ErrBusy while a process has the store.
func free(dir string) error { return badgerfiles.Free(dir, filepath.Join(dir, database)) }

// ownerIn says whose the records are. Ours without Info, which damage can cost, must have
// our keys only, and an entry of the seen-set: nobody else has such.
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

// ourKey says whether a key has the shape of one of ours; see key.go.
func ourKey(k []byte) bool {
	if len(k) == 0 {
		return false
	}
	switch k[0] {
	case keyInfo, keyCount, keyRanking, keyRounds, keyChances, keyHoldings:
		return len(k) == 1
	case keySeen, keyForget:
		return len(k) == 1+len(Hash{})
	case keyBirth, keyQueued, keyFate, keyPage, keyBody, keyLabel, keyMark:
		return len(k) == 9
	case keyVisit, keyHistory, keyVersion, keyParcel:
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
