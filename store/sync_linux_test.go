package store

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"fossick/internal/testkit"
)

// TestSyncLogs: the kernel shows commits as dirty memory before a sync and clean after it.
func TestSyncLogs(t *testing.T) {
	s := createOnDisk(t)
	for round := range 2 {
		alter(t, s, func(b *Batch) { testkit.Must(t, b.PutPage(somePage(), make([]byte, 1<<20))) })
		if mem, values := dirtyKiB(t, s, ".mem"), dirtyKiB(t, s, ".vlog"); mem == 0 || values < 1<<10 {
			t.Fatalf("round %d: before a sync %d and %d KiB of the logs are dirty", round, mem, values)
		}
		testkit.Must(t, s.db.SyncLogs())
		if mem, values := dirtyKiB(t, s, ".mem"), dirtyKiB(t, s, ".vlog"); mem+values != 0 {
			t.Errorf("round %d: after a sync %d and %d KiB of the logs are dirty", round, mem, values)
		}
	}
}

// TestSyncAgain: upkeep syncs only if there were commits since its last sync.
func TestSyncAgain(t *testing.T) {
	s := createOnDisk(t)
	sync := s.upkeep.sync()
	for round := range 2 {
		alter(t, s, func(b *Batch) { testkit.Must(t, b.PutPage(somePage(), make([]byte, 1<<20))) })
		sync()
		if values := dirtyKiB(t, s, ".vlog"); values != 0 {
			t.Errorf("round %d: after a sync %d KiB are dirty", round, values)
		}
	}
	logs := testkit.Call(filepath.Glob(filepath.Join(s.db.Path(), "*.vlog"))).Must(t)
	log := testkit.Call(os.OpenFile(logs[len(logs)-1], os.O_RDWR, 0)).Must(t)
	first := make([]byte, 1)
	_, err1 := log.ReadAt(first, 0)
	_, err2 := log.WriteAt(first, 0)
	testkit.Must(t, err1, err2, log.Close())
	if sync(); dirtyKiB(t, s, ".vlog") == 0 {
		t.Error("it syncs though nothing was committed")
	}
}

// createOnDisk is create on a file system where synced pages become clean.
func createOnDisk(t *testing.T) *Store {
	s := create(t)
	var fs unix.Statfs_t
	if testkit.Must(t, unix.Statfs(s.Dir(), &fs)); fs.Type == unix.TMPFS_MAGIC {
		t.Skip("a file system in memory is never clean; set TMPDIR to a disk's")
	}
	return s
}

// dirtyKiB returns how much of the mapped files of a kind is not yet written to disk.
func dirtyKiB(t *testing.T, s *Store, suffix string) (dirty int) {
	smaps := testkit.Call(os.ReadFile("/proc/self/smaps")).Must(t)
	ours := false
	for line := range strings.Lines(string(smaps)) {
		fields := strings.Fields(line)
		if !strings.HasSuffix(fields[0], ":") {
			ours = strings.Contains(line, s.db.Path()) && strings.HasSuffix(strings.TrimSpace(line), suffix)
		} else if ours && strings.HasSuffix(fields[0], "_Dirty:") {
			n := testkit.Call(strconv.Atoi(fields[1])).Must(t)
			dirty += n
		}
	}
	return dirty
}
