//go:build noui

package ui

import "io/fs"

// Files returns the page's files; false if the build leaves them out (tag noui).
func Files() (fs.FS, bool) { return nil, false }
