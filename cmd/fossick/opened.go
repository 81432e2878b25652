package main

import (
	"fmt"
	"strings"

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

// asOpened is a setting as it is told.
func asOpened(flag, value string) string {
	if flag == "proxy" {
		value = redactProxy(value)
	}
	return "--" + flag + " " + value
}

// tellOpened says in one line what a store's settings have opened that the command line
// left open.
func (saved *crawlSettings) tellOpened(a *app, given crawlSettings, dir string) {
	var opened []string
	if len(given.AllowNet) == 0 && len(saved.AllowNet) > 0 {
		opened = append(opened, asOpened("allow-net", strings.Join(saved.AllowNet, ",")))
	}
	if given.Listen == "" && saved.Listen != "" {
		opened = append(opened, asOpened("listen", saved.Listen))
	}
	if given.Proxy == "" && saved.Proxy != "" {
		opened = append(opened, asOpened("proxy", saved.Proxy))
	}
	if len(opened) > 0 {
		a.say("the crawl in %s goes on with its %s", dir, strings.Join(opened, ", "))
	}
}

// stranger is what a working folder's file may open.
var stranger = settings.Stranger{
	Refuse: ofWorkingFolder,
	Tell: func(flag, value string) string {
		if !opens(flag) {
			return ""
		}
		return asOpened(flag, value)
	},
}
