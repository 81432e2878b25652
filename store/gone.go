package store

import (
	"errors"
	"fmt"
	"os"
)

// ErrGone reports a store whose folder was removed or moved away while it was open.
var ErrGone = errors.New("the store's folder was removed or moved while it was in use")

// here says whether the database's folder is still the one that was opened. Badger
// writes on into files that have no name any more, and at its end tries for ever
// to make new ones where no folder is: a crawl would go on for days, store nothing,
// and never end.
func (s *Store) here() error {
	now, err := os.Stat(s.db.Path())
	if err == nil && os.SameFile(now, s.folder) {
		return nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil // unknown is not gone
	}
	return fmt.Errorf("%s: %w; what was stored is where it went, if anywhere: put it back and go on with --resume", s.dir, ErrGone)
}
