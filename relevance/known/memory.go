package known

// How much a scorer remembers, in each half: half a million targets of about 100
// bytes, half a million fetched pages and 130,000 hosts; less than 100 MiB in all. A crawl
// of fewer loses nothing.
const (
	maxEvidence = 1 << 18
	maxFetched  = 1 << 18
	maxHosts    = 1 << 16
)
