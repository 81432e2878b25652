package main

import (
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"

	"fossick/store"
)

// loseBody is the command "losebody STORE PAGE" of scripts. It puts in the
// place of a page's body what earlier builds stored for some: an empty frame
// that states 99 bytes.
func loseBody(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: losebody STORE PAGE")
	}
	n, err := strconv.ParseUint(args[1], 10, 64)
	ts.Check(err)
	s, err := store.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	p, err := s.Page(n)
	ts.Check(err)
	b := s.Batch()
	ts.Check(b.PutPage(p, []byte("\x28\xb5\x2f\xfd\x24\x63\x00\x00\x00\x01\x00\x00\x4f\x57\x30\x99")))
	ts.Check(b.Commit())
	ts.Check(s.Close())
}
