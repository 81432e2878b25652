package main

import (
	"bytes"
	"log"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// TestDeafVerbs: verbs that ignore a signal are ended, orderly ones only by a second signal.
func TestDeafVerbs(t *testing.T) {
	for name, c := range map[string]struct {
		orderly, hears bool
		within         time.Duration
		second         time.Duration // 0: no second signal
		want           time.Duration // when the process is ended; 0: never
	}{
		"deaf":                 {want: deafAfter},
		"deaf, asked again":    {second: time.Second, want: time.Second},
		"hears":                {hears: true},
		"a crawl":              {orderly: true},
		"an agent":             {orderly: true, within: 9 * time.Second, want: 9 * time.Second},
		"an agent that hears":  {orderly: true, within: 9 * time.Second, hears: true},
		"a crawl, asked again": {orderly: true, second: time.Minute, want: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, ended := time.Now(), time.Duration(0)
				cancelled := make(chan struct{})
				s := &signals{done: make(chan struct{}), first: func() { close(cancelled) }, exit: func() {
					if ended == 0 {
						ended = time.Since(began)
					}
				}}
				if c.within > 0 {
					s.Within(c.within)
				} else if c.orderly {
					s.InOrder()
				}
				signals, watched := make(chan os.Signal, 2), make(chan struct{})
				go func() {
					defer close(watched)
					s.watch(signals)
				}()
				signals <- syscall.SIGTERM
				<-cancelled
				if c.second > 0 {
					time.Sleep(c.second)
					signals <- syscall.SIGTERM
				}
				if !c.hears {
					time.Sleep(time.Hour)
				}
				synctest.Wait()
				close(s.done)
				<-watched
				if ended != c.want {
					t.Errorf("the process ended after %v, want %v", ended, c.want)
				}
			})
		})
	}
}

// TestLibraryLog: a library's last words are shown; net/http's remarks need --verbose.
func TestLibraryLog(t *testing.T) {
	var out bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&out, nil))
	log.New(libraryLog{logger, badgerCode}, "", 0).Print("Unsolicited response received on idle HTTP channel")
	if out.Len() > 0 {
		t.Errorf("%q", out.String())
	}
	log.New(libraryLog{logger, "fossick/"}, "", 0).Printf(" err: %s", "input/output error")
	if got := out.String(); strings.Count(got, "level=ERROR") != 1 || !strings.Contains(got, "input/output error") {
		t.Errorf("%q, want one error with its reason", got)
	}
}
