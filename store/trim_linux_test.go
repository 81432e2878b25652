package store

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTrim writes bodies of more than 100 MiB: what is resident of the value log
// stays far below that, and every body can be read.
func TestTrim(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "real")
	must(t, os.Mkdir(dir, 0o755))
	link := filepath.Join(filepath.Dir(dir), "link")
	must(t, os.Symlink(dir, link)) // the kernel knows the files by their real names
	s, err := Create(filepath.Join(link, "s"), Info{})
	must(t, err)
	defer func() { must(t, s.Close()) }()
	const pages, bytes = 400, 300_000
	body := func(n uint64) []byte {
		r := rand.NewChaCha8([32]byte{byte(n), byte(n >> 8)})
		b := make([]byte, bytes)
		_, _ = r.Read(b) // never fails
		return b
	}
	for n := uint64(1); n <= pages; n++ {
		b := s.Batch()
		must(t, b.PutPage(&Page{Number: n, ID: ID(n), Checksum: fmt.Appendf(nil, "%016d", n)}, s.Compress(body(n))))
		must(t, b.Commit())
	}
	if kib := residentLog(t, s.logs); kib == 0 || kib > 50<<10 {
		t.Errorf("%d KiB of the value log are resident, want some, and less than 50 MiB of 115", kib)
	}
	for n := uint64(1); n <= pages; n += 7 {
		got, err := s.Body(n)
		must(t, err)
		if string(got) != string(body(n)) {
			t.Fatalf("body %d is not what was written", n)
		}
	}
}

// residentLog returns how much of the value log is resident, in KiB.
func residentLog(t *testing.T, dir string) (sum int) {
	t.Helper()
	smaps, err := os.ReadFile("/proc/self/smaps")
	must(t, err)
	inLog := false
	for line := range strings.Lines(string(smaps)) {
		var kib int
		if strings.Contains(line, "-") && strings.Contains(line, " ") && !strings.HasSuffix(strings.Fields(line)[0], ":") {
			_, _, inLog = logMapping(strings.TrimSpace(line), dir)
		} else if _, err := fmt.Sscanf(line, "Rss: %d kB", &kib); err == nil && inLog {
			sum += kib
		}
	}
	return sum
}
