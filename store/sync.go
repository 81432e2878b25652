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

// A store that nobody used in the last quietAfter looks is looked at every quietEvery
// looks: a crawl whose hosts all rest should cost nothing. Compactions that still go
// on map some 80 MiB in between.
const (
	quietAfter = 50
	quietEvery = 10
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

	committing atomic.Bool // a commit may wait for a compaction, which maps tables
	untrimmed  int         // bytes written since the last trim; the writer's
	quiet      int         // looks of trim since the store was used
}

func keepUp(db *badgerfiles.Database, disk *disk, read *records) *upkeep {
	u := &upkeep{db: db, disk: disk, read: read, stop: make(chan struct{})}
	u.every(syncEvery, u.sync)
	u.every(trimEvery, u.trim)
	u.every(badgerfiles.RenewEvery, db.Renew)
	u.every(badgerfiles.CheckEvery, db.CheckNext)
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

// end waits until nothing runs any more.
func (u *upkeep) end() {
	close(u.stop)
	u.kept.Wait()
}

// commit commits what the only writer wrote, so many bytes, with a record or not that
// stays for good.
func (u *upkeep) commit(txn *badger.Txn, bytes int, stays bool) error {
	u.committing.Store(true)
	defer u.committing.Store(false)
	if err := u.db.Commit(txn); err != nil {
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

// sync syncs what was committed, and looks at the disk.
func (u *upkeep) sync() (goOn bool) {
	_ = u.db.SyncLogs() // the next commit tells of a disk that fails
	u.disk.look()
	return true
}

// trim gives memory back beside the writer, and looks how full the disk is.
func (u *upkeep) trim() (goOn bool) {
	if u.quiet++; u.read.used.Swap(false) || u.committing.Load() {
		u.quiet = 0
	}
	if u.quiet <= quietAfter || u.quiet%quietEvery == 0 {
		_ = u.db.Trim(false) // no harm if it cannot: see commit
		u.disk.lookForRoom() // another program fills a disk in less than syncEvery
	}
	return true
}
