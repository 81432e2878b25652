package badgerfiles

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"
	"golang.org/x/sys/unix"

	"fossick/internal/fileio"
)

// lock is Badger's own lock on a database's folder, taken before our checks. It is a bare
// descriptor, because it must last until the process ends if Badger is abandoned.
type lock int

const noLock lock = -1

const errNotFolder = unix.ENOTDIR

// lockFolder locks a database, or returns ErrBusy if a process has it.
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
	_ = unix.Close(fd)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return noLock, busy(dir)
	}
	return noLock, fmt.Errorf("store %s: %w", dir, err)
}

// Guard keeps a database locked from Close to the next opening. The zero value holds no lock.
type Guard struct{ held lock }

// Keep makes the lock survive Close. Opening with the guard takes the lock back.
func (d *Database) Keep() *Guard {
	g := &Guard{d.held}
	d.held = noLock
	return g
}

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

// Free returns ErrBusy while a process has the database in path; dir is the store's folder.
func Free(dir, path string) error {
	held, err := lockFolder(dir, path)
	held.release()
	return err
}

// release unlocks explicitly, since a starting child process still holds a copy of the descriptor.
func (l *lock) release() {
	if *l != noLock {
		_ = unix.Flock(int(*l), unix.LOCK_UN) // closing soon does so, too
		_ = unix.Close(int(*l))
	}
	*l = noLock
}

// OpenView opens a view of a database, damaged or not. It changes no file of the database.
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

// makeView makes a folder with the readable part of the database. Tables and value logs are links,
// since nobody writes to them; the manifest and the memtables' logs are copies. A newer, empty
// value log keeps Badger from truncating the newest one.
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

func show(path, view, name string) error {
	from, to := filepath.Join(path, name), filepath.Join(view, name)
	switch ext := filepath.Ext(name); {
	case ext == ".vlog" && !hasEntries(from):
		return nil // Badger removes such a log, and would empty the original first
	case ext == ".sst", ext == ".vlog" && !saysEncrypted(from):
		return os.Symlink(from, to)
	case ext == ".vlog": // its header will be corrected
		return copyFile(to, from)
	case ext == ".mem", name == badger.ManifestFilename, name == badger.KeyRegistryFileName:
		return copyFile(to, from)
	}
	return nil // locks, statistics, leftovers of a kill
}

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

func saysEncrypted(name string) bool {
	f := findings{}
	return f.checkHead(name) == nil && len(f.heads) > 0
}

func hasEntries(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Size() > logHead
}

// addLog makes an empty, newest value log, since Badger may truncate the newest one.
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
	return fileio.SyncFolder(path)
}
