//go:build !linux

package render

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// attributes start the browser in a group of its own.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// started tells when a process started; "" if there is none.
func started(pid int) string {
	out, err := exec.Command("ps", "-o", "lstart=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// memoryOf returns the resident bytes of a process group.
func memoryOf(group int) (bytes int64) {
	out, err := exec.Command("ps", "-A", "-o", "pgid=,rss=").Output()
	if err != nil {
		return 0 // the browser still starts anew by age
	}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) != 2 || f[0] != strconv.Itoa(group) {
			continue
		}
		if kib, err := strconv.ParseInt(f[1], 10, 64); err == nil {
			bytes += kib << 10
		}
	}
	return bytes
}
