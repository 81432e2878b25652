package crawler

import (
	"fossick/crawler/fetch"
	"fossick/store"
)

// wire packs the headers of an answer that brought a page, said that one is as it was, or
// led elsewhere; nothing of others. p is what was read of it, nil where nothing was. The
// record's kind is for whoever decides what becomes of the URL.
func (r *reader) wire(resp *fetch.Response, p *readingPage) (w store.WireRecord) {
	if resp.Wire == nil || r.opt.Compress == nil {
		return w
	}
	switch resp.State {
	case fetch.StateNotModified, fetch.StateRedirect:
	case fetch.StateOK:
		if p == nil || p.Body == nil {
			return w // it is not kept
		}
		w.Digest = p.Digest
	default:
		return w
	}
	w.Packed = store.PackWire(resp.URL, &store.Wire{
		Protocol: resp.Wire.Protocol, Addr: resp.Addr, Request: resp.Wire.Request, Response: resp.Wire.Response,
		Rebuilt: resp.Wire.Rebuilt, Cut: resp.Wire.Cut,
	})
	return w
}
