package bus

import (
	"fmt"
	"log/slog"
	"sync"
)

// serverLog gives what the server tells to the caller's log. Safe for concurrent use.
type serverLog struct {
	to *slog.Logger

	mu   sync.Mutex
	died error // guarded by mu: why the server cannot run
}

func newServerLog(to *slog.Logger) *serverLog {
	if to == nil {
		to = slog.New(slog.DiscardHandler)
	}
	return &serverLog{to: to.With("part", "exchange")}
}

// fatal returns why the server cannot run.
func (l *serverLog) fatal() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.died
}

// Noticef, Warnf, Errorf, Fatalf, Debugf and Tracef are the library's levels. Peers that are
// not there, or go, are its errors and no more than a warning here. What a connection says
// (Tracef) is not kept.
func (l *serverLog) Noticef(format string, v ...any) { l.to.Debug(fmt.Sprintf(format, v...)) }

// Debugf: see Noticef.
func (l *serverLog) Debugf(format string, v ...any) { l.to.Debug(fmt.Sprintf(format, v...)) }

// Warnf: see Noticef.
func (l *serverLog) Warnf(format string, v ...any) { l.to.Warn(fmt.Sprintf(format, v...)) }

// Errorf: see Noticef.
func (l *serverLog) Errorf(format string, v ...any) { l.to.Warn(fmt.Sprintf(format, v...)) }

// Tracef: see Noticef.
func (l *serverLog) Tracef(string, ...any) {}

// Fatalf: see Noticef. The library expects the process to end; Serve says so instead.
func (l *serverLog) Fatalf(format string, v ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.died = fmt.Errorf(format, v...)
	l.to.Error(l.died.Error())
}
