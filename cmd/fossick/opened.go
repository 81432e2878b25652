package main

import (
	"fmt"

	"fossick/crawlplan"
	"fossick/internal/settings"
)

// opens says whether a flag opens the guard or a listener, or leads all requests
// elsewhere. A working folder and a store may be a stranger's, so what they set of it
// is told.
func opens(flag string) bool {
	switch flag {
	case "allow-net", "proxy", "listen", "pprof", "addr":
		return true
	}
	return false
}

// ofWorkingFolder refuses what the working folder's file must not set.
func ofWorkingFolder(flag, place string) error {
	if flag != "allow-net" {
		return nil
	}
	return fmt.Errorf("%s: a working folder's file must not open the guard, for it may be a stranger's; take the line away, and give --allow-net on the command line or in your own settings", place)
}

// readSettings reads what the working folder and the user have set.
func readSettings() *settings.Settings {
	return settings.Read(ofWorkingFolder, func(flag, value string) string {
		if !opens(flag) {
			return ""
		}
		return crawlplan.Opens(flag, value)
	})
}
