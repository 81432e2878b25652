package store

import (
	"errors"
	"fmt"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/badger/v4"
	"golang.org/x/sys/unix"

	"fossick/store/badgerfiles"
)

// syncEvery bounds the loss in a power cut. A kill loses nothing, since the kernel has the commits.
const syncEvery = 5 * time.Second

// trimEvery is the interval of memory checks beside the writer. During a compaction a commit may
// wait for seconds, and a quarter of a second maps a hundred MiB.
const trimEvery = 20 * time.Millisecond

// An unused store is checked less often, so that a crawl whose hosts are all in their delay costs
// nothing. Compactions that are still running map some 80 MiB; after stillAfter there are none.
const (
	quietAfter = 200 * time.Millisecond
	quietEvery = 200 * time.Millisecond
	stillAfter = time.Minute
	stillEvery = 5 * time.Second
)

// trimBytes is how much the writer writes between two trims: about twenty pages.
const trimBytes = 64 << 10

// upkeep is an open store's background work: syncing, freeing memory, checking disk and tables.
type upkeep struct {
	db   *badgerfiles.Database
	disk *disk
	read *records
	stop chan struct{}
	kept sync.WaitGroup

	committing atomic.Bool // a commit is under way and may wait for a compaction, which maps tables
	commits    atomic.Uint64
	untrimmed  int // bytes written since the last trim; only the writer uses it
}

func keepUp(db *badgerfiles.Database, disk *disk, read *records) *upkeep {
	u := &upkeep{db: db, disk: disk, read: read, stop: make(chan struct{})}
	u.every(syncEvery, u.sync())
	u.every(badgerfiles.RenewEvery, after(&u.commits, db.Renew))
	u.every(badgerfiles.CheckEvery, after(&read.uses, db.CheckNext))
	u.beside(u.trim)
	return u
}

func (u *upkeep) beside(f func(stop <-chan struct{})) { u.kept.Go(func() { f(u.stop) }) }

// every repeats do while it returns true. Each call has its own goroutine, because a sync may wait
// for seconds while a compaction maps more.
func (u *upkeep) every(pause time.Duration, do func() (goOn bool)) {
	u.beside(func(stop <-chan struct{}) {
		tick := time.NewTicker(pause)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if !do() {
					return
				}
			case <-stop:
				return
			}
		}
	})
}

// after skips do while the count is unchanged.
func after(count *atomic.Uint64, do func() (goOn bool)) func() (goOn bool) {
	var last uint64
	return func() bool {
		now := count.Load()
		if now == last {
			return true
		}
		last = now
		return do()
	}
}

func (u *upkeep) end() {
	close(u.stop)
	u.kept.Wait()
}

// commit commits a transaction; stays means that it holds a record that is never removed.
func (u *upkeep) commit(txn *badger.Txn, bytes int, stays bool) error {
	u.committing.Store(true)
	u.read.use()
	defer u.committing.Store(false)
	err := u.db.Commit(txn)
	u.commits.Add(1) // a failed commit may be partly written
	if err != nil {
		return u.disk.report(err)
	}
	if stays {
		u.db.Reached(txn)
	}
	if u.untrimmed += bytes; u.untrimmed >= trimBytes {
		u.untrimmed = 0
		_ = u.db.Trim(true) // safe in the only writer, see badgerfiles; a failed trim is not the batch's error
	}
	return nil
}

func (u *upkeep) sync() func() (goOn bool) {
	var synced uint64
	return func() bool {
		if now := u.commits.Load(); now != synced && u.db.SyncLogs() == nil {
			synced = now
		} // if the disk fails, the next commit reports it
		u.disk.look()
		return true
	}
}

// trim frees memory beside the writer, and checks the free disk space, until stop is closed. It
// sleeps longer while nobody uses the store; a use wakes it.
func (u *upkeep) trim(stop <-chan struct{}) {
	next := time.NewTimer(trimEvery)
	defer next.Stop()
	var uses uint64         // of the store at the last check
	var quiet time.Duration // time since uses changed
	for {
		select {
		case <-next.C:
		case <-u.read.woken:
		case <-stop:
			return
		}
		_ = u.db.Trim(false) // harmless if it fails, as in commit
		u.disk.lookForRoom() // another program may fill the disk in less than syncEvery
		if now := u.read.uses.Load(); now != uses || u.committing.Load() {
			uses, quiet = now, 0
		}
		pause := pauseOf(quiet)
		if pause > trimEvery && !u.read.wakes(uses) {
			pause = trimEvery
		}
		quiet += pause
		next.Reset(pause)
	}
}

func pauseOf(quiet time.Duration) time.Duration {
	switch {
	case quiet >= stillAfter:
		return stillEvery
	case quiet >= quietAfter:
		return quietEvery
	}
	return trimEvery
}

var ErrGone = errors.New("the store's folder was removed or moved while it was in use")

// disk watches free space and the folder of an open store. It is safe for concurrent use.
type disk struct {
	dir    string
	path   string
	folder os.FileInfo

	gone     atomic.Bool
	full     atomic.Pointer[error] // why there is too little room to write, or nil
	reported atomic.Bool

	free atomic.Pointer[func(dir string) (room, error)]
}

func watchDisk(dir, path string) (*disk, error) {
	folder, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", dir, err)
	}
	d := &disk{dir: dir, path: path, folder: folder}
	d.look()
	return d, nil
}

func (d *disk) look() {
	d.gone.Store(d.here() != nil)
	d.lookForRoom()
}

// here checks that the database's folder is still the one that was opened. Badger would write on
// into unlinked files and retry for ever at the end: a crawl could run for days and store nothing.
func (d *disk) here() error {
	now, err := os.Stat(d.path)
	if err == nil && os.SameFile(now, d.folder) {
		return nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil // an unknown state does not count as gone
	}
	return fmt.Errorf("%s: %w; put it back where it was and go on with --resume", d.dir, ErrGone)
}

func (d *disk) room() (room, error) {
	if free := d.free.Load(); free != nil {
		return (*free)(d.dir)
	}
	return freeRoom(d.dir)
}

func (d *disk) lookForRoom() {
	free, err := d.room()
	if err != nil {
		return
	}
	if err = free.shortOf(room{minFreeBytes, minFreeFiles}, d.dir); err == nil {
		d.full.Store(nil)
		return
	}
	err = fmt.Errorf("%w; make room and do it again, a crawl with --resume", err)
	d.full.Store(&err)
}

// refusal returns why nothing can be committed, or nil; failure is the database's error.
func (d *disk) refusal(failure error) error {
	if d.gone.Load() {
		if err := d.here(); err != nil {
			return err
		}
	}
	if full := d.full.Load(); failure == nil && full != nil {
		failure = *full
	}
	return d.report(failure)
}

func (d *disk) report(err error) error {
	if err != nil {
		d.reported.Store(true)
	}
	return err
}

// unreported returns err unless a commit has already returned it.
func (d *disk) unreported(err error) error {
	if d.reported.Load() {
		return nil
	}
	return err
}

// shortToClose returns the reason why closing may run out of room, or nil.
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

type room struct {
	bytes uint64
	files uint64 // how many more files it can hold; the largest number if there is no limit
}

// minFreeBytes is the free space at which a crawl stops. A write to a mapped page without disk
// space kills the process, so the store refuses writes while a memtable and its flush still fit.
const minFreeBytes = 256 << 20

// minFreeFiles is the same for files: up to 13 tables are made at once.
const minFreeFiles = 64

// minOpenBytes and minOpenFiles are needed on opening, for new mapped logs.
const (
	minOpenBytes = 16 << 20
	minOpenFiles = 8
)

// minCloseBytes is needed to flush memtables on closing; otherwise the next opening does that.
const minCloseBytes = 64 << 20

func freeRoom(dir string) (room, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return room{}, fmt.Errorf("free space of %s: %w", dir, err)
	}
	// Signed on FreeBSD, where a negative number is space that only root may use.
	r := room{bytes: uint64(max(st.Bavail, 0)) * uint64(st.Bsize), files: uint64(max(st.Ffree, 0))}
	if st.Files == 0 { // btrfs, for example, has no limit on files
		r.files = math.MaxUint64
	}
	return r, nil
}

func (r room) shortOf(want room, dir string) error {
	switch {
	case r.bytes < want.bytes:
		return fmt.Errorf("%s: %w (%d MiB free, %d MiB are needed)", dir, ErrDiskFull, r.bytes>>20, want.bytes>>20)
	case r.files < want.files:
		return fmt.Errorf("%s: %w (it can hold %d more files, %d are needed; see df -i)", dir, ErrDiskFull, r.files, want.files)
	}
	return nil
}

func roomToMake(dir string) error {
	if free, err := freeRoom(dir); err == nil {
		if err := free.shortOf(room{minFreeBytes, minFreeFiles}, dir); err != nil {
			return fmt.Errorf("%w; make room first, or give a folder on another disk", err)
		}
	}
	return nil
}

// writable checks permissions and room. Even a reader writes, to recover from a kill.
func writable(dir, path string) error {
	if _, err := os.Stat(path); err != nil {
		path = dir
	}
	if err := unix.Access(path, unix.W_OK); err != nil {
		return fmt.Errorf("%s: the store cannot be written to, which opening it needs: %w; change its permissions or its disk, or work on a copy", dir, err)
	}
	if free, err := freeRoom(path); err == nil {
		if err := free.shortOf(room{minOpenBytes, minOpenFiles}, dir); err != nil {
			return fmt.Errorf("%w; make room first", err)
		}
	}
	return nil
}
