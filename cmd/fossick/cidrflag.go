package main

import (
	"fmt"
	"os"

	"fossick/fetch"
)

// nets reads the file of --cidr.
func (s *crawlSettings) nets() (*fetch.Nets, error) {
	if s.Proxy != "" {
		return nil, usagef("--cidr goes by the addresses of hosts, and with --proxy only the proxy knows them; leave one of the two out")
	}
	file, err := os.Open(s.CIDR)
	if err != nil {
		return nil, usageError{fmt.Errorf("--cidr: %w; give a file with a net a line, as 192.0.2.0/24", err)}
	}
	defer file.Close()
	nets, err := fetch.ParseNets(file, s.CIDR)
	if err != nil {
		return nil, usageError{err}
	}
	return nets, nil
}
