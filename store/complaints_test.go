package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"fossick/internal/fulltest"
)

// childStarves makes the child of childDir use the store without the right to open
// one more file: "close" it after a commit, or "commit" on and on.
const childStarves = "FOSSICK_TEST_STORE_STARVES"

// setLimit: a limit is signed on FreeBSD alone.
func setLimit[T int64 | uint64](limit *T, to uintptr) { *limit = T(to) }

// starve acknowledges each commit; its error is what ended it.
func starve(dir string, acknowledge io.Writer) error {
	s, err := Open(dir)
	if err != nil {
		return err
	}
	next, err := os.Open(os.DevNull) // has the lowest number that is free
	if err != nil {
		return err
	}
	var limit unix.Rlimit
	setLimit(&limit.Cur, next.Fd())
	setLimit(&limit.Max, next.Fd())
	if err := errors.Join(next.Close(), unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)); err != nil {
		return err
	}
	for id := ID(1); err == nil && id <= 200_000; id += 1000 {
		b := s.Batch()
		for n := range ID(1000) {
			err = errors.Join(err, b.PutBirth(id+n, Birth{URL: fmt.Sprint(u1, id+n, strings.Repeat("x", 150))}))
		}
		if err = errors.Join(err, b.Commit()); err == nil {
			fmt.Fprintln(acknowledge, id+999)
		}
		if os.Getenv(childStarves) == "close" {
			break
		}
	}
	return errors.Join(err, s.Close())
}

// TestNoMoreFiles: a process that may open no more files cannot write a memtable
// away. Badger tries for ever, with commits and the store's end waiting behind it;
// both end all the same and say why, once, and what was acknowledged is there.
func TestNoMoreFiles(t *testing.T) {
	fulltest.Only(t, "seconds of processor time")
	for _, how := range []string{"close", "commit"} {
		t.Run(how, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "s")
			s, err := Create(dir, Info{})
			must(t, err, s.Close())
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			self, err := os.Executable()
			must(t, err)
			cmd := exec.CommandContext(ctx, self, "-test.run=^$")
			cmd.Env = append(os.Environ(), childDir+"="+dir, childStarves+"="+how)
			said, err := cmd.Output()
			if ctx.Err() != nil {
				t.Fatal("it does not end")
			}
			numbers, what, _ := strings.Cut(string(said), "error: ")
			if err == nil || strings.Count(what, "ulimit -n") != 1 {
				t.Errorf("%v: %q, want what to do, once", err, what)
			}
			done := strings.Fields(numbers)
			if len(done) == 0 {
				t.Fatal("nothing was committed")
			}
			last, err := strconv.Atoi(done[len(done)-1])
			must(t, err)
			wantBirth(t, dir, ID(last))
		})
	}
}

// TestCloseWhenFull: a store on a disk without room is left as it is, and nothing is
// lost by that.
func TestCloseWhenFull(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	s, err := Create(dir, Info{})
	must(t, err)
	alter(t, s, func(b *Batch) { must(t, b.PutBirth(1, Birth{URL: u1})) })
	none := func(string) (room, error) { return room{4096, 1 << 20}, nil }
	s.disk.free.Store(&none)
	if err := closeWithin(t, s); !errors.Is(err, ErrDiskFull) || !strings.Contains(err.Error(), "make room") {
		t.Errorf("close: %v, want ErrDiskFull and what to do", err)
	}
	if logs, err := filepath.Glob(filepath.Join(dir, database, "*.mem")); err != nil || len(logs) == 0 {
		t.Error("the memtable was written away, to a disk without room")
	}
	wantBirth(t, copyOf(t, dir), 1)
	must(t, s.db.Close())
}

func closeWithin(t *testing.T, s *Store) error {
	t.Helper()
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	select {
	case err := <-closed:
		return err
	case <-time.After(time.Minute):
		t.Fatal("close does not end")
		return nil
	}
}

// copyOf copies a store that this process still has open: it has the lock of the
// folder itself.
func copyOf(t *testing.T, dir string) string {
	t.Helper()
	copyTo(t, dir+".copy", dir)
	return dir + ".copy"
}

// copyTo is os.CopyFS that leaves the holes of logs what they are.
func copyTo(t *testing.T, to, from string) {
	t.Helper()
	must(t, filepath.WalkDir(from, func(name string, entry os.DirEntry, err error) error {
		copied := filepath.Join(to, strings.TrimPrefix(name, from))
		if err != nil || entry.IsDir() {
			return errors.Join(err, os.MkdirAll(copied, 0o755))
		}
		data, size := readData(t, name)
		return errors.Join(os.WriteFile(copied, data, 0o600), os.Truncate(copied, size))
	}))
}

// readData returns a file's content and its size. Zeros at the end that are not on the disk
// are not read: a log in use has up to 256 MiB of them.
func readData(t *testing.T, name string) (data []byte, size int64) {
	t.Helper()
	f, err := os.Open(name)
	must(t, err)
	defer f.Close()
	info, err := f.Stat()
	must(t, err)
	end := int64(0)
	for {
		at, err := f.Seek(end, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) {
			break
		}
		must(t, err)
		end, err = f.Seek(at, unix.SEEK_HOLE)
		must(t, err)
	}
	data = make([]byte, min(end, info.Size()))
	_, err = f.ReadAt(data, 0)
	must(t, err)
	return data, info.Size()
}

func wantBirth(t *testing.T, dir string, id ID) {
	t.Helper()
	s, err := Open(dir)
	must(t, err)
	if b, err := s.URLs().Birth(id); err != nil || !strings.HasPrefix(b.URL, u1) {
		t.Errorf("birth %d: %+v, %v", id, b, err)
	}
	must(t, s.Close())
}
