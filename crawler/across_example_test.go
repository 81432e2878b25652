package crawler

import (
	"fmt"

	"fossick/internal/page"
	"fossick/store"
)

// acrossLetters divides the web by the last letter of a URL.
type acrossLetters struct{}

func (acrossLetters) Part(url string) uint16   { return uint16(url[len(url)-1]) }
func (acrossLetters) PartOf(sum []byte) uint16 { return uint16(sum[0]) }
func (acrossLetters) Mine(part uint16) bool    { return part == 'a' }
func (acrossLetters) Held(part uint16) bool    { return part == 'a' }
func (acrossLetters) Ours(part uint16) bool    { return part == 'a' }

// A page has two links, one of which leads to another agent's part of the web.
func Example() {
	post := newPost(acrossLetters{})
	for _, l := range []page.Link{{URL: "http://x.test/a"}, {URL: "http://x.test/b", Anchor: "honey"}} {
		fmt.Println(l.URL, "goes across:", post.Take(l.URL, &l, 0, .5, 0))
	}
	err := post.dispatch(Parcel{From: "http://y.test/a", Via: store.ViaLink}, func(part uint16, data []byte) error {
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
