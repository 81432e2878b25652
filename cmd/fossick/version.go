package main

import (
	"io"
	"runtime/debug"

	"github.com/alecthomas/kong"

	"fossick/internal/cli"
)

// version is the version of fossick; CHANGELOG.md has its changes.
const version = "0.1.0"

type versionCmd struct{}

func (versionCmd) Help() string { return "Example:\n  fossick version --json" }

type versionResult struct {
	Version string  `json:"version"`
	Commit  *string `json:"commit"` // null if the build does not know it
	Go      string  `json:"go"`
}

type versionFlag bool

type jsonWanted bool

func (versionFlag) BeforeReset(ctx *kong.Context, asJSON jsonWanted) error {
	r := thisVersion()
	if asJSON {
		if err := writeJSON(ctx.Stdout, r); err != nil {
			return err
		}
	} else {
		r.print(ctx.Stdout)
	}
	ctx.Exit(exitDone)
	return nil
}

func (versionCmd) Run(a *app) error {
	r := thisVersion()
	return a.emit(r, r.print)
}

func thisVersion() versionResult {
	r := versionResult{Version: version}
	if info, ok := debug.ReadBuildInfo(); ok {
		r.Go = info.GoVersion
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				r.Commit = &s.Value
			}
		}
	}
	return r
}

func (r versionResult) print(w io.Writer) {
	commit := "of an unknown commit"
	if r.Commit != nil {
		commit = *r.Commit
	}
	cli.Fprintf(w, "fossick %s, %s, %s\n", r.Version, commit, r.Go)
}
