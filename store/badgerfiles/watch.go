package badgerfiles

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	badgeroptions "github.com/dgraph-io/badger/v4/options"
)

// checkEvery is how often one more table of an open database is looked at: 2 MiB, two
// thousandths of a processor.
const checkEvery = time.Second

// KeepChecking looks at the tables again, one after the other, until stop is closed or one
// is damaged. Badger says nothing of a block that it cannot read: a look-up finds nothing
// there, and a compaction drops what is behind it. So damage ends the use of the database,
// as a disk does that fails: nothing is committed any more, and compactions end with the
// process.
func (d *Database) KeepChecking(stop <-chan struct{}) {
	if d.plain {
		return
	}
	tick := time.NewTicker(checkEvery)
	defer tick.Stop()
	last := uint64(0)
	for {
		select {
		case <-tick.C:
			if last = d.checkAfter(last); d.Failure() != nil {
				return
			}
		case <-stop:
			return
		}
	}
}

// checkAfter looks at the table with the next number, from the first again after the last.
func (d *Database) checkAfter(last uint64) (id uint64) {
	compressions := d.levels.listed()
	ids := slices.Sorted(maps.Keys(compressions))
	if len(ids) == 0 {
		return 0
	}
	if i := slices.IndexFunc(ids, func(id uint64) bool { return id > last }); i >= 0 {
		id = ids[i]
	} else {
		id = ids[0]
	}
	err := d.checkNow(id, compressions[id])
	if err == nil {
		return id
	}
	// A table that was replaced is emptied and then removed.
	if _, ok := d.levels.listed()[id]; !ok {
		return id
	}
	if info, statErr := os.Stat(tableName(d.path, id)); statErr != nil || info.Size() == 0 {
		return id
	}
	d.log.end(fmt.Errorf("%s: %w: %w; mend the store with fossick repair %s, which keeps what can be read, and go on with --resume",
		tableName(d.path, id), ErrDamaged, err, d.dir))
	return id
}

func (d *Database) checkNow(id uint64, compression badgeroptions.CompressionType) error {
	text, err := readFile(tableName(d.path, id), nil)
	if err != nil {
		return nil // it is gone, or the disk says so elsewhere
	}
	_, err = checkTable(text, compression)
	return err
}

// CheckValues looks at all value logs of the closed database in path. To write one anew
// without what is dead, Badger reads it up to the first entry that it cannot read, and then
// removes it.
func CheckValues(path string, plain bool) error {
	if plain || unknownVersion() != "" {
		return nil
	}
	names, err := logsOf(path, valueFiles)
	if err != nil {
		return err
	}
	for _, name := range names {
		damaged := false
		if err := withLog(name, func(text []byte) { damaged = readLog(text).damaged }); err != nil {
			return err
		}
		if damaged {
			return fmt.Errorf("%s: %w: one of its values cannot be read; it stays as it is, for the sake of the others", name, ErrDamaged)
		}
	}
	return nil
}
