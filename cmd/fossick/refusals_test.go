package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"fossick/datasets/web"
	"fossick/eval/monitor"
	"fossick/internal/testkit"
	"fossick/store"
)

// said runs fossick, and returns its exit code and output.
func said(t *testing.T, args ...string) (code int, text string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), beMain+"=1")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String()
}

// wantRefusal wants exit code 1, a message with these words, and no panic.
func wantRefusal(t *testing.T, what string, code int, text string, words ...string) {
	t.Helper()
	if code != exitFailed || strings.Contains(text, "goroutine ") {
		t.Errorf("%s: exit code %d, want 1 and a sentence: %.600s", what, code, text)
	}
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%s: %.600s\nwant %q in it", what, text, w)
		}
	}
}

// small serves a small web, and returns a function that makes the command line of its crawl.
func small(t *testing.T) (addr string, focus func(dir string, more ...string) []string) {
	t.Helper()
	addr, _ = served(t, linkedWeb(10, 20), web.Options{Latency: 5 * time.Millisecond})
	return addr, func(dir string, more ...string) []string {
		return append([]string{"focus", "--topic", "all", "--keywords", "the", "--threshold", "0", "--seed", "http://h0.test/0", "--quiet",
			"--proxy", "http://" + addr, "--delay", "0", "--store", dir}, more...)
	}
}

func verifies(t *testing.T, dir string) {
	t.Helper()
	if code, text := said(t, "verify", dir); code != exitDone {
		t.Errorf("verify: exit code %d: %.600s", code, text)
	}
}

// TestDiskFull checks that a nearly full disk ends a crawl with a clear error and a sound store, and
// that the crawl goes on once there is room. So it is when another program takes all space at once.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	disk := mount(t, "400m")
	_, focus := small(t)
	dir, ballast := filepath.Join(disk, "crawl"), filepath.Join(disk, "ballast")
	fossick(t, focus(dir, "--max-pages", "20")...)
	fill(t, ballast, 165)
	code, text := said(t, focus(dir, "--resume", "--max-pages", "1000", "--json")...)
	var r monitor.Result
	if err := json.Unmarshal([]byte(text[strings.Index(text, "{"):]), &r); err != nil || code != exitFailed || r.Stopped != "disk_full" {
		wantRefusal(t, "a nearly full disk", code, text, "nearly full", "make room")
	}
	testkit.Must(t, os.Remove(ballast))
	verifies(t, dir)
	log := time.Now()
	run := runFossick(t, focus(dir, "--resume", "--max-pages", "1000", "--json", "--delay", "20ms"), 10*time.Second, func() bool {
		return time.Since(log) > 300*time.Millisecond
	})
	if run.killed { // fill the disk to the last byte, with a crawl cut off in the middle
		fill(t, ballast, 400)
		code, text = said(t, "focus", "--resume", "--store", dir)
		wantRefusal(t, "a full disk", code, text, "room")
		testkit.Must(t, os.Remove(ballast))
	}
	verifies(t, dir)
	if code, text := said(t, focus(dir, "--resume", "--max-pages", "1000")...); code != exitDone {
		t.Errorf("with room again: %s", text)
	}
	verifies(t, dir)
}

// fill writes mib MiB, or less if the disk is full.
func fill(t *testing.T, name string, mib int) {
	t.Helper()
	f := testkit.Call(os.Create(name)).Must(t)
	defer f.Close()
	block := make([]byte, 1<<20)
	for range mib {
		if _, err := f.Write(block); err != nil {
			return // full, as intended
		}
	}
}

// TestReadOnlyDisk checks that a store on a read-only disk is refused with a message.
func TestReadOnlyDisk(t *testing.T) {
	disk := mount(t, "400m")
	_, focus := small(t)
	dir := filepath.Join(disk, "crawl")
	fossick(t, focus(dir, "--max-pages", "20")...)
	testkit.Must(t, remount(disk, true))
	for _, args := range [][]string{focus(dir, "--resume"), focus(filepath.Join(disk, "other")), {"verify", dir}, {"repair", dir}} {
		code, text := said(t, args...)
		wantRefusal(t, args[0], code, text, "read-only", "written to")
	}
	testkit.Must(t, remount(disk, false))
	verifies(t, dir)
}

// TestNoStore checks that folders and files that are no store are refused and left alone.
func TestNoStore(t *testing.T) {
	_, focus := small(t)
	file := filepath.Join(t.TempDir(), "file")
	testkit.Must(t, os.WriteFile(file, []byte("not a store"), 0o644))
	folder := t.TempDir()
	testkit.Must(t, os.WriteFile(filepath.Join(folder, "thesis.txt"), []byte("years of work"), 0o644))
	for _, args := range [][]string{{"verify", file}, {"verify", folder}, {"repair", folder}, focus(folder, "--resume"), focus(file)} {
		code, text := said(t, args...)
		wantRefusal(t, strings.Join(args, " "), code, text)
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v: only the thesis was there", entries, err)
	}
}

// TestBrokenDatabase breaks each file of a store in three ways. No verb panics: each reports the damage
// or goes on. None makes it worse: with the file put back, the store is sound.
func TestBrokenDatabase(t *testing.T) {
	t.Parallel()
	_, focus := small(t)
	dir := filepath.Join(t.TempDir(), "crawl")
	fossick(t, focus(dir, "--max-pages", "100")...)
	fossick(t, focus(dir, "--resume", "--max-pages", "150")...) // so that there are several files
	files, err := filepath.Glob(filepath.Join(dir, "db", "*"))
	if err != nil || len(files) < 4 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		for how, spoil := range map[string]func([]byte) []byte{
			"empty": func([]byte) []byte { return nil },
			"half":  func(b []byte) []byte { return b[:len(b)/2] },
			"noise": func(b []byte) []byte {
				b = bytes.Clone(b)
				for i := range b {
					b[i] ^= byte(i*131 + 7)
				}
				return b
			},
		} {
			t.Run(filepath.Base(name)+" "+how, func(t *testing.T) {
				copied := filepath.Join(t.TempDir(), "copy")
				testkit.Must(t, os.CopyFS(copied, os.DirFS(dir)))
				at := filepath.Join(copied, "db", filepath.Base(name))
				whole := testkit.Call(os.ReadFile(at)).Must(t)
				testkit.Must(t, os.WriteFile(at, spoil(whole), 0o644))
				code, text := said(t, "verify", copied)
				t.Logf("exit code %d: %.120s", code, text)
				if code != exitDone && code != exitFailed || strings.Contains(text, "goroutine ") || code == exitFailed && strings.TrimSpace(text) == "" {
					t.Errorf("verify: exit code %d: %.700s", code, text)
				}
			})
		}
	}
	verifies(t, dir)
}

// TestBusyStore checks that a second crawl of a store is refused with the reason, while the first goes on.
func TestBusyStore(t *testing.T) {
	t.Parallel()
	_, focus := small(t)
	dir := filepath.Join(t.TempDir(), "crawl")
	fossick(t, focus(dir, "--max-pages", "20")...)
	s := testkit.Call(store.Open(dir)).Must(t)
	var all sync.WaitGroup // each waits for the store for some seconds
	for _, args := range [][]string{focus(dir, "--resume"), focus(dir), {"verify", dir}, {"repair", dir}} {
		all.Go(func() {
			code, text := said(t, args...)
			wantRefusal(t, args[0], code, text, "another process is using the store")
		})
	}
	all.Wait()
	testkit.Must(t, s.Close())
	verifies(t, dir)
}

// TestNoInodes checks that a crawl ends without free inodes as on a full disk, and goes on with some.
func TestNoInodes(t *testing.T) {
	disk := mount(t, "400m,nr_inodes=120")
	_, focus := small(t)
	dir := filepath.Join(disk, "crawl")
	fossick(t, focus(dir, "--max-pages", "20")...)
	others := filepath.Join(disk, "others")
	testkit.Must(t, os.Mkdir(others, 0o755))
	for n := range 200 {
		if err := os.WriteFile(filepath.Join(others, fmt.Sprint(n)), nil, 0o644); err != nil {
			break // full, as intended
		}
	}
	for _, args := range [][]string{focus(dir, "--resume", "--max-pages", "100"), {"repair", dir, "--compact"}} {
		code, text := said(t, args...)
		wantRefusal(t, args[0], code, text, "more files", "df -i")
	}
	testkit.Must(t, os.RemoveAll(others))
	verifies(t, dir)
	if code, text := said(t, focus(dir, "--resume", "--max-pages", "100")...); code != exitDone {
		t.Errorf("with room again: %s", text)
	}
}

// TestFileTooLarge checks that a file size limit (ulimit -f) ends a crawl with a message, not a dump.
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

// TestRepairSaysWhatIsLost checks that repair leaves a sound store and ends with exit code 1, once, if
// names of URLs are lost.
func TestRepairSaysWhatIsLost(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "crawl")
	s, err := store.Create(dir, store.Info{Topic: "x"})
	if err != nil {
		t.Fatal(err)
	}
	b := s.Batch()
	err = errors.Join(b.PutDiscovery(1, store.Discovery{URL: "http://a.test/", Via: store.ViaSeed}), b.PutQueued(1, store.Queued{Priority: 1}),
		b.PutQueued(2, store.Queued{Priority: 1, Parent: 1}), b.PutCounts(&store.Counts{URLs: 2}), b.Commit(), s.Close())
	if err != nil {
		t.Fatal(err)
	}
	code, text := said(t, "repair", dir, "--json")
	var r verifyResult
	if err := json.Unmarshal([]byte(text[:strings.Index(text, "\n")]), &r); err != nil || len(r.Errors) == 0 {
		t.Fatalf("%v: %s", err, text)
	}
	wantRefusal(t, "repair", code, text, "1 URLs", "--resume")
	verifies(t, dir)
	if code, text := said(t, "repair", dir); code != exitDone || !strings.Contains(text, "is sound") {
		t.Errorf("a second repair: exit code %d: %s", code, text)
	}
	tables, err := filepath.Glob(filepath.Join(dir, "db", "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatalf("%v tables, %v", tables, err)
	}
	testkit.Must(t, os.Remove(tables[len(tables)-1]))
	code, text = said(t, "repair", dir)
	wantRefusal(t, "repair after a table is gone", code, text, "but it is missing")
	verifies(t, dir)
}

// loseBody STORE PAGE replaces a page's body by what earlier builds stored for some: an empty frame
// that states 99 bytes.
func loseBody(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: losebody STORE PAGE")
	}
	n, err := strconv.ParseUint(args[1], 10, 64)
	ts.Check(err)
	s, err := store.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	p, err := s.Page(n)
	ts.Check(err)
	b := s.Batch()
	ts.Check(b.PutPage(p, []byte("\x28\xb5\x2f\xfd\x24\x63\x00\x00\x00\x01\x00\x00\x4f\x57\x30\x99")))
	ts.Check(b.Commit())
	ts.Check(s.Close())
}
