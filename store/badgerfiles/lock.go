package badgerfiles

import (
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"
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
