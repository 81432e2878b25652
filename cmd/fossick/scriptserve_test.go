package main

import (
	"context"

	"github.com/rogpeppe/go-internal/testscript"

	"fossick/datasets/web"
)

// serveSetCmd is the command "serveset SET" of scripts: it serves a set of the
// script's folder until the script ends, and sets $PROXY to it.
func serveSetCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: serveset SET")
	}
	addr, stop, err := serve(context.Background(), ts.MkAbs(args[0]), web.Options{})
	ts.Check(err)
	ts.Defer(stop)
	ts.Setenv("PROXY", "http://"+addr)
}
