package crawler

import (
	"context"
	"fmt"
	"time"
)

const (
	// readingTime is what a page may take to be read, scored and compared. The worst that
	// is known takes a second and a half on one core, for 4 MiB of links to long names.
	readingTime = 10 * time.Second
	// readingStep is what counts at most between two looks at the clock: while the
	// process is stopped or the machine sleeps, no page is being read.
	readingStep = time.Second
)

// errTooCostly is why a page ends that takes longer than readingTime.
var errTooCostly = fmt.Errorf("page_too_costly: reading the page took more than %v; the server may send such pages on purpose", readingTime)

// budget returns what is asked between the steps of reading a page: it says why the
// reading must end, by ctx or by readingTime, nil while it may go on.
func budget(ctx context.Context, now func() time.Time) (spent func() error) {
	last, used := now(), time.Duration(0)
	return func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		at := now()
		used += min(at.Sub(last), readingStep)
		last = at
		if used > readingTime {
			return errTooCostly
		}
		return nil
	}
}
