package render

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"fossick/internal/fileio"
)

// attributes start the browser in a group of its own, which ends with this process.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// Fields of /proc/PID/stat behind the command, from 0; see proc(5).
const (
	statGroup = 2
	statStart = 19
)

// stat returns the fields of a process behind its command; nil if there is none.
func stat(pid string) [][]byte {
	text, err := fileio.All(filepath.Join("/proc", pid, "stat"), 4<<10)
	if err != nil {
		return nil
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) <= statStart {
		return nil
	}
	return fields
}

// started tells when a process started, in ticks since the boot; "" if there is none.
func started(pid int) string {
	fields := stat(strconv.Itoa(pid))
	if fields == nil {
		return ""
	}
	return string(fields[statStart])
}

// memoryOf returns the resident bytes of a process group, without those that its processes
// share.
func memoryOf(group int) (bytes int64) {
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0 // cannot happen: the pattern is correct
	}
	for _, dir := range all {
		fields := stat(filepath.Base(dir))
		if fields == nil || string(fields[statGroup]) != strconv.Itoa(group) {
			continue
		}
		text, err := fileio.All(filepath.Join(dir, "statm"), 4<<10)
		var size, resident, shared int64
		if n, _ := fmt.Sscan(string(text), &size, &resident, &shared); err == nil && n == 3 {
			bytes += (resident - shared) * int64(os.Getpagesize())
		}
	}
	return bytes
}
