package web

import (
	"slices"
	"strings"
	"testing"

	"fossick/internal/page"
	"fossick/internal/testkit"
)

// TestDocumentsSayTheSame: a page has the same title, words, headings and links, in this order, in
// each kind of document.
func TestDocumentsSayTheSame(t *testing.T) {
	long := strings.Repeat("The bees carry pollen and (nectar) to the hive\\comb before winter. ", 60)
	html := `<html lang=en><title>Bees & wax</title><h1>Bees & wax</h1><p>A <a href="/hive">hive</a> is full of <a href="/wax?a=1&b=(2)">bees' wax</a>, as <b>naïve</b> people say (Bienenwachs, пчелиный воск, 蜂蠟) and דונג too.
<h2>The queen</h2><p>` + long + `<a href="/queen">The queen of the hive</a> lays eggs; ` + long + `<a href="/colony">the colony of the hive with all of its bees, its queen, the wax, the drones</a>. <a href="/picture"><img src=x></a>`
	want := testkit.Call(page.Parse([]byte(html), page.ParseOptions{URL: "http://a.test/"})).Must(t)
	for _, kind := range documentKinds {
		body, err := kind.asDocument("http://a.test/", html)
		if err != nil {
			t.Fatal(err)
		}
		p, err := page.Parse(body, page.ParseOptions{URL: "http://a.test/", ContentType: kind.media})
		if err != nil {
			t.Errorf("%s: %v", kind.media, err)
			continue
		}
		words := strings.TrimSuffix(strings.Join(strings.Fields(p.Text), " "), " http://a.test/picture") // its anchor
		if p.Title != want.Title || p.Lang != "en" || words != strings.Join(strings.Fields(want.Text), " ") || !strings.Contains(p.Headings, "The queen") {
			t.Errorf("%s: %q in %s says %.300q…, with headings %q", kind.media, p.Title, p.Lang, words, p.Headings)
		}
		var links, anchors []string
		for _, l := range p.Links {
			links, anchors = append(links, l.URL), append(anchors, l.Anchor)
		}
		if !slices.Equal(links, []string{"http://a.test/hive", "http://a.test/wax?a=1&b=(2)", "http://a.test/queen", "http://a.test/colony", "http://a.test/picture"}) ||
			!slices.Equal(anchors[:4], []string{"hive", "bees' wax", "The queen of the hive", "the colony of the hive with all of its bees, its queen, the wax, the drones"}) {
			t.Errorf("%s: links %q with anchors %q", kind.media, links, anchors)
		}
	}
}
