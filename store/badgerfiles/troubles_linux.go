package badgerfiles

import "syscall"

// linuxTroubles are those that only Linux knows.
func linuxTroubles() []syscall.Errno { return []syscall.Errno{syscall.EREMOTEIO} }
