package crawler

import (
	"net/http"

	"fossick/crawler/fetch"
	"fossick/internal/page"
	"fossick/store"
	"fossick/store/change"
)

// RefreshCounts are what asking for stored pages again has brought in one session.
type RefreshCounts struct {
	Asked       uint64 // exchanges for them
	NotModified uint64 // 304, or the same content again
	Changed     uint64 // stored anew
	Gone        uint64 // other answers: the old page stays, unless it says noindex, and its URL has that state
	Failed      uint64 // no answer that tells: to be asked again by the next refresh
}

// plus adds what another session has brought.
func (c RefreshCounts) plus(other RefreshCounts) RefreshCounts {
	return RefreshCounts{c.Asked + other.Asked, c.NotModified + other.NotModified, c.Changed + other.Changed, c.Gone + other.Gone, c.Failed + other.Failed}
}

// session is one refresh. The zero value is over.
type session struct {
	On bool // only stored pages are asked for; the queue waits in the journal
	RefreshCounts
}

// refreshVerdict says what is to be done about a stored page after an answer.
type refreshVerdict int

// The verdicts.
const (
	again           refreshVerdict = iota // the exchange counts for nobody: ask once more
	failed                                // no answer that tells
	refreshSame                           // it is as it was
	changed                               // store it anew
	repeats                               // it has the content of another page by now
	moved                                 // the URL redirects
	withdrawn                             // its author asks by now that it be not kept
	refreshUnwanted                       // it is none that the crawl keeps any more
	gone                                  // the URL gives no page any more
)

// answer is what came of asking for a stored page.
type answer struct {
	Response *fetch.Response
	Page     *page.Page // when the answer is one
	Excused  bool       // the exchange failed, but that counts for nobody
	Passing  bool       // it failed, and another try may bring another answer
	Unwanted bool       // the page is not to be kept, for its language or since scripts make it
	With     uint64     // number of the stored page that has the content of Page, 0 for none
}

// judge counts an answer for a stored page and says what is to be done.
func (s *session) judge(old *store.Page, a answer) refreshVerdict {
	s.Asked++
	v := verdict(old, a)
	switch v {
	case again:
	case failed:
		s.Failed++
	case refreshSame:
		s.NotModified++
	case changed:
		s.Changed++
	default:
		s.Gone++
	}
	return v
}

func verdict(old *store.Page, a answer) refreshVerdict {
	switch {
	case a.Excused:
		return again
	case a.Passing:
		return failed
	case a.Response.State == fetch.StateNotModified:
		return refreshSame
	case a.Response.State == fetch.StateRedirect:
		return moved
	case a.Response.State != fetch.StateOK:
		return gone
	case a.Page.NoIndex: // before all else: its text may be the same as ever
		return withdrawn
	case a.Page.Is(old.Checksum, old.Raw):
		return refreshSame
	case a.Unwanted:
		return refreshUnwanted
	case a.With != 0 && a.With != old.Number: // two pages cannot have one content
		return repeats
	}
	return changed
}

// modified is the Last-Modified that a visit keeps, in Unix seconds: where the content had
// changed, or the time is another than before. 0 is none.
func modified(old *store.Page, r *fetch.Response, kind change.Kind) int64 {
	told := r.Header.Get("Last-Modified")
	at, err := http.ParseTime(told)
	if err != nil || at.Unix() <= 0 || !kind.Changed() && told == old.Modified {
		return 0
	}
	return min(at.Unix(), r.Start.Unix()) // clocks differ; what is to come is the time of the answer
}

// passed counts a page that is not asked for, for its host's sake.
func (s *session) passed() { s.Failed++ }

// checked returns the record of a page that an answer says is as it was.
func checked(old store.Page, r *fetch.Response) *store.Page {
	old.Checked = r.Start.UnixMilli()
	if tag := r.Header.Get("ETag"); tag != "" {
		old.ETag = tag
	}
	if modified := r.Header.Get("Last-Modified"); modified != "" {
		old.Modified = modified
	}
	return &old
}
