package webstats

import (
	"context"
	"errors"
	"math/bits"
	"strings"
)

// stepBytes is paper E's step of page sizes.
const stepBytes = 256 << 10

// mostSteps is how many steps have a row; larger pages are in the last.
const mostSteps = 64

// notKnown stands for what a record does not say.
const notKnown = ""

// packing is how well pages of a size are packed.
type packing struct{ pages, bytes, packed int64 }

// pageCounts is what the stream of pages adds up to.
type pageCounts struct {
	places                                               places
	size                                                 spread
	links                                                spread
	unseen                                               spread // bytes of a page that are neither text nor title
	sized                                                int64  // bytes of the pages of which that is known
	steps                                                [mostSteps]int64
	packing                                              [packingClasses]packing
	kinds                                                map[string]int64 // pages by LinkKind; "" not known
	byKind                                               [3]int64         // links: frames, anchors, others
	degrees                                              *degrees
	media, charsets, langs, labels, tops, seconds, sites *groups
}

func newPageCounts(dir string) *pageCounts {
	return &pageCounts{
		places: places{}, kinds: map[string]int64{}, degrees: newDegrees(dir),
		media: newGroups(dir), charsets: newGroups(dir), langs: newGroups(dir), labels: newGroups(dir),
		tops: newGroups(dir), seconds: newGroups(dir), sites: newGroups(dir),
	}
}

func (c *pageCounts) close() error {
	err := c.degrees.close()
	for _, g := range []*groups{c.media, c.charsets, c.langs, c.labels, c.tops, c.seconds, c.sites} {
		err = errors.Join(err, g.close())
	}
	return err
}

// add counts a page.
func (c *pageCounts) add(p *Page) error {
	c.size.add(p.Bytes)
	c.steps[min(max(0, p.Bytes/stepBytes), mostSteps-1)]++
	c.links.add(int64(len(p.Links)))
	if p.Unseen >= 0 {
		c.unseen.add(min(p.Unseen, p.Bytes))
		c.sized += p.Bytes
	}
	if p.Packed > 0 {
		k := &c.packing[packingClass(p.Bytes)]
		k.pages, k.bytes, k.packed = k.pages+1, k.bytes+p.Bytes, k.packed+p.Packed
	}
	c.kinds[letters(p)]++
	for i, n := range p.Kinds[:min(len(p.Kinds), len(c.byKind))] {
		c.byKind[i] += int64(n)
	}
	var t tally
	t[nPages], t[nBytes], t[nLinks] = 1, p.Bytes, int64(len(p.Links))
	at := c.places.of(p.URL)
	c.media.add(mediaType(p.ContentType), &t)
	c.charsets.add(p.Charset, &t)
	c.langs.add(p.Lang, &t)
	c.labels.add(p.Label, &t)
	c.tops.add(at.top, &t)
	c.seconds.add(at.second, &t)
	c.sites.add(at.site, &t)
	return c.degrees.add(p)
}

func letters(p *Page) string { return LinkKind(p.Charset, p.Kinds) }

// LinkKind is paper E's link kind of a page with so many frames, anchors and others: h, a
// and f, in this order, where it has some, 0 where it has none, as ha0. Without links and
// charset it is not known.
func LinkKind(charset string, links []int) string {
	if charset == "" && links == nil {
		return notKnown
	}
	kind := []byte("000")
	for i, n := range links[:min(len(links), 3)] {
		if n > 0 {
			kind[2-i] = "fah"[i]
		}
	}
	return string(kind)
}

// mediaType is a Content-Type without its parameters.
func mediaType(contentType string) string {
	media, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(media))
}

// Pages of less than 4 KiB are the first class, each further one is four times as large.
const packingClasses = 5

func packingClass(bytes int64) int {
	return min(packingClasses-1, max(0, (bits.Len64(uint64(max(0, bytes)))-11)/2))
}

// count walks a source's pages, and then its links.
func (c *pageCounts) count(ctx context.Context, from Source, done func(int)) error {
	c.degrees.begin()
	n := 0
	for p, err := range from.Pages() {
		if n++; n%progressStep == 0 && err == nil {
			err = ctx.Err()
			done(progressStep)
		}
		if err == nil {
			err = c.add(p)
		}
		if err != nil {
			return err
		}
	}
	done(n % progressStep)
	err := c.degrees.settle(ctx)
	return errors.Join(err, c.degrees.close())
}
