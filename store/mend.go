package store

import (
	"fmt"
	"path/filepath"

	"fossick/store/badgerfiles"
)

// MendTables takes out of the closed store in dir the tables that its manifest names
// and that are not there, and brings those back which they were to replace, if they
// are. It returns what it found; Repair must then say whether records are missing.
func MendTables(dir string) ([]Problem, error) {
	if Exists(dir) {
		if err := refuseForeign(dir); err != nil {
			return nil, err
		}
	}
	path := filepath.Join(dir, database)
	missing, err := badgerfiles.Mend(dir, path, options(path), plain())
	var problems []Problem
	for _, id := range missing {
		problems = append(problems, Problem{
			Key: fmt.Sprintf("table %d", id), What: "it is named and not there, as after a disk that failed",
			Repair: "taken off the list of tables; what else is found says if records were in it",
		})
	}
	return problems, err
}
