package store

import (
	"fmt"
	"path/filepath"
)

// AgentDir is where in the folder of a crawl by several agents the store of one is.
func AgentDir(dir string, agent int) string {
	return filepath.Join(dir, fmt.Sprintf("agent-%d", agent))
}

// AgentDirs returns the stores in the folder of a crawl by several agents; none where it is
// no such folder.
func AgentDirs(dir string) (dirs []string) {
	for Exists(AgentDir(dir, len(dirs))) {
		dirs = append(dirs, AgentDir(dir, len(dirs)))
	}
	return dirs
}
