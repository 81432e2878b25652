//go:build !unix

package main

import "time"

// workedFor is not known here.
func workedFor() *time.Duration { return nil }
