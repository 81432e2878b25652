package across_test

import (
	"fmt"

	"fossick/crawler/across"
	"fossick/internal/page"
	"fossick/store"
)

// letters divides the web by the last letter of a URL.
type letters struct{}

func (letters) Part(url string) uint16   { return uint16(url[len(url)-1]) }
func (letters) PartOf(sum []byte) uint16 { return uint16(sum[0]) }
func (letters) Mine(part uint16) bool    { return part == 'a' }
func (letters) Held(part uint16) bool    { return part == 'a' }
func (letters) Ours(part uint16) bool    { return part == 'a' }

// A page has two links, one of which leads to another agent's part of the web.
func Example() {
	post := across.NewPost(letters{})
	for _, l := range []page.Link{{URL: "http://x.test/a"}, {URL: "http://x.test/b", Anchor: "honey"}} {
		fmt.Println(l.URL, "goes across:", post.Take(l.URL, &l, 0, .5, 0))
	}
	err := post.Dispatch(across.Parcel{From: "http://y.test/a", Via: store.ViaLink}, func(part uint16, data []byte) error {
		p, err := across.Unpack(data)
		if err == nil {
			fmt.Printf("for %c: %q\n", part, p.Page().Links[0].Anchor)
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
