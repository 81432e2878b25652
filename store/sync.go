package store

import "time"

// keepSynced syncs what was committed, and looks at the disk, until Close.
func (s *Store) keepSynced() {
	tick := time.NewTicker(syncEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			_ = s.db.SyncLogs() // the next commit tells of a disk that fails
			s.watch()
		case <-s.stop:
			return
		}
	}
}

// keepTrimmed gives memory back beside the writer, and looks how full the disk is,
// until Close. It has a goroutine of
// its own: a sync may wait for the disk for seconds, while a compaction maps more.
func (s *Store) keepTrimmed() {
	tick := time.NewTicker(trimEvery)
	defer tick.Stop()
	quiet := 0
	for {
		select {
		case <-tick.C:
			if quiet++; s.used.Swap(false) || s.committing.Load() {
				quiet = 0
			}
			if quiet > quietAfter && quiet%quietEvery != 0 {
				continue
			}
			_ = s.db.Trim(false) // no harm if it cannot: see trimAfter
			s.watchRoom()        // another program fills a disk in less than syncEvery
		case <-s.stop:
			return
		}
	}
}
