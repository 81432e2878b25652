package badgerfiles

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4/y"

	"fossick/internal/testkit"
)

// counted commits a new record and one that every call rewrites.
func counted(d *Database, i int) error {
	txn := d.NewTransaction(true)
	err := errors.Join(txn.Set([]byte("n"), fmt.Appendf(nil, "%d", i)),
		txn.Set(fmt.Appendf(nil, "p%d", i), fmt.Appendf(nil, "%0300d", i)),
		txn.Delete(fmt.Appendf(nil, "u0 %d", i-1)))
	for j := range 8 {
		err = errors.Join(err, txn.Set(fmt.Appendf(nil, "u%d %d", j, i), fmt.Appendf(nil, "%0250d", i)))
	}
	if err = errors.Join(err, d.Commit(txn)); err == nil {
		d.Reached(txn)
	}
	return err
}

// killed makes a database of 80 commits in two logs, killed while open.
func killed(t *testing.T) (path string) {
	t.Helper()
	first := filepath.Join(t.TempDir(), "db")
	d := openWith(t, smallTables(first).WithValueLogFileSize(1<<20)) // small, since it is copied often
	for i := range 80 {
		testkit.Must(t, counted(d, i))
	}
	path = filepath.Join(t.TempDir(), "db")
	testkit.Must(t, os.CopyFS(path, os.DirFS(first)), d.Close())
	text := testkit.Call(os.ReadFile(filepath.Join(path, "00001.mem"))).Must(t)
	older, newer := upTo(text, 40)
	testkit.Must(t, os.WriteFile(filepath.Join(path, "00001.mem"), older, 0o600))
	testkit.Must(t, os.WriteFile(filepath.Join(path, "00002.mem"), newer, 0o600))
	return path
}

// upTo splits a log's entries at a version.
func upTo(text []byte, version uint64) (older, newer []byte) {
	entries := readLog(text).committed()
	at := slices.IndexFunc(entries, func(e entry) bool { return y.ParseTs(e.key) > version })
	return logOf(entries[:at]), logOf(entries[at:])
}

// TestLostLog: a lost memtable's log is noticed, except for what a power cut may cost.
func TestLostLog(t *testing.T) {
	original := killed(t)
	note, ok := readReached(original)
	if !ok || note.last != 80 || len(note.logs) != 0 {
		t.Fatalf("it reached %+v, %v; want 80 commits that no sync has seen", note, ok)
	}
	note.logs = []logReached{{1, 40}, {2, 75}}
	cut := func(version uint64) func([]byte) []byte {
		return func(text []byte) []byte { older, _ := upTo(text, version); return older }
	}
	empty := func([]byte) []byte { return nil }
	for _, c := range []struct {
		name     string
		log      string // log that is damaged
		harm     func(text []byte) []byte
		powerCut bool
		want     string // part of the error, or ""
	}{
		{"a kill", "", nil, false, ""},
		{"a power cut that costs nothing", "", nil, true, ""},
		{"both gone", "*.mem", nil, false, "00001.mem: the log of a memtable is gone: the last 40 commits"},
		{"the older one gone", "00001.mem", nil, false, "00001.mem: the log of a memtable is gone: the last 40 commits"},
		{"the older one gone, after a power cut", "00001.mem", nil, true, "00001.mem: the log of a memtable is gone: the last 40 commits"},
		{"the older one without a byte", "00001.mem", empty, false, "00001.mem: it is older than it was, or incomplete: the last 40 commits"},
		{"the newer one gone", "00002.mem", nil, true, "00002.mem: the log of a memtable is gone: the last 35 commits"},
		{"the newer one older", "00002.mem", cut(60), true, "00002.mem: it is older than it was, or incomplete: the last 15 commits"},
		{"not synced", "00002.mem", cut(75), true, ""},
		{"not synced, but without a power cut", "00002.mem", cut(75), false, "*.mem: the log of a memtable is gone, or older than it was: the last 5 commits"},
		{"one commit less", "00002.mem", cut(79), false, "*.mem: the log of a memtable is gone, or older than it was: the last 1 commits"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "db")
			testkit.Must(t, os.CopyFS(path, os.DirFS(original)))
			told := note
			if c.powerCut {
				told.boot = strings.Repeat("x", bootBytes)
			}
			testkit.Must(t, os.WriteFile(filepath.Join(path, reachedFile), told.encode(), 0o600))
			names, err := filepath.Glob(filepath.Join(path, c.log))
			for _, name := range names {
				if c.log == "" {
					break
				}
				text, readErr := os.ReadFile(name)
				testkit.Must(t, readErr, os.Remove(name))
				if c.harm != nil {
					testkit.Must(t, os.WriteFile(name, c.harm(text), 0o600))
				}
			}
			testkit.Must(t, err)
			o := smallTables(path)
			damage, err := Mend(path, path, "", o, false)
			testkit.Must(t, err)
			said := ""
			if len(damage) > 0 {
				said = damage[0].File + ": " + damage[0].What
			}
			if len(damage) > 1 || !strings.HasPrefix(said, c.want) || (c.want == "") != (said == "") {
				t.Fatalf("it says %v, want %q", damage, c.want)
			}
			d := openWith(t, o)
			defer d.Close()
			content := contentOf(t, d)
			for i := range 80 { // a power cut may cost the newest commits; the other values must exist
				if _, ok := content[fmt.Sprintf("p%d", i)]; !ok && (c.want != "" || i < 75) {
					t.Errorf("the value of commit %d is in the value log, and lost", i+1)
				}
			}
		})
	}
}

// TestReachedFile: an incomplete file, or an unsynced version after a reboot, does not count.
func TestReachedFile(t *testing.T) {
	r := reached{boot: strings.Repeat("b", bootBytes), last: 7}
	for i := range uint64(40) {
		r.logs = append(r.logs, logReached{i, i})
	}
	text := r.encode()
	got, ok := decodeReached(text)
	if !ok || got.boot != r.boot || got.last != 7 || len(got.logs) != reachedLogs || got.logs[reachedLogs-1] != r.logs[39] {
		t.Errorf("%v: %+v", ok, got)
	}
	for i := range text {
		text[i] ^= 1
		if _, ok := decodeReached(text); ok {
			t.Fatalf("byte %d is another one, and it is read", i)
		}
		text[i] ^= 1
	}
	path := t.TempDir()
	testkit.Must(t, os.WriteFile(filepath.Join(path, reachedFile), text, 0o600))
	if p := readProgress(path); p.r.last != 0 || len(p.r.logs) == 0 {
		t.Errorf("after another boot: %+v", p.r)
	}
}

const childCommits = "FOSSICK_TEST_BADGER_CHILD"

func TestChildCommits(t *testing.T) {
	path := os.Getenv(childCommits)
	if path == "" {
		t.Skip("for the child of another test")
	}
	d := openSmall(t, path)
	go func() {
		for {
			_ = d.SyncLogs()
		}
	}()
	for i := 0; ; i++ {
		testkit.Must(t, counted(d, i))
	}
}

// TestCommitsAreKilled: kills during flushes and compactions never count as a loss.
func TestCommitsAreKilled(t *testing.T) {
	testkit.Only(t, "seconds of processor time")
	path := filepath.Join(t.TempDir(), "db")
	self := testkit.Call(os.Executable()).Must(t)
	o := smallTables(path)
	flushed := uint64(0)
	for round := range testkit.Rounds(4, 30) {
		child := exec.Command(self, "-test.run=^TestChildCommits$")
		child.Env = append(os.Environ(), childCommits+"="+path)
		testkit.Must(t, child.Start())
		time.Sleep(time.Duration(200+rand.IntN(500)) * time.Millisecond)
		testkit.Must(t, child.Process.Kill())
		_ = child.Wait()
		if _, err := os.Stat(filepath.Join(path, "MANIFEST")); err != nil {
			continue // killed before the first file
		}
		f := testkit.Call(examine(path, o)).Must(t)
		if len(f.damage) > 0 {
			t.Fatalf("round %d: %v", round, f.damage)
		}
		flushed = max(flushed, f.inTables)
	}
	t.Logf("the tables reach %d", flushed)
}
