package badgerfiles

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"
	"golang.org/x/sys/unix"

	"fossick/internal/wholefile"
)

// lock is the lock of a database's folder: Badger's own, so that any build heeds it. We
// take it before Badger would, or another process might change what is being checked. It
// is a bare descriptor: where Badger is left behind, it must stay until the process ends.
type lock int

const noLock lock = -1

// errNotFolder is said of a database that is no folder.
const errNotFolder = unix.ENOTDIR

// lockFolder locks the database in path; ErrBusy when a process has it.
func lockFolder(dir, path string) (lock, error) {
	var fd int
	var err error
	for {
		if fd, err = unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_DIRECTORY, 0); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		return noLock, fmt.Errorf("store: %w", &fs.PathError{Op: "open", Path: path, Err: err})
	}
	err = unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		return lock(fd), nil
	}
	_ = unix.Close(fd) // nothing was written
	if errors.Is(err, unix.EWOULDBLOCK) {
		return noLock, busy(dir)
	}
	return noLock, fmt.Errorf("store %s: %w", dir, err)
}

// Guard keeps a database's folder locked while the database is closed and opened again: no
// other process gets it in between. The zero value has no lock; who opens takes one then.
type Guard struct{ held lock }

// Keep has the lock outlast Close. Opening the database under the guard takes it back.
func (d *Database) Keep() *Guard {
	g := &Guard{d.held}
	d.held = noLock
	return g
}

// take returns the guard's lock, or a new one.
func (g *Guard) take(dir, path string) (lock, error) {
	if g == nil || g.held == noLock {
		return lockFolder(dir, path)
	}
	held := g.held
	g.held = noLock
	return held, nil
}

// Release unlocks the folder, unless its database is open again.
func (g *Guard) Release() { g.held.release() }

// Free returns ErrBusy while a process has the database in path; dir is its store's.
func Free(dir, path string) error {
	held, err := lockFolder(dir, path)
	held.release()
	return err
}

// release ends the lock, if there is one. To close its descriptor is not enough: a process
// that is being started has a copy of it until it runs its program.
func (l *lock) release() {
	if *l != noLock {
		_ = unix.Flock(int(*l), unix.LOCK_UN) // closing does it soon, too
		_ = unix.Close(int(*l))               // nothing was written
	}
	*l = noLock
}

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
