package monitor

import (
	"io"

	"fossick/crawler"
	"fossick/internal/printable"
)

// Refreshed is what --refresh brought, in the JSON of focus.
type Refreshed struct {
	Asked       uint64 `json:"asked"`
	NotModified uint64 `json:"not_modified"` // 304, or the same content again
	Changed     uint64 `json:"changed"`
	Gone        uint64 `json:"gone"`   // their pages stay, their URLs have the state of the answer
	Failed      uint64 `json:"failed"` // to be asked again

	NewPages uint64  `json:"new_pages"` // stored for the first time in this session
	Seconds  float64 `json:"seconds"`   // of this session
}

func refreshedOf(r crawler.RefreshCounts, p crawler.Progress) *Refreshed {
	return &Refreshed{r.Asked, r.NotModified, r.Changed, r.Gone, r.Failed, p.Pages, p.Elapsed.Seconds()}
}

// Print writes it as text.
func (r *Refreshed) Print(w io.Writer) {
	if r == nil {
		return
	}
	printable.Fprintf(w, "this session, %.1f s: visited %d stored pages again: %d unchanged, %d changed, %d gone, %d without an answer; %d new pages\n",
		r.Seconds, r.Asked, r.NotModified, r.Changed, r.Gone, r.Failed, r.NewPages)
}
