package page_test

import (
	"fmt"

	"fossick/internal/page"
)

func ExampleParse() {
	html := `<html lang=en><title>Rocks</title><p>All about <a href="../basalt#top">basalt</a>.`
	p, err := page.Parse([]byte(html), page.ParseOptions{URL: "http://geo.test/rocks/index.html"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Title, p.Lang)
	for _, l := range p.Links {
		fmt.Println(l.URL, l.Anchor)
	}
	// Output:
	// Rocks en
	// http://geo.test/basalt basalt
}

func ExampleNormalize() {
	fmt.Println(page.Normalize("HTTP://Geo.Test:80/a/../b%7e?PHPSESSID=1#part"))
	// Output: http://geo.test/b~ <nil>
}
