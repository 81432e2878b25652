package badgerfiles

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Errors that callers branch on.
var (
	ErrDisk     = errors.New("the disk of the store fails")
	ErrDiskFull = errors.New("the disk is nearly full")
	ErrBusy     = errors.New("another process is using the store")
	ErrDamaged  = errors.New("damaged record")
)

// patience is how long Badger may go on after its first complaint of the disk. It
// tries again without end to write what it has in memory, and neither opens, commits
// nor closes until it could.
const patience = 2 * time.Second

// complaints is Badger's log. Badger tells nobody but its log that a table could not be
// written. It tries again every second, and every commit and the end of the process
// wait. So the first complaint of the disk ends the use of the store. What was
// committed is in the logs, as after a kill, and the sooner it ends the less there is
// for repair (see manifest.go).
type complaints struct {
	dir    string
	failed chan struct{} // closed by the first one
	once   sync.Once
	err    error // the first, once failed is closed
}

func newComplaints(dir string) *complaints {
	return &complaints{dir: dir, failed: make(chan struct{})}
}

// troubles are the answers of a system that cannot write, by their texts: Badger
// wraps errors by their texts alone.
func troubles() []syscall.Errno {
	return append(linuxTroubles(),
		syscall.EIO, syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EFBIG, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM,
		syscall.ESTALE, syscall.EACCES, syscall.EPERM, syscall.ENODEV, syscall.ENXIO, syscall.ENOTCONN)
}

// troubleIn returns what the system said in the text of an error, 0 when nothing.
func troubleIn(text string) syscall.Errno {
	for _, errno := range troubles() {
		if strings.Contains(text, errno.Error()) {
			return errno
		}
	}
	return 0
}

// diskError is an error of Badger's as one of the disk, with what to do about it; nil
// when it is none.
func diskError(dir, text string) error {
	errno := troubleIn(text)
	text = strings.Join(strings.Fields(text), " ")
	switch errno {
	case 0:
		return nil
	case syscall.ENOSPC, syscall.EDQUOT:
		return fmt.Errorf("%s: %w (%s); make room, and go on with --resume", dir, ErrDiskFull, text)
	case syscall.EMFILE, syscall.ENFILE:
		return fmt.Errorf("%s: %w: %s; raise the limit of open files (ulimit -n), and go on with --resume", dir, ErrDisk, text)
	case syscall.EFBIG:
		return fmt.Errorf("%s: %w: %s; raise the limit of a file's size (ulimit -f), and go on with --resume", dir, ErrDisk, text)
	}
	return fmt.Errorf("%s: %w: %s; check the disk (dmesg), then mend the store with fossick repair %s and go on with --resume", dir, ErrDisk, text, dir)
}

func (c *complaints) fail(what string) { c.end(diskError(c.dir, what)) }

// end ends the use of the store, unless something has before.
func (c *complaints) end(err error) {
	c.once.Do(func() {
		c.err = err
		close(c.failed)
	})
}

// failure returns the first complaint, nil as long as there is none.
func (c *complaints) failure() error {
	select {
	case <-c.failed:
		return c.err
	default:
		return nil
	}
}

// bounded runs what Badger might never end; false when it was left behind, still
// running, some time after a complaint.
func (c *complaints) bounded(f func()) (ended bool) {
	done := make(chan struct{})
	go func() { f(); close(done) }()
	select {
	case <-done:
		return true
	case <-c.failed:
	}
	select {
	case <-done:
		return true
	case <-time.After(patience):
		return false
	}
}

// Errorf hears what went wrong; what is not of the disk goes to our own log.
func (c *complaints) Errorf(format string, args ...any) {
	what := fmt.Sprintf(format, args...)
	switch {
	case troubleIn(what) != 0:
		c.fail(what)
	case strings.HasPrefix(format, unreadValue), strings.HasPrefix(format, unreadVersion):
		// Badger hands out an empty value then, and who reads it says so.
	case !strings.Contains(what, emptyLog): // see open
		slog.Error("store: " + what)
	}
}

// Warningf hears of compactions that failed.
func (c *complaints) Warningf(format string, args ...any) {
	if what := fmt.Sprintf(format, args...); troubleIn(what) != 0 {
		c.fail(what)
	}
}

// Infof drops what is no trouble.
func (c *complaints) Infof(string, ...any) {}

// Debugf does so, too.
func (c *complaints) Debugf(string, ...any) {}
