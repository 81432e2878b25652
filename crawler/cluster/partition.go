package cluster

import (
	"crypto/sha256"
	"encoding/binary"
	"sync"

	"fossick/internal/page"
)

// partitions is the number of parts of the web: enough for a thousand agents.
const partitions = 1024

type partition uint16

// partitionOf returns the partition of a site (page.Site) or a page's checksum. With SHA-256
// nobody can choose names that all fall into one partition.
func partitionOf(name string) partition {
	sum := sha256.Sum256([]byte(name))
	return partition(binary.BigEndian.Uint16(sum[:]) % partitions)
}

// sites caches the partitions of hosts. Safe for concurrent use.
type sites struct {
	mu    sync.Mutex // guards hosts
	hosts page.Recent[uint16]
}

const rememberedHosts = 1 << 15

func newSites() *sites { return &sites{hosts: page.NewRecent[uint16](rememberedHosts)} }

// PartOf returns the partition that tracks the pages with a checksum.
func (*sites) PartOf(checksum []byte) uint16 { return uint16(partitionOf(string(checksum))) }

// Part returns the partition of a URL's site.
func (s *sites) Part(url string) uint16 {
	host := page.Key(page.HostName(url))
	s.mu.Lock()
	part, known := s.hosts.Get(host)
	s.mu.Unlock()
	if known {
		return part
	}
	part = uint16(partitionOf(page.Site(url)))
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.hosts.Get(host); !known {
		s.hosts.Put(host, part)
	}
	return part
}
