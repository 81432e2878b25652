package fetch

import (
	"bufio"
	"fmt"
	"io"
	"net/netip"
	"strings"
)

// ParseHosts reads a hosts file. A line is a name, a tab or blanks, and an address with
// or without a port (192.0.2.1:8080, [2001:db8::1]:8080). Empty lines and # comments
// are skipped. Without a port (0) the URL's is used. filename and the line stand in
// errors.
func ParseHosts(r io.Reader, filename string) (map[string]netip.AddrPort, error) {
	hosts := map[string]netip.AddrPort{}
	lines := bufio.NewScanner(r)
	n := 0
	for lines.Scan() {
		n++
		text, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(text)
		if len(fields) == 0 {
			continue
		}
		if len(fields) != 2 {
			return nil, fmt.Errorf("hosts file %s:%d: %d fields; a line is a name, a tab and ip or ip:port", filename, n, len(fields))
		}
		target, err := parseTarget(fields[1])
		if err != nil {
			return nil, fmt.Errorf("hosts file %s:%d: %q is not an address; write ip or ip:port", filename, n, fields[1])
		}
		hosts[strings.ToLower(strings.TrimSuffix(fields[0], "."))] = target
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("hosts file %s:%d: %w", filename, n+1, err)
	}
	return hosts, nil
}

func parseTarget(s string) (netip.AddrPort, error) {
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return ap, nil
	}
	a, err := netip.ParseAddr(strings.Trim(s, "[]"))
	return netip.AddrPortFrom(a, 0), err
}
