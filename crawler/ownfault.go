package crawler

import (
	"errors"
	"strings"
	"syscall"
	"time"

	"fossick/fetch"
)

// ownFaultRest is how long a host rests when we could not ask it: the crawl would
// spin otherwise, as nobody makes room meanwhile.
const ownFaultRest = time.Second

// ownFault says whether an exchange failed because this machine, or this process, has
// no more files or memory for connections. That is no host's fault, and will
// pass as other connections end: without this, hosts that were never asked would be
// given up as dead.
func ownFault(r *fetch.Response) bool {
	if r.Err == nil {
		return false
	}
	for _, lack := range [...]syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM} {
		if errors.Is(r.Err, lack) {
			return true
		}
	}
	// A resolver that could not open its socket tells so in words alone.
	return strings.Contains(r.Err.Error(), syscall.EMFILE.Error()) || strings.Contains(r.Err.Error(), syscall.ENFILE.Error())
}

// maxOwnFaults is how many of our faults in a row, without an answer of anybody, are
// excused: where there are more it is no shortage that passes, and the crawl must end.
const maxOwnFaults = 1000

// faulty says whether an exchange failed by a fault of ours that is to be excused.
func (n *network) faulty(r *fetch.Response) bool {
	if !ownFault(r) {
		return false
	}
	n.faults++
	return n.faults <= maxOwnFaults
}
