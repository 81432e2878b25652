package crawler

import (
	"fmt"

	"fossick/internal/page"
	"fossick/store"
)

// lastLetter assigns URLs to parts by their last letter.
type lastLetter struct{ alone }

func (lastLetter) Part(url string) uint16   { return uint16(url[len(url)-1]) }
func (lastLetter) PartOf(sum []byte) uint16 { return uint16(sum[0]) }
func (lastLetter) Mine(part uint16) bool    { return part == 'a' }
func (lastLetter) Held(part uint16) bool    { return part == 'a' }
func (lastLetter) Ours(part uint16) bool    { return part == 'a' }

// A page has two links, one of which leads to another agent's part of the web.
func Example() {
	outgoing := newOutgoing(lastLetter{})
	for _, l := range []page.Link{{URL: "http://x.test/a"}, {URL: "http://x.test/b", Anchor: "honey"}} {
		fmt.Println(l.URL, "goes across:", outgoing.Take(l.URL, &l, 0, .5, 0))
	}
	err := outgoing.dispatch(Parcel{From: "http://y.test/a", Via: store.ViaLink}, func(part uint16, data []byte) error {
		p, err := unpack(data)
		if err == nil {
			fmt.Printf("for %c: %q\n", part, p.page().Links[0].Anchor)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// http://x.test/a goes across: false
	// http://x.test/b goes across: true
	// for b: "honey"
	// <nil>
}
