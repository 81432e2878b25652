//go:build !noui

package ui

import (
	"embed"
	"io/fs"
)

//go:embed dist
var bundle embed.FS

// Files returns the page's files, among them index.html; false if the build leaves them out (tag noui).
func Files() (fs.FS, bool) {
	files, err := fs.Sub(bundle, "dist")
	return files, err == nil
}
