package ui

import "io/fs"

// Files returns the page's files; false if the build leaves them out.
func Files() (fs.FS, bool) { return nil, false }
