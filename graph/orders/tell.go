package orders

import (
	"fmt"
	"strings"

	"fossick/internal/printable"
)

// Tell says what the priorities of a URL that waits stand for, in words that follow "with".
// name is as OrderingByName reads it, "" for relevance; also are the priorities by the
// further orderings of a mix.
func Tell(name string, priority float64, also []float64) string {
	shares, err := parseMix(name, Orderings())
	if err != nil || len(shares) == 1 && shares[0].Name == "relevance" {
		return fmt.Sprintf("priority %.4g", priority)
	}
	var all []string
	for i, p := range append([]float64{priority}, also...) {
		if i < len(shares) {
			all = append(all, fmt.Sprintf("%s by %s", tell(shares[i].Name, p), shares[i].Name))
		}
	}
	return strings.Join(all, ", ")
}

func tell(name string, priority float64) string {
	packed := uint64(max(0, priority))
	switch name {
	case "bfs":
		return "found on " + step(uint64(-min(0, priority)))
	case "mcs", "mcs-sites", "backlink":
		if packed/countUnit == 1 {
			return "1 link that counts"
		}
		return printable.Sprintf("%d links that count", packed/countUnit)
	case "mns":
		return fmt.Sprintf("links that weigh %d", packed/countUnit)
	case "dfs":
		return "linked latest from " + step(packed>>placeBits-1)
	case "lexdfs":
		return "linked latest from " + step(packed>>stepBits-1)
	case "lexbfs":
		told := "found on " + step(lastStep+1-packed>>stepBits)
		if second := packed & (1<<stepBits - 1); second > 0 {
			told += ", then linked from " + step(lastStep+1-second)
		}
		return told
	}
	return fmt.Sprintf("priority %.4g", priority)
}

// step names a page by when it was visited.
func step(n uint64) string {
	if n == 0 {
		return "no page: it is a start page"
	}
	return fmt.Sprintf("page %d", n)
}
