package badgerfiles

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	badgeroptions "github.com/dgraph-io/badger/v4/options"
)

// CheckEvery is how often one more table of an open database should be looked at: 2 MiB,
// two thousandths of a processor.
const CheckEvery = time.Second

// CheckNext looks at one table again, the next by number, and after the last at the
// first. It is false when it is of no use any more. Badger says nothing of a block that
// it cannot read: a look-up finds nothing there, and a compaction drops what is behind
// it. So damage ends the use of the database, as a disk does that fails: nothing is
// committed any more, and compactions end with the process.
func (d *Database) CheckNext() (goOn bool) {
	if d.plain || d.Failure() != nil {
		return false
	}
	compressions := d.levels.listed()
	ids := slices.Sorted(maps.Keys(compressions))
	if len(ids) == 0 {
		return true
	}
	id := ids[0]
	if i := slices.IndexFunc(ids, func(id uint64) bool { return id > d.checked }); i >= 0 {
		id = ids[i]
	}
	d.checked = id
	err := d.checkNow(id, compressions[id])
	if err == nil {
		return true
	}
	// A table that was replaced is emptied and then removed.
	if _, ok := d.levels.listed()[id]; !ok {
		return true
	}
	if info, statErr := os.Stat(tableName(d.path, id)); statErr != nil || info.Size() == 0 {
		return true
	}
	d.log.end(fmt.Errorf("%s: %w: %w; mend the store with fossick repair %s, which keeps what can be read, and go on with --resume",
		tableName(d.path, id), ErrDamaged, err, d.dir))
	return false
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
			return fmt.Errorf("%s: %w: one of its values cannot be read; the file stays as it is, to keep the others", name, ErrDamaged)
		}
	}
	return nil
}
