// Package sites says which partition of the web a URL is in, at the speed at which links
// come.
package sites

import (
	"sync"

	"fossick/crawler/cluster"
	"fossick/internal/page"
)

// Sites remembers the partitions of hosts. Safe for concurrent use.
type Sites struct {
	mu    sync.Mutex // guards hosts
	hosts page.Recent[uint16]
}

// remembered is how many hosts' partitions need not be found out again, at least.
const remembered = 1 << 15

// New returns one that remembers nothing yet.
func New() *Sites { return &Sites{hosts: page.NewRecent[uint16](remembered)} }

// PartOf returns the partition that has to know which pages have a content.
func (*Sites) PartOf(checksum []byte) uint16 { return uint16(cluster.PartitionOf(string(checksum))) }

// Part returns the partition that a URL is in: that of its site.
func (s *Sites) Part(url string) uint16 {
	host := page.Key(page.HostName(url))
	s.mu.Lock()
	part, known := s.hosts.Get(host)
	s.mu.Unlock()
	if known {
		return part
	}
	part = uint16(cluster.PartitionOf(page.Site(url)))
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.hosts.Get(host); !known {
		s.hosts.Put(host, part)
	}
	return part
}
