package store

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
)

// ErrGone reports a store whose folder was removed or moved away while it was open.
var ErrGone = errors.New("the store's folder was removed or moved while it was in use")

// disk is what an open store knows of its disk: how much room it has, and whether the
// folder is still there. Safe for concurrent use.
type disk struct {
	dir    string // the store's
	path   string // the database's folder
	folder os.FileInfo

	gone atomic.Bool           // the folder is, as look saw
	full atomic.Pointer[error] // why there is too little room to write, nil when there is enough
	told atomic.Bool           // a commit has returned why the disk cannot be written to

	free atomic.Pointer[func(dir string) (room, error)] // nil but in tests
}

// watchDisk looks at the disk under the database in path, for the store in dir.
func watchDisk(dir, path string) (*disk, error) {
	folder, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", dir, err)
	}
	d := &disk{dir: dir, path: path, folder: folder}
	d.look()
	return d, nil
}

// look asks how much room the disk has, and whether the folder is still there.
func (d *disk) look() {
	d.gone.Store(d.here() != nil)
	d.lookForRoom()
}

// here says whether the database's folder is still the one that was opened.
// Badger writes on into files that have no name any more, and at its end tries
// for ever to make new ones where no folder is. A crawl would go on for days,
// store nothing, and never end.
func (d *disk) here() error {
	now, err := os.Stat(d.path)
	if err == nil && os.SameFile(now, d.folder) {
		return nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil // unknown is not gone
	}
	return fmt.Errorf("%s: %w; put it back where it was and go on with --resume", d.dir, ErrGone)
}

// room is what the disk has left; something else where a test says so.
func (d *disk) room() (room, error) {
	if free := d.free.Load(); free != nil {
		return (*free)(d.dir)
	}
	return freeRoom(d.dir)
}

// lookForRoom asks how much room the disk has.
func (d *disk) lookForRoom() {
	free, err := d.room()
	if err != nil {
		return // unknown is not full
	}
	if err = free.shortOf(room{minFreeBytes, minFreeFiles}, d.dir); err == nil {
		d.full.Store(nil)
		return
	}
	err = fmt.Errorf("%w; make room and do it again, a crawl with --resume", err)
	d.full.Store(&err)
}

// refusal says why nothing can be committed, nil when it can; failure is what the
// database has complained of.
func (d *disk) refusal(failure error) error {
	if d.gone.Load() {
		if err := d.here(); err != nil {
			return err
		}
	}
	if full := d.full.Load(); failure == nil && full != nil {
		failure = *full
	}
	return d.tell(failure)
}

// tell notes that a commit returns err, if it is one.
func (d *disk) tell(err error) error {
	if err != nil {
		d.told.Store(true)
	}
	return err
}

// untold returns err unless a commit has returned it already.
func (d *disk) untold(err error) error {
	if d.told.Load() {
		return nil
	}
	return err
}

// shortToClose says why closing may run out of room, nil when it cannot as far as is
// known.
func (d *disk) shortToClose() error {
	if free, err := d.room(); err != nil || free.shortOf(room{minCloseBytes, minOpenFiles}, d.dir) == nil {
		return nil
	}
	d.lookForRoom()
	if full := d.full.Load(); full != nil {
		return *full
	}
	return nil
}
