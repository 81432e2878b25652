//go:build !unix

package process

import "time"

// Worked is not known here.
func Worked() *time.Duration { return nil }
