//go:build !unix

package cli

import "time"

// Worked returns nil: the processor time is unknown here.
func Worked() *time.Duration { return nil }
