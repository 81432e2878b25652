package crawler

import (
	"path"
	"strings"

	"fossick/crawler/frontier"
	"fossick/crawler/hosts"
	"fossick/graph/orders"
	"fossick/internal/page"
	"fossick/store"
)

const (
	// likePages is the size up to which a file costs no more than a page of HTML.
	likePages = 512 << 10
	// pageWorth is how many bytes cost as much as one more page: an exchange and its rest take some
	// two seconds, in which 10 Mbit/s bring this much.
	pageWorth = 2 << 20
	// hostsOwn is how many files of a host count as much as the mean of the crawl.
	hostsOwn = 4
	// filesRemembered is how many waiting files have a price at least, in 3 MB.
	filesRemembered = 1 << 15
)

// files prices links to documents by the size of such files so far. It counts bytes and not
// seconds, because a crawl's order must not depend on the load of a machine. It belongs to the
// crawl's owner.
type files struct {
	sums   map[string]store.Files // of the crawl, by kind
	priced page.Recent[pricedFile]
}

// pricedFile is a waiting file whose price has lowered its priority.
type pricedFile struct {
	kind  string
	own   store.Files // of its host, when it was priced
	bytes float64     // its expected size
	share float64     // of its priority that is left
}

func newFiles() *files {
	return &files{sums: map[string]store.Files{}, priced: page.NewRecent[pricedFile](filesRemembered)}
}

// kindOfFile returns the ending of a URL of a document, also of one such as /pdf/1234; "" for a
// page.
func kindOfFile(url string) string {
	at := strings.ToLower(page.Path(url))
	at, _, _ = strings.Cut(at, "?")
	switch kind := strings.TrimPrefix(path.Ext(at), "."); kind {
	case "pdf", "docx", "pptx", "xlsx", "odt", "odp", "ods", "epub", "rtf":
		return kind
	}
	if strings.Contains(at, "/pdf/") {
		return "pdf"
	}
	return ""
}

// Learn counts a file that was received, in its host's record too.
func (f *files) Learn(h *store.Host, url string, code int, received int64) {
	kind := kindOfFile(url)
	if kind == "" || code != 200 || received <= 0 {
		return
	}
	if h.Files == nil {
		h.Files = map[string]store.Files{}
	}
	one := store.Files{Count: 1, Bytes: received}
	addFiles(h.Files, kind, one)
	addFiles(f.sums, kind, one)
}

func addFiles(sums map[string]store.Files, kind string, more store.Files) {
	s := sums[kind]
	sums[kind] = store.Files{Count: s.Count + more.Count, Bytes: s.Bytes + more.Bytes}
}

// Recall counts the files in a host's record.
func (f *files) Recall(h *store.Host) {
	for kind, s := range h.Files {
		addFiles(f.sums, kind, s)
	}
}

// expect returns the expected size of a file in bytes: the mean of the host's files of the kind,
// shrunk to the mean of the crawl's; 0 while there is none.
func (f *files) expect(kind string, own store.Files) float64 {
	all := f.sums[kind]
	if all.Count == 0 {
		return 0
	}
	mean := float64(all.Bytes) / float64(all.Count)
	return (float64(own.Bytes) + hostsOwn*mean) / float64(own.Count+hostsOwn)
}

// shareOf returns the share of a link's priority that is left for a file of an expected size. The
// cost of a page of HTML is 1, and that of the file the inverse of the share. So a file is taken
// at the bid price of patience if it is worth that price for each page that it costs.
func shareOf(expected float64) float64 { return 1 / (1 + max(0, expected-likePages)/pageWorth) }

func (f *files) price(kind string, own store.Files) pricedFile {
	bytes := f.expect(kind, own)
	return pricedFile{kind, own, bytes, shareOf(bytes)}
}

// Of returns the share of a waiting URL by its page.Key; 1 if it is not priced.
func (f *files) Of(key uint64) float64 {
	if p, priced := f.priced.Peek(key); priced {
		return p.share
	}
	return 1
}

// renew brings the price of a waiting URL up to what is known now.
func (f *files) renew(key uint64) {
	if p, priced := f.priced.Peek(key); priced {
		f.priced.Change(key, f.price(p.kind, p.own))
	}
}

// tooDear prices a URL taken from the frontier, and reports whether its priority falls by that, so
// that it must go back. A URL is looked at when it comes to the head of the queue, because most
// never do.
func (c *Crawler) tooDear(it *frontier.Item, url string, queued store.Queued, h *hosts.Host) bool {
	kind := kindOfFile(url)
	if c.files == nil || kind == "" || c.filesPutBack == secondLooks {
		return false
	}
	was, now := c.files.Of(it.Key), c.files.price(kind, h.Files[kind])
	if was-now.share <= staleBelow*was {
		return false
	}
	priority := hosts.Raise(c.orders[0], it.Priority, was)
	if _, priced := c.files.priced.Peek(it.Key); !priced { // or it was, and that is forgotten
		priority = max(priority, c.unpriced(it.Key, queued))
	}
	c.files.priced.Remove(it.Key)
	c.files.priced.Put(it.Key, now)
	it.Priority = hosts.Lower(c.orders[0], priority, now.share)
	c.filesPutBack++
	c.untake(*it)
	return true
}

// unpriced returns the priority of a waiting URL by the scorer or the journal, lowered by its chance
// alone.
func (c *Crawler) unpriced(key uint64, queued store.Queued) float64 {
	priority := queued.Priority
	if s, ok := c.opt.Scorer.(Rescorer); ok {
		if score, known := s.Rescore(key); known {
			priority = c.orders[0].Priority(orders.Link{Score: score})
		}
	}
	return hosts.Lower(c.orders[0], priority, c.chances.Of(key))
}

// unprice ends the price of a file that is asked for now, and returns it; nil if it has none. If the
// file must wait again, it is priced anew.
func (c *Crawler) unprice(j *job, key uint64) *store.FilePrice {
	file := c.fileOf(key)
	if c.files != nil {
		j.Priority = hosts.Raise(c.orders[0], j.Priority, c.files.Of(key))
		c.files.priced.Remove(key)
	}
	return file
}

// fileOf returns the price of a waiting file; nil if it has none.
func (c *Crawler) fileOf(key uint64) *store.FilePrice {
	if c.files == nil {
		return nil
	}
	p, priced := c.files.priced.Peek(key)
	if !priced || p.share == 1 {
		return nil
	}
	return &store.FilePrice{Kind: p.kind, Bytes: int64(p.bytes), Share: p.share}
}
