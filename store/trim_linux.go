package store

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// trim gives back the memory of the value log. Badger maps every log file for as
// long as the store is open, and what was once written counts as resident: a
// crawl would seem to need as much memory as its pages have bytes. The mappings
// are shared, so nothing is lost: written pages stay in the kernel's cache, and
// all are mapped again when they are read.
//
// Only a writer makes Badger map or unmap a log file; so there must be none while
// trim works, or the range could be another's memory by the time it is given back.
// Tables come and go by themselves and are left alone for that reason.
func trim(dir string) error {
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	defer maps.Close()
	lines := bufio.NewScanner(maps)
	for lines.Scan() {
		from, to, ok := logMapping(lines.Text(), dir)
		if !ok {
			continue
		}
		if _, _, errno := unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_DONTNEED); errno != 0 {
			return fmt.Errorf("store: memory of the value log: %w", errno)
		}
	}
	return lines.Err()
}

// logMapping reads a line of /proc/self/maps: where the shared mapping of a value
// log in dir begins and ends.
func logMapping(line, dir string) (from, to uintptr, ok bool) {
	at := strings.IndexByte(line, '/')
	if at < 0 || !strings.HasPrefix(line[at:], dir+"/") || !strings.HasSuffix(line, ".vlog") {
		return 0, 0, false
	}
	var mode string
	if n, err := fmt.Sscanf(line, "%x-%x %s", &from, &to, &mode); n != 3 || err != nil {
		return 0, 0, false
	}
	return from, to, len(mode) == 4 && mode[3] == 's'
}
