package across

import (
	"cmp"
	"fmt"

	"fossick/internal/page"
)

// Content is what agents tell each other of pages that have the same content. Each step goes
// to who has the next part of the question, and nobody waits for the answer (paper C2).
type Content struct {
	Say      Say    `cbor:"1,keyasint,omitempty"`
	Checksum []byte `cbor:"2,keyasint"`
	URL      string `cbor:"3,keyasint" most:"2083"`
	Other    string `cbor:"4,keyasint,omitempty" most:"2083"` // URL of another page with the content

	// Signature is that of Other, or of URL where that is alone; none where the pages are equal.
	// Of near-duplicates Checksum is a band (store.Bands).
	Signature   []byte  `cbor:"5,keyasint,omitempty"`
	Resemblance float64 `cbor:"6,keyasint,omitempty"` // of URL and Other, by their signatures
}

// Say is a step of it.
type Say uint8

// The steps. The first and the last go to who has the part of the content, the others to who
// has the URL's site.
const (
	ContentStored    Say = iota // URL's page was stored
	ContentAsked                // Other's page may be dropped if URL has its content
	ContentDuplicate            // URL's page is to be dropped: Other has its content
	ContentGone                 // URL has not the content, or not any more, and Other has
	contentSays
)

// Part is the part of the web that a step is for.
func (c *Content) Part(sites Sites) uint16 {
	if c.Say == ContentStored || c.Say == ContentGone {
		return sites.PartOf(c.Checksum)
	}
	return sites.Part(c.URL)
}

// Stands says whether of two URLs with the same content the first one stands for it: the
// shorter, of equals the first in the alphabet. Nothing else may decide. Who is asked twice,
// or another agent that knows less, must not find that each of them repeats the other.
func Stands(url, other string) bool {
	return cmp.Or(cmp.Compare(len(url), len(other)), cmp.Compare(url, other)) < 0
}

// ContentBytes is about how large a parcel of contents grows.
const ContentBytes = parcelBytes / 4

// Size is about how many bytes the step takes.
func (c *Content) Size() int { return 32 + len(c.URL) + len(c.Other) + len(c.Signature) }

// check says what is wrong with a step that another machine sent.
func (c *Content) check() error {
	two := c.Say != ContentStored
	if c.Say >= contentSays || len(c.Checksum) != len(page.Checksum{}) || len(c.Signature) != 0 && len(c.Signature) != page.SignatureSize || !probability(c.Resemblance) || !normal(c.URL) || two != normal(c.Other) || c.URL == c.Other {
		return fmt.Errorf("a parcel with verdict %d on the content %.32x of %.100q and %.100q", c.Say, c.Checksum, c.URL, c.Other)
	}
	return nil
}
