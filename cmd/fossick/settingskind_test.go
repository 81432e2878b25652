package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"fossick/internal/cli"
)

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
			if err := put(cli.FileName); err != nil {
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
