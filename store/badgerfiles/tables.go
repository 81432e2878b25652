package badgerfiles

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/dgraph-io/badger/v4"
)

// checkTables looks at the ends of Badger's tables before Badger does, which
// panics on ends that point outside the file, in goroutines of its own. What lies
// between has checksums that Badger heeds:
//
//	blocks · index · its length (4) · checksum · its length (4)
//
// Only tables that the manifest names count: what a kill left half written it does
// not name, and Badger removes it.
func checkTables(path string, o badger.Options) error {
	f, err := os.Open(filepath.Join(path, badger.ManifestFilename))
	if err != nil {
		return nil // a new database, or opening says so
	}
	defer f.Close() // it is only read
	manifest, _, err := badger.ReplayManifestFile(f, 0, o)
	if err != nil {
		return nil // opening says so
	}
	if missing := missingTables(path, manifest.Tables); len(missing) > 0 {
		return fmt.Errorf("%s: %w: it names tables that are not there (%d, first %06d.sst), as after a disk that failed; "+
			"fossick repair takes them off its list and says if anything was in them", f.Name(), ErrDamaged, len(missing), missing[0])
	}
	for _, id := range slices.Sorted(maps.Keys(manifest.Tables)) {
		name := tableName(path, id)
		if err := checkTable(name); err != nil {
			return fmt.Errorf("%s: %w: %w; put the file back from a copy of the store, or crawl again", name, ErrDamaged, err)
		}
	}
	return nil
}

func checkTable(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return nil // opening says so
	}
	defer f.Close() // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	end := info.Size()
	for _, part := range [...]string{"checksum", "index"} {
		var length [4]byte
		if end < 4 {
			return fmt.Errorf("too short for its %s", part)
		}
		if _, err := f.ReadAt(length[:], end-4); err != nil {
			return err
		}
		n := int64(binary.BigEndian.Uint32(length[:]))
		if end -= 4 + n; end < 0 {
			return fmt.Errorf("its %s is said to have %d bytes, more than there are", part, n)
		}
	}
	if end == 0 {
		return errors.New("it has no blocks")
	}
	return nil
}
