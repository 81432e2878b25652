package badgerfiles

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"

	"fossick/internal/wholefile"
)

// OpenView opens a view of a database, damaged or not: what is there can be read, and no
// file of the database changes.
func OpenView(dir string, o badger.Options, plain bool) (*Database, error) {
	d, err := begin(nil, dir, o, plain)
	if err == nil && d.plain {
		d.held, err = lockFolder(dir, o.Dir)
	}
	if err != nil {
		return nil, err
	}
	if o, err = d.makeView(uncompacted(o)); err != nil {
		d.giveUp()
		return nil, err
	}
	return d.finish(o)
}

// makeView makes a folder with what can be read of the database, and returns the options
// for it. Tables and value logs are links, as nobody writes to these. What Badger
// writes to is a copy: the list of tables, the logs of memtables. Of value logs it writes
// to the newest, which it cuts off where it cannot be read; so there is a newer one.
func (d *Database) makeView(o badger.Options) (badger.Options, error) {
	path, err := kernelName(o.Dir)
	if err != nil {
		return o, err
	}
	if d.view, err = os.MkdirTemp("", "fossick-view-"); err != nil {
		return o, fmt.Errorf("store: %w; set TMPDIR to a folder that can be written to", err)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return o, fmt.Errorf("store: %w", err)
	}
	for _, e := range entries {
		if err := show(path, d.view, e.Name()); err != nil {
			return o, fmt.Errorf("store: %w", err)
		}
	}
	if !d.plain {
		if _, err := mend(d.view, "", o); err != nil {
			return o, err
		}
	}
	if err := addLog(d.view); err != nil {
		return o, err
	}
	return o.WithDir(d.view).WithValueDir(d.view), nil
}

// show puts a file of the database in path into a view.
func show(path, view, name string) error {
	from, to := filepath.Join(path, name), filepath.Join(view, name)
	switch ext := filepath.Ext(name); {
	case ext == ".vlog" && !hasEntries(from):
		return nil // Badger removes such a log, and empties it before
	case ext == ".sst", ext == ".vlog" && !saysEncrypted(from):
		return os.Symlink(from, to)
	case ext == ".vlog": // its head will be put right
		return copyFile(to, from)
	case ext == ".mem", name == badger.ManifestFilename, name == badger.KeyRegistryFileName:
		return copyFile(to, from)
	}
	return nil // locks, statistics, what a kill left
}

// removeView removes the view, if there is one.
func (d *Database) removeView() error {
	if d.view == "" {
		return nil
	}
	if err := os.RemoveAll(d.view); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	d.view = ""
	return nil
}

// saysEncrypted says whether a log has a head that Mend writes to.
func saysEncrypted(name string) bool {
	f := findings{}
	return f.checkHead(name) == nil && len(f.heads) > 0
}

// hasEntries says whether a log may have some.
func hasEntries(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Size() > logHead
}

// addLog makes a value log without an entry that is newer than all others. Badger cuts the
// newest off at the first entry that it cannot read, and then writes to one of its own.
func addLog(path string) error {
	names, err := logsOf(path, valueFiles)
	if err != nil {
		return err
	}
	newest := uint64(0)
	for _, name := range names {
		newest = max(newest, logNumber(name))
	}
	name := filepath.Join(path, fmt.Sprintf("%06d.vlog", newest+1))
	if err := os.WriteFile(name, make([]byte, logHead), 0o600); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return wholefile.SyncFolder(path)
}
