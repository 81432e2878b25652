package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoInodes: a file system that can hold no more files ends a crawl as a full disk
// does, and with room again it goes on.
func TestNoInodes(t *testing.T) {
	disk := mount(t, "400m,nr_inodes=120")
	_, focus := small(t)
	dir := filepath.Join(disk, "crawl")
	if code, text := said(t, focus(dir, "--max-pages", "20")...); code != exitDone {
		t.Fatalf("with room enough: %s", text)
	}
	others := filepath.Join(disk, "others")
	if err := os.Mkdir(others, 0o755); err != nil {
		t.Fatal(err)
	}
	for n := range 200 {
		if err := os.WriteFile(filepath.Join(others, fmt.Sprint(n)), nil, 0o644); err != nil {
			break // full, as it shall be
		}
	}
	for _, args := range [][]string{focus(dir, "--resume", "--max-pages", "100"), {"repair", dir, "--compact"}} {
		code, text := said(t, args...)
		wantRefusal(t, args[0], code, text, "more files", "df -i")
	}
	if err := os.RemoveAll(others); err != nil {
		t.Fatal(err)
	}
	verifies(t, dir)
	if code, text := said(t, focus(dir, "--resume", "--max-pages", "100")...); code != exitDone {
		t.Errorf("with room again: %s", text)
	}
}

// TestFileTooLarge: a limit of a file's size (ulimit -f) is a sentence, not a signal
// that ends the process with a dump.
func TestFileTooLarge(t *testing.T) {
	_, focus := small(t)
	dir := filepath.Join(t.TempDir(), "crawl")
	args := append([]string{"-c", `ulimit -f 20000 && exec "$0" "$@"`, os.Args[0]}, focus(dir, "--max-pages", "20")...)
	cmd := exec.CommandContext(t.Context(), "sh", args...)
	cmd.Env = append(os.Environ(), beMain+"=1")
	out, _ := cmd.CombinedOutput() // its error is the exit code
	wantRefusal(t, "ulimit -f", cmd.ProcessState.ExitCode(), string(out), "ulimit -f")
	if strings.Contains(string(out), "SIGXFSZ") {
		t.Errorf("%.300s", out)
	}
}
