package maintext_test

import (
	"fmt"

	"fossick/internal/maintext"
)

// A page's text, without its surroundings and its title.
func Example() {
	page := `<nav><a href="/">Home</a> <a href="/news">News</a></nav>
<article><h1>Moles</h1><p>Moles dig tunnels, and they do so all year, in any soil that has worms enough to live on.</p>
<p>A mole can dig <b>four metres</b> in an hour. It sleeps, digs and eats by turns, four hours each, day and night.</p></article>
<footer>© A garden. All rights reserved.</footer>`
	fmt.Print(maintext.Extract([]byte(page)).Markdown(func(href string) string { return href }))
	// Output:
	// Moles dig tunnels, and they do so all year, in any soil that has worms enough to live on.
	//
	// A mole can dig **four metres** in an hour. It sleeps, digs and eats by turns, four hours each, day and night.
}
