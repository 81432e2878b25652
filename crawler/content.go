package crawler

import (
	"cmp"
	"fmt"

	"fossick/internal/page"
)

// content is what agents tell each other of pages that have the same content. Each step goes
// to who has the next part of the question, and nobody waits for the answer (paper C2).
type content struct {
	Say      say    `cbor:"1,keyasint,omitempty"`
	Checksum []byte `cbor:"2,keyasint"`
	URL      string `cbor:"3,keyasint" most:"2083"`
	Other    string `cbor:"4,keyasint,omitempty" most:"2083"` // URL of another page with the content

	// Signature is that of Other, or of URL where that is alone; none where the pages are equal.
	// Of near-duplicates Checksum is a band (store.Bands).
	Signature   []byte  `cbor:"5,keyasint,omitempty"`
	Resemblance float64 `cbor:"6,keyasint,omitempty"` // of URL and Other, by their signatures
}

// say is a step of it.
type say uint8

// The steps. The first and the last go to who has the part of the content, the others to who
// has the URL's site.
const (
	contentStored    say = iota // URL's page was stored
	contentAsked                // Other's page may be dropped if URL has its content
	contentDuplicate            // URL's page is to be dropped: Other has its content
	contentGone                 // URL has not the content, or not any more, and Other has
	contentSays
)

// Part is the part of the web that a step is for.
func (c *content) Part(sites Sites) uint16 {
	if c.Say == contentStored || c.Say == contentGone {
		return sites.PartOf(c.Checksum)
	}
	return sites.Part(c.URL)
}

// acrossStands says whether of two URLs with the same content the first one stands for it: the
// shorter, of equals the first in the alphabet. Nothing else may decide. Who is asked twice,
// or another agent that knows less, must not find that each of them repeats the other.
func acrossStands(url, other string) bool {
	return cmp.Or(cmp.Compare(len(url), len(other)), cmp.Compare(url, other)) < 0
}

// contentBytes is about how large a parcel of contents grows.
const contentBytes = parcelBytes / 4

// Size is about how many bytes the step takes.
func (c *content) Size() int { return 32 + len(c.URL) + len(c.Other) + len(c.Signature) }

// check says what is wrong with a step that another machine sent.
func (c *content) check() error {
	two := c.Say != contentStored
	if c.Say >= contentSays || len(c.Checksum) != len(page.Checksum{}) || len(c.Signature) != 0 && len(c.Signature) != page.SignatureSize || !probability(c.Resemblance) || !normal(c.URL) || two != normal(c.Other) || c.URL == c.Other {
		return fmt.Errorf("a parcel with verdict %d on the content %.32x of %.100q and %.100q", c.Say, c.Checksum, c.URL, c.Other)
	}
	return nil
}
