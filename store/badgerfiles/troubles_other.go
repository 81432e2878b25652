//go:build !linux

package badgerfiles

import "syscall"

func linuxTroubles() []syscall.Errno { return nil }
