package page

import (
	"strings"
	"testing"
)

// FuzzRobotsTag: whatever the lines of X-Robots-Tag say, a line for all robots
// behind them counts, one for another robot does not, and nothing is unsaid.
func FuzzRobotsTag(f *testing.F) {
	for _, seed := range []string{"noindex", "otherbot: noindex\nnofollow", "fossick: none", "unavailable_after: 25 Jun 2010 15:00:00 PST", "max-snippet:5, noindex", "a,b: c", ":\n:", "noindex: x"} {
		f.Add(seed)
	}
	read := func(lines string) (p Page) {
		p.robotsHeader(lines)
		return p
	}
	f.Fuzz(func(t *testing.T, lines string) {
		was := read(lines)
		other := read(lines + "\nsomeoneelse: none")
		if other.NoIndex != was.NoIndex || other.NoFollow != was.NoFollow {
			t.Errorf("%q: a line for another robot changed %+v into %+v", lines, was, other)
		}
		ours := read(lines + "\nfossick: noindex\nnofollow")
		if !ours.NoIndex || !ours.NoFollow {
			t.Errorf("%q: our own lines behind it do not count", lines)
		}
		if upper := read(strings.ToUpper(lines)); isASCII([]byte(lines)) && (upper.NoIndex != was.NoIndex || upper.NoFollow != was.NoFollow) {
			t.Errorf("%q: in capitals it means something else", lines)
		}
	})
}
