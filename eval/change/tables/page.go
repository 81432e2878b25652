package tables

import "fossick/store/change"

// Page is a page that is watched. It is valid until the next.
type Page struct {
	URL   string // in normal form
	Seed  bool   // a start page
	Depth int    // links from a start page
	Kind  string // of its links, as webstats.LinkKind has it

	// Visits in the order of time; the first is the one that stored it.
	Visits []change.Visit
	// Tried are the visits to a start page before it was stored, in the order of time. They
	// count for S(n) alone.
	Tried []change.Visit
}

// Round is a look at all pages.
type Round struct{ Began, Ended int64 } // Unix milliseconds; Ended is 0 of one that was cut off

// gone says whether a visit found that the page is not there any more.
func gone(v *change.Visit) bool { return v.State == "code" && (v.Code == 404 || v.Code == 410) }

// moved says whether a visit was sent elsewhere.
func moved(v *change.Visit) bool { return v.State == "redirect" }
