//go:build unix

package cli

import (
	"time"

	"golang.org/x/sys/unix"
)

// Worked returns the processor time used by this process; nil if unknown.
func Worked() *time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return nil
	}
	d := time.Duration(u.Utime.Nano() + u.Stime.Nano())
	return &d
}
