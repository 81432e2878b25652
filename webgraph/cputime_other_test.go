//go:build !unix

package webgraph

import (
	"testing"
	"time"
)

// cpuTime is not known here: benchmarks give their figures by the clock.
func cpuTime(testing.TB) time.Duration { return time.Since(began) }

var began = time.Now()
