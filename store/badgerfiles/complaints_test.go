package badgerfiles

import (
	"errors"
	"testing"
)

func TestTroubles(t *testing.T) {
	for text, want := range map[string]error{
		"error flushing memtable to disk: sync MANIFEST: input/output error, retrying": ErrDisk,
		"While running doCompact: no space left on device":                             ErrDiskFull,
		"truncate 000003.vlog: disk quota exceeded":                                    ErrDiskFull,
		"Block cache might be too small":                                               nil,
	} {
		log := newComplaints("dir")
		log.Warningf("%s", text)
		if err := log.failure(); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
}
