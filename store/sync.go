package store

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/badger/v4"

	"fossick/store/badgerfiles"
)

// syncEvery bounds what a power cut can cost. A kill of the process costs
// nothing: what is committed is in the kernel's hands.
const syncEvery = 5 * time.Second

// trimEvery is how often memory is looked at beside the writer. While Badger
// compacts, a commit may wait for seconds, and a hundred MiB are mapped in a
// quarter of one.
const trimEvery = 20 * time.Millisecond

// A store that nobody used for quietAfter is looked at every quietEvery: a crawl whose
// hosts all rest should cost nothing. Compactions that still go on map some 80 MiB in
// between; after stillAfter there are none.
const (
	quietAfter = 200 * time.Millisecond
	quietEvery = 200 * time.Millisecond
	stillAfter = time.Minute
	stillEvery = 5 * time.Second
)

// trimBytes is how much the writer writes before it trims, about twenty pages.
const trimBytes = 64 << 10

// upkeep is what an open store does beside its users: it syncs, gives memory back, and
// looks at the disk and the tables.
type upkeep struct {
	db   *badgerfiles.Database
	disk *disk
	read *records
	stop chan struct{} // closed at the end
	kept sync.WaitGroup

	committing atomic.Bool   // a commit may wait for a compaction, which maps tables
	commits    atomic.Uint64 // done so far
	untrimmed  int           // bytes written since the last trim; the writer's
}

func keepUp(db *badgerfiles.Database, disk *disk, read *records) *upkeep {
	u := &upkeep{db: db, disk: disk, read: read, stop: make(chan struct{})}
	u.every(syncEvery, u.sync())
	u.every(badgerfiles.RenewEvery, after(&u.commits, db.Renew))
	u.every(badgerfiles.CheckEvery, after(&read.uses, db.CheckNext))
	u.beside(u.trim)
	return u
}

// beside runs something that ends when stop is closed.
func (u *upkeep) beside(f func(stop <-chan struct{})) { u.kept.Go(func() { f(u.stop) }) }

// every does something again and again, as long as it goes on. Each has a goroutine of
// its own: a sync may wait for the disk for seconds, while a compaction maps more.
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

// after is do, left out where the count is what it was when do last began.
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

// end waits until nothing runs any more.
func (u *upkeep) end() {
	close(u.stop)
	u.kept.Wait()
}

// commit commits what the only writer wrote, so many bytes, with a record or not that
// stays for good.
func (u *upkeep) commit(txn *badger.Txn, bytes int, stays bool) error {
	u.committing.Store(true)
	u.read.use()
	defer u.committing.Store(false)
	err := u.db.Commit(txn)
	u.commits.Add(1) // of one that failed a part may be written
	if err != nil {
		return u.disk.tell(err)
	}
	if stays {
		u.db.Reached(txn)
	}
	if u.untrimmed += bytes; u.untrimmed >= trimBytes {
		u.untrimmed = 0
		_ = u.db.Trim(true) // in the only writer, see badgerfiles; no error of the batch
	}
	return nil
}

// sync returns what syncs what was committed, and looks at the disk.
func (u *upkeep) sync() func() (goOn bool) {
	var synced uint64 // commits
	return func() bool {
		if now := u.commits.Load(); now != synced && u.db.SyncLogs() == nil {
			synced = now
		} // else the next commit tells of a disk that fails
		u.disk.look()
		return true
	}
}

// trim gives memory back beside the writer, and looks how full the disk is, until stop is
// closed. It sleeps longer while nobody uses the store, and who does wakes it.
func (u *upkeep) trim(stop <-chan struct{}) {
	next := time.NewTimer(trimEvery)
	defer next.Stop()
	var uses uint64         // of the store, as the last look saw them
	var quiet time.Duration // since they changed
	for {
		select {
		case <-next.C:
		case <-u.read.woken:
		case <-stop:
			return
		}
		_ = u.db.Trim(false) // no harm if it cannot: see commit
		u.disk.lookForRoom() // another program fills a disk in less than syncEvery
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

// pauseOf returns how long trim sleeps when the store is quiet for so long.
func pauseOf(quiet time.Duration) time.Duration {
	switch {
	case quiet >= stillAfter:
		return stillEvery
	case quiet >= quietAfter:
		return quietEvery
	}
	return trimEvery
}
