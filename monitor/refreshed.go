package monitor

import (
	"io"

	"fossick/crawler/refresh"
	"fossick/internal/printable"
)

// Refreshed is what --refresh brought, in the JSON of focus.
type Refreshed struct {
	Asked       uint64 `json:"asked"`
	NotModified uint64 `json:"not_modified"` // 304, or the same content again
	Changed     uint64 `json:"changed"`
	Gone        uint64 `json:"gone"`   // their pages stay, their URLs have the state of the answer
	Failed      uint64 `json:"failed"` // to be asked again
}

func refreshedOf(r refresh.Counts) *Refreshed {
	return &Refreshed{r.Asked, r.NotModified, r.Changed, r.Gone, r.Failed}
}

// Print writes it as text.
func (r *Refreshed) Print(w io.Writer) {
	if r == nil {
		return
	}
	printable.Fprintf(w, "asked again for %d stored pages: %d as they were, %d changed, %d gone, %d without an answer that tells\n",
		r.Asked, r.NotModified, r.Changed, r.Gone, r.Failed)
}
