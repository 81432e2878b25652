//go:build !unix

package cli

import "time"

// Worked is not known here.
func Worked() *time.Duration { return nil }
