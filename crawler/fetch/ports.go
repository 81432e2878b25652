package fetch

import (
	"fmt"
	"net/url"
	"strconv"
)

// checkPort refuses a URL on a port where another protocol is spoken, as
// browsers do. A link must not make us talk to a mail server or a cache, which
// may take a request's lines for commands. The error means guard_denied.
func checkPort(u *url.URL) error {
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil || !blockedPort(uint16(port)) {
		return nil // none, or one that the dialer will refuse
	}
	return &stateError{StateGuardDenied, fmt.Errorf("port %d of %s is not a web port; it belongs to another protocol", port, u.Hostname())}
}

// blockedPort reports the ports of the Fetch standard (section "port blocking",
// but 0, which cannot be connected to), and those of Redis and memcached.
func blockedPort(port uint16) bool {
	switch port {
	case 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95,
		101, 102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179,
		389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587,
		601, 636, 989, 990, 993, 995,
		1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566,
		6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
		6379, 11211:
		return true
	}
	return false
}
