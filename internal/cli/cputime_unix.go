//go:build unix

package cli

import (
	"time"

	"golang.org/x/sys/unix"
)

// Worked is how long processors have worked for this process; nil when the
// system does not tell.
func Worked() *time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return nil
	}
	d := time.Duration(u.Utime.Nano() + u.Stime.Nano())
	return &d
}
