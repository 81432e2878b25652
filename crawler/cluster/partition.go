package cluster

import (
	"crypto/sha256"
	"encoding/binary"
)

// partitions is into how many parts the web is divided. An agent among a thousand still has
// one, and the table of owners has some kilobytes.
const partitions = 1024

// Partition is a part of the web, below partitions.
type Partition uint16

// PartitionOf returns the partition of a site (page.Site), or of a page's checksum. Nobody can choose names that all
// fall into one partition.
func PartitionOf(name string) Partition {
	sum := sha256.Sum256([]byte(name))
	return Partition(binary.BigEndian.Uint16(sum[:]) % partitions)
}
