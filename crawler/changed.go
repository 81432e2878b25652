package crawler

import (
	"fossick/crawler/fetch"
	"fossick/store"
	"fossick/store/change"
)

// texter returns the main text of a body, "" where it has none.
type texter func(body []byte, contentType, url string) string

// changed says what has changed of a page since it was stored, and packs the former body
// where it is to be kept. An advert or a date that is another one changes the content and
// not the main text (paper E, E6, knew contents only).
func (r *reader) changed(old *store.Page, p *readingPage, resp *fetch.Response) change.Kind {
	switch {
	case old == nil || p.Is(old.Checksum, old.Raw):
		return change.None
	case r.opt.Text == nil || old.Withdrawn:
		return change.Unsure
	}
	body, err := r.opt.Body(old.Number)
	if err != nil { // the page is stored anew all the same, which mends it
		return change.Unsure
	}
	if r.opt.KeepVersions || old.Versions > 0 {
		if p.Former, err = store.CompressFormer(body, resp.Body); err != nil {
			r.opt.Log.Warn("the earlier body of a page is not kept", "url", old.URL, "err", err)
		}
	}
	if change.SameText(r.opt.Text(body, old.ContentType, old.URL), r.opt.Text(resp.Body, resp.ContentType, old.URL)) {
		return change.Content
	}
	return change.Text
}
