package process

import (
	"log"
	"log/slog"
	"runtime"
	"strings"
)

// A libraryLog is where libraries' lines in Go's standard log go. net/http
// tells it of servers that break the protocol, which is of no interest to most.
// Badger tells it why it ends the process, which must not happen without a
// word.
type libraryLog struct {
	log   *slog.Logger
	fatal string // what the names of functions begin with whose words are the last
}

// badgerCode is what the names of Badger's functions begin with.
const badgerCode = "github.com/dgraph-io/"

// LogLibraries sends what libraries write to Go's own log to to.
func LogLibraries(to *slog.Logger) {
	log.SetFlags(0)
	log.SetOutput(libraryLog{to, badgerCode})
}

// Write implements io.Writer for one line of the log.
func (l libraryLog) Write(p []byte) (int, error) {
	what := strings.TrimSpace(string(p))
	if l.calledBy(l.fatal) {
		l.log.Error("the store cannot go on; committed data is safe: check the disk, then run fossick repair", "err", what)
	} else {
		l.log.Debug(what)
	}
	return len(p), nil
}

// calledBy says whether a function whose name begins so called the log.
func (l libraryLog) calledBy(prefix string) bool {
	var at [32]uintptr
	frames := runtime.CallersFrames(at[:runtime.Callers(2, at[:])])
	for more := true; more; {
		var f runtime.Frame
		if f, more = frames.Next(); strings.HasPrefix(f.Function, prefix) {
			return true
		}
	}
	return false
}
