package main

import (
	"fmt"
	"io"
	"time"

	"fossick/crawler"
	"fossick/internal/printable"
	"fossick/store"
)

// refreshResult is what --refresh brought, in the JSON of focus.
type refreshResult struct {
	Asked       uint64 `json:"asked"`
	NotModified uint64 `json:"not_modified"` // 304, or the same content again
	Changed     uint64 `json:"changed"`
	Gone        uint64 `json:"gone"`   // their pages stay, their URLs have the state of the answer
	Failed      uint64 `json:"failed"` // to be asked again
}

// refresh is --refresh's part of the plan.
func (c *focusCmd) refresh(opt *crawler.Options) error {
	if c.Refresh > 0 && !c.Resume {
		return usagef("--refresh looks again at pages that are stored: it goes with --resume")
	}
	opt.Refresh = c.Refresh
	return nil
}

// refreshedOf returns what a session's refresh brought, nil when it had none.
func (c *focusCmd) refreshedOf(r crawler.Refreshed) *refreshResult {
	if c.Refresh == 0 {
		return nil
	}
	return &refreshResult{r.Asked, r.NotModified, r.Changed, r.Gone, r.Failed}
}

func (r *refreshResult) print(w io.Writer) {
	if r == nil {
		return
	}
	printable.Fprintf(w, "asked again for %d stored pages: %d as they were, %d changed, %d gone, %d without an answer that tells\n",
		r.Asked, r.NotModified, r.Changed, r.Gone, r.Failed)
}

// tellRefresh adds what later visits to a stored page have brought.
func (r *whyResult) tellRefresh(l *store.Life) {
	if l.Page == nil {
		return
	}
	for _, v := range l.Visits {
		if len(v.Was) > 0 {
			r.Reasons = append(r.Reasons, fmt.Sprintf("its content had changed by %s: the checksum was %x before", at(v.Start).Format(time.DateTime), v.Was))
		}
	}
	if l.Fate != nil && l.Fate.Stored {
		r.Page, r.Title = &l.Page.Number, &l.Page.Title
		r.Reasons = append(r.Reasons, fmt.Sprintf("page %d is stored as it was on %s", l.Page.Number, at(l.Page.Seen()).Format(time.DateTime)))
	} else if l.Fate != nil && l.Fate.State == "ok" && l.Page.Checked != 0 {
		r.Reasons = append(r.Reasons, "it was as it is stored on "+at(l.Page.Checked).Format(time.DateTime))
	}
}
