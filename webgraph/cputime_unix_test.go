//go:build unix

package webgraph

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime is the processor time of this process, which other processes do not
// change much.
func cpuTime(tb testing.TB) time.Duration {
	tb.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
