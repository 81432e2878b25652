package card

import (
	"cmp"
	"slices"
	"time"
)

// Card is card.json.
type Card struct {
	Fossick string   `json:"fossick"` // version that exported
	Choice  []string `json:"choice"`  // flags that chose the pages
	Purpose string   `json:"purpose,omitempty"`
	Pages   Pages    `json:"pages"`
	Bytes   int64    `json:"bytes"`
	Words   int64    `json:"words"` // of main text, of pages that could be read
	Crawls  []Crawl  `json:"crawls"`

	Relevant  Part  `json:"relevant"` // of the exported pages
	Kept      *Part `json:"kept"`     // of those that refine saw; null when it saw none
	Refined   int   `json:"refined"`
	Labels    Parts `json:"labels"`
	Languages Parts `json:"languages"`
	Sites     Parts `json:"sites"`
	Rights    *Part `json:"rights"` // pages whose owners say something of their use; null when none was found to
	Licences  Parts `json:"licences"`

	Flaws []string `json:"flaws"`
}

// Pages are how many were exported and left out.
type Pages struct {
	Exported  int `json:"exported"`
	Withdrawn int `json:"withdrawn"`
	Refused   int `json:"refused"`
	Repeated  int `json:"repeated"`
	Damaged   int `json:"damaged"`
}

// Crawl is a store.
type Crawl struct {
	Store    string            `json:"store"`
	Topics   []string          `json:"topics"`
	Fossick  string            `json:"fossick,omitempty"`
	Purpose  string            `json:"purpose,omitempty"`
	Made     time.Time         `json:"made"`
	Exported int               `json:"exported"`
	First    *time.Time        `json:"first"` // fetch of an exported page
	Last     *time.Time        `json:"last"`
	Settings map[string]string `json:"settings"` // by the names of flags; null when not known
	Harvest  Harvest           `json:"harvest"`
	Recall   *Recall           `json:"recall"` // null without another crawl of the topic
	URLs     uint64            `json:"urls"`
	States   map[string]uint64 `json:"states"`
	Denied   *float64          `json:"denied"` // share of URLs with a state that robots.txt keeps shut
}

// Harvest is relevant of fetched pages, as the crawl judged them.
type Harvest struct {
	Relevant int         `json:"relevant"`
	Fetched  int         `json:"fetched"`
	Share    *float64    `json:"share"`
	CI       *[2]float64 `json:"ci"` // 95 %
}

// Recall is an estimate of the share of the relevant pages in reach that a crawl found.
type Recall struct {
	Value   float64    `json:"value"`
	CI      [2]float64 `json:"ci"` // 95 %
	Method  string     `json:"method"`
	Caution string     `json:"caution"`
}

// Part is a number of pages, and their share.
type Part struct {
	Pages int      `json:"pages"`
	Share *float64 `json:"share"`
}

// Parts divide the pages by a name.
type Parts struct {
	Names   []Named `json:"names"`  // most pages first
	Others  int     `json:"others"` // names that are not listed
	Unknown int     `json:"unknown"`
}

// Named is the part of a name.
type Named struct {
	Name string `json:"name"`
	Part
}

// share returns k/n, nil when n is 0.
func share(k, n int) *float64 {
	if n == 0 {
		return nil
	}
	s := float64(k) / float64(n)
	return &s
}

func partOf(k, n int) Part { return Part{k, share(k, n)} }

// partsOf lists the most frequent names of n pages; "" is of those without.
func partsOf(count map[string]int, n, most int) Parts {
	parts := Parts{Names: []Named{}, Unknown: count[""]}
	for name, k := range count {
		if name != "" {
			parts.Names = append(parts.Names, Named{name, partOf(k, n)})
		}
	}
	slices.SortFunc(parts.Names, func(a, b Named) int {
		return cmp.Or(cmp.Compare(b.Pages, a.Pages), cmp.Compare(a.Name, b.Name))
	})
	if len(parts.Names) > most {
		parts.Others = len(parts.Names) - most
		parts.Names = parts.Names[:most]
	}
	return parts
}
