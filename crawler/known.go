package crawler

import "fossick/store"

// acrossKnown is what one agent tells another of a URL of a part that changes hands.
type acrossKnown struct {
	URL      string    `cbor:"1,keyasint" most:"2083"`
	Via      store.Via `cbor:"2,keyasint"`
	Depth    int       `cbor:"3,keyasint,omitempty"`
	Hops     int       `cbor:"4,keyasint,omitempty"`
	State    string    `cbor:"5,keyasint,omitempty"` // in which it ended, "" while it waits
	Score    float64   `cbor:"6,keyasint,omitempty"` // of the best that led to it
	Priority float64   `cbor:"7,keyasint,omitempty"`
	Visits   int       `cbor:"8,keyasint,omitempty"`
	Checksum []byte    `cbor:"9,keyasint,omitempty"`  // of its page, where one is stored
	Raw      []byte    `cbor:"10,keyasint,omitempty"` // likewise, of the bytes

	Also []float64 `cbor:"11,keyasint,omitempty"` // as store.Queued has it

	ID      store.ID `cbor:"-"` // in the store that knows it
	Missing bool     `cbor:"-"` // it waits since its page is lost
	Third   bool     `cbor:"-"` // its page is with an agent that had it before
}

// rest is what one agent tells another of a host that asked for a longer rest than all have.
type rest struct {
	Host string `cbor:"1,keyasint" most:"300"` // name:port
	Left int64  `cbor:"2,keyasint"`            // of it when this was said, milliseconds
	For  string `cbor:"3,keyasint,omitempty"`  // what asked for it, as store.Host has it
	Wish int64  `cbor:"4,keyasint,omitempty"`  // and for how long, milliseconds
}

// How a URL ends that another agent asked for.
const (
	StateElsewhere = "elsewhere"
	StateLost      = "lost" // its page is gone with that agent; told and counted by who has the site
)

// AskedElsewhere is why a URL is not asked for that another agent of the crawl had asked for, with
// the state in which it ended there.
func AskedElsewhere(state string) string {
	return "another agent of the crawl asked for it: " + state
}

// knownBytes is about how large a parcel of known URLs grows.
const knownBytes = parcelBytes

// Size is about how many bytes the record takes.
func (k *acrossKnown) Size() int { return 32 + len(k.URL) + len(k.Checksum) + len(k.Raw) }

// sums are the checksums of its page that are known.
func (k *acrossKnown) sums() (sums [][]byte) {
	for _, sum := range [][]byte{k.Checksum, k.Raw} {
		if len(sum) > 0 {
			sums = append(sums, sum)
		}
	}
	return sums
}
