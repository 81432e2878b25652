package cli

import (
	"os"
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
				s := &Signals{done: make(chan struct{}), first: func() { close(cancelled) }, exit: func() {
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
