package reading

import (
	"io/fs"
	"path/filepath"
	"strings"
)

// Within says what keeps an entry that was met below a folder from being read as a part
// of it; "" is nothing. A link may lead to any file of the folder and to none beyond it,
// pipes and devices are no pages. The folder itself may be a link.
func Within(folder, path string, entry fs.DirEntry) string {
	switch {
	case entry.Type().IsRegular():
		return ""
	case entry.Type()&fs.ModeSymlink == 0:
		return "not a regular file"
	}
	root, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return "a link that leads nowhere"
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "a link that leads nowhere"
	}
	if rel, err := filepath.Rel(root, target); err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "a link that leads out of the folder"
	}
	if !Regular(target) {
		return "not a regular file"
	}
	return ""
}
