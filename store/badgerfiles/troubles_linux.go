package badgerfiles

import "syscall"

func linuxTroubles() []syscall.Errno { return []syscall.Errno{syscall.EREMOTEIO} }
