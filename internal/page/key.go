package page

import "github.com/cespare/xxhash/v2"

// Key names a URL in normal form by a number, for tables that must be small. Once in
// 10^19 pairs two URLs have one.
func Key(url string) uint64 { return xxhash.Sum64String(url) }
