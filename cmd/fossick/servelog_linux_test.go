package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestOpenLog: a request log is an ordinary file or the process's own output. A named pipe that
// nobody reads, or that somebody does, and a device are refused at once.
func TestOpenLog(t *testing.T) {
	dir := t.TempDir()
	pipe, read := filepath.Join(dir, "pipe"), filepath.Join(dir, "read")
	for _, path := range []string{pipe, read} {
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Skip(err)
		}
	}
	reader, err := os.OpenFile(read, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	for path, good := range map[string]bool{
		filepath.Join(dir, "log"): true, "/dev/stdout": true, "/dev/stderr": true,
		pipe: false, read: false, dir: false, "/dev/null": false, filepath.Join(dir, "none", "log"): false,
	} {
		f, err := openLog(path)
		if (err == nil) != good {
			t.Errorf("%s: %v; want it opened: %v", path, err, good)
		}
		if err == nil {
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
		if path == read && (err == nil || !strings.Contains(err.Error(), "no ordinary file")) {
			t.Errorf("a pipe that is read: %v", err)
		}
	}
}
