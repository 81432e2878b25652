package corpusweb

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"
)

// draw is a seed. What it draws depends on the seed, the purpose and the name only,
// so it is the same in whatever order it is asked for.
type draw uint64

// uniform returns a number in [0,1).
func (d draw) uniform(purpose, name string) float64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d\x00%s\x00%s", uint64(d), purpose, name)
	x := h.Sum64() // FNV's high bits are weak on short names: mix (splitmix64)
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	x ^= x >> 31
	return float64(x>>11) / (1 << 53)
}

// around returns half to one and a half of a mean, evenly spread over names.
func (d draw) around(mean time.Duration, purpose, name string) time.Duration {
	return time.Duration(float64(mean) * (0.5 + d.uniform(purpose, name)))
}

// letters makes up a name of seven letters.
func (d draw) letters(purpose, name string) string {
	n := uint64(d.uniform(purpose, name) * 8_031_810_176) // 26⁷
	made := make([]byte, 7)
	for i := range made {
		made[i] = byte('a' + n%26)
		n /= 26
	}
	return string(made)
}

// shuffle orders a name's parts, whatever order they come in.
func (d draw) shuffle(purpose, name string, parts []string) {
	rank := make(map[string]float64, len(parts))
	for _, p := range parts {
		rank[p] = d.uniform(purpose, name+p)
	}
	slices.SortFunc(parts, func(a, b string) int {
		return cmp.Or(cmp.Compare(rank[a], rank[b]), strings.Compare(a, b))
	})
}
