package main

import (
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"fossick/internal/settings"
	"fossick/internal/terminal"
)

// TestDeafVerbs: a verb that does not hear a signal is ended after a while, a crawl that
// finishes what is in flight only by a second signal, and one that hears is left alone.
func TestDeafVerbs(t *testing.T) {
	for name, c := range map[string]struct {
		orderly, hears bool
		second         time.Duration // 0: none comes
		want           time.Duration // when the process ends; 0: it is not made to
	}{
		"deaf":                 {want: deafAfter},
		"deaf, asked again":    {second: time.Second, want: time.Second},
		"hears":                {hears: true},
		"a crawl":              {orderly: true},
		"a crawl, asked again": {orderly: true, second: time.Minute, want: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := &app{stderr: io.Discard, screen: terminal.New(io.Discard, terminal.Options{}), orderly: new(atomic.Bool)}
				if c.orderly {
					a.endsInOrder()
				}
				signals, done, cancelled := make(chan os.Signal, 2), make(chan struct{}), make(chan struct{})
				began, ended := time.Now(), time.Duration(0)
				watched := make(chan struct{})
				go func() {
					defer close(watched)
					a.watch(signals, done, func() { close(cancelled) }, func(code int) {
						if code != exitInterrupted {
							t.Errorf("exit code %d", code)
						}
						if ended == 0 {
							ended = time.Since(began)
						}
					})
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
				close(done)
				<-watched
				if ended != c.want {
					t.Errorf("the process ended after %v, want %v", ended, c.want)
				}
			})
		})
	}
}

// TestSettingsOfAnyKind: what stands in a folder in place of settings and topics is refused
// at once, whatever it is, with what to do.
func TestSettingsOfAnyKind(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"pipe":    func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"endless": func(path string) error { return os.Symlink("/dev/zero", path) },
		"folder":  func(path string) error { return os.Mkdir(path, 0o700) },
		"large":   func(path string) error { return os.WriteFile(path, make([]byte, 2<<20), 0o600) },
		"dotted":  func(path string) error { return os.WriteFile(path, dotted100k(), 0o600) },
		"dotted tables": func(path string) error {
			return os.WriteFile(path, append(append([]byte("["), dotted100k()...), ']'), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			t.Setenv("XDG_CONFIG_HOME", t.TempDir())
			if err := os.MkdirAll(filepath.Join("topics", "own"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := put(filepath.Join("topics", "own", "topic.toml")); err != nil {
				t.Fatal(err)
			}
			if code, told := runForErrors(t, []string{"topic", "show", "own"}); code != exitFailed {
				t.Errorf("a topic: exit code %d, %s", code, told)
			}
			if err := put(settings.Name); err != nil {
				t.Fatal(err)
			}
			if code, told := runForErrors(t, []string{"version"}); code != exitUsage || len(told) > 300 {
				t.Errorf("settings: exit code %d, %.300s", code, told)
			}
		})
	}
}

// dotted100k is one key of 100,000 parts: it cost 5.5 GB.
func dotted100k() []byte {
	text := make([]byte, 200_000)
	for i := range text {
		text[i] = "a."[i%2]
	}
	return append(text, "a"...)
}
