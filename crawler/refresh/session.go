package refresh

import (
	"net/http"

	"fossick/crawler/fetch"
	"fossick/internal/page"
	"fossick/store"
	"fossick/store/change"
)

// Counts are what asking for stored pages again has brought in one session.
type Counts struct {
	Asked       uint64 // exchanges for them
	NotModified uint64 // 304, or the same content again
	Changed     uint64 // stored anew
	Gone        uint64 // other answers: the old page stays, unless it says noindex, and its URL has that state
	Failed      uint64 // no answer that tells: to be asked again by the next refresh
}

// Plus adds what another session has brought.
func (c Counts) Plus(other Counts) Counts {
	return Counts{c.Asked + other.Asked, c.NotModified + other.NotModified, c.Changed + other.Changed, c.Gone + other.Gone, c.Failed + other.Failed}
}

// Session is one refresh. The zero value is over.
type Session struct {
	On bool // only stored pages are asked for; the queue waits in the journal
	Counts
}

// Verdict says what is to be done about a stored page after an answer.
type Verdict int

// The verdicts.
const (
	Again     Verdict = iota // the exchange counts for nobody: ask once more
	Failed                   // no answer that tells
	Same                     // it is as it was
	Changed                  // store it anew
	Repeats                  // it has the content of another page by now
	Moved                    // the URL redirects
	Withdrawn                // its author asks by now that it be not kept
	Unwanted                 // it is none that the crawl keeps any more
	Gone                     // the URL gives no page any more
)

// Answer is what came of asking for a stored page.
type Answer struct {
	Response *fetch.Response
	Page     *page.Page // when the answer is one
	Excused  bool       // the exchange failed, but that counts for nobody
	Passing  bool       // it failed, and another try may bring another answer
	Unwanted bool       // the page is not to be kept, for its language or since scripts make it
	With     uint64     // number of the stored page that has the content of Page, 0 for none
}

// Judge counts an answer for a stored page and says what is to be done.
func (s *Session) Judge(old *store.Page, a Answer) Verdict {
	s.Asked++
	v := verdict(old, a)
	switch v {
	case Again:
	case Failed:
		s.Failed++
	case Same:
		s.NotModified++
	case Changed:
		s.Changed++
	default:
		s.Gone++
	}
	return v
}

func verdict(old *store.Page, a Answer) Verdict {
	switch {
	case a.Excused:
		return Again
	case a.Passing:
		return Failed
	case a.Response.State == fetch.StateNotModified:
		return Same
	case a.Response.State == fetch.StateRedirect:
		return Moved
	case a.Response.State != fetch.StateOK:
		return Gone
	case a.Page.NoIndex: // before all else: its text may be the same as ever
		return Withdrawn
	case a.Page.Is(old.Checksum, old.Raw):
		return Same
	case a.Unwanted:
		return Unwanted
	case a.With != 0 && a.With != old.Number: // two pages cannot have one content
		return Repeats
	}
	return Changed
}

// Modified is the Last-Modified that a visit keeps, in Unix seconds: where the content had
// changed, or the time is another than before. 0 is none.
func Modified(old *store.Page, r *fetch.Response, kind change.Kind) int64 {
	told := r.Header.Get("Last-Modified")
	at, err := http.ParseTime(told)
	if err != nil || at.Unix() <= 0 || !kind.Changed() && told == old.Modified {
		return 0
	}
	return min(at.Unix(), r.Start.Unix()) // clocks differ; what is to come is the time of the answer
}

// Passed counts a page that is not asked for, for its host's sake.
func (s *Session) Passed() { s.Failed++ }

// Checked returns the record of a page that an answer says is as it was.
func Checked(old store.Page, r *fetch.Response) *store.Page {
	old.Checked = r.Start.UnixMilli()
	if tag := r.Header.Get("ETag"); tag != "" {
		old.ETag = tag
	}
	if modified := r.Header.Get("Last-Modified"); modified != "" {
		old.Modified = modified
	}
	return &old
}
