package page

import "github.com/cespare/xxhash/v2"

// Key names a URL in normal form by a number: what tables use that must be small
// and may, once in 10^19 pairs, take two URLs for one.
func Key(url string) uint64 { return xxhash.Sum64String(url) }
