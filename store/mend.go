package store

import (
	"fmt"
	"path/filepath"

	"fossick/store/badgerfiles"
)

// quarantine is the folder, beside the database, of files that could not be read as a whole.
const quarantine = "quarantine"

// OpenToRead opens the store in dir for who only reads. Nothing is compacted. Of a
// store that Open refuses as damaged all is there that can be read. Verify says what is
// damaged; what is written is lost, as Temporary says.
func OpenToRead(dir string) (*Store, error) { return openStore(dir, openToRead) }

func openToRead(dir, name string) (*Store, error) {
	path := filepath.Join(dir, name)
	if err := writable(dir, path); err != nil {
		return nil, err
	}
	db, damage, err := badgerfiles.OpenToRead(dir, options(path), plain())
	if err != nil {
		return nil, err
	}
	s, err := begin(dir, db)
	if err != nil {
		return nil, err
	}
	if s.damaged = problemsOf(damage); len(damage) == 0 {
		return openToForget(s, name)
	}
	return s, nil
}

// openToForget opens a store to read that has pages to forget by Open, for that writes.
func openToForget(s *Store, name string) (*Store, error) {
	if pending, err := pendingForgets(s); err != nil || len(pending) == 0 {
		return s, nil // one that cannot be read is for Verify to tell
	}
	dir, held := s.dir, s.db.Keep()
	if err := s.Close(); err != nil {
		return nil, err
	}
	defer held.Release()
	path := filepath.Join(dir, name)
	db, err := badgerfiles.OpenUnder(held, dir, options(path), plain())
	if err != nil {
		return nil, err
	}
	return begin(dir, db)
}

// Damaged returns what OpenToRead found to be damaged, as ErrDamaged with what to do; nil
// when nothing was. What a reader says of such a store is not all that was in it.
func (s *Store) Damaged() error {
	if len(s.damaged) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %w: %s: %s; the result is incomplete; fossick repair %s keeps everything that can be read", s.Dir(), ErrDamaged, s.damaged[0].Key, s.damaged[0].What, s.Dir())
}

// mendTables makes the closed store in dir one that Open opens, out of all that can be read of
// its files, and returns what was the matter. What it replaces is kept in the folder
// quarantine of the store. Repair must then say whether records are missing.
func mendTables(dir string) ([]Problem, error) {
	if Exists(dir) {
		if err := refuseForeign(dir); err != nil {
			return nil, err
		}
	}
	path := filepath.Join(dir, database)
	damage, err := badgerfiles.Mend(dir, path, filepath.Join(dir, quarantine), options(path), plain())
	return problemsOf(damage), err
}

func problemsOf(damage []badgerfiles.Damage) (problems []Problem) {
	for _, d := range damage {
		problems = append(problems, Problem{Key: d.File, What: d.What, Repair: d.Done, Lost: d.Lost})
	}
	return problems
}
