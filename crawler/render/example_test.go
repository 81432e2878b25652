package render_test

import (
	"fmt"

	"fossick/crawler/render"
)

func ExampleFind() {
	_, err := render.Find("/no/such/browser")
	fmt.Println(err)
	// Output: no browser /no/such/browser; give the path of Chromium or Chrome, or the ws:// address of one that runs
}
