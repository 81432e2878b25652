package planted

import (
	"fmt"
	"html"
	"math/rand/v2"
	"strings"
)

// database makes the records of one kind.
type database interface {
	kind() string
	name() string // in links to it
	// heading is what every list says above its records.
	heading(r *request) string
	// entry is what a list calls a record.
	entry(r *request, n int) string
	item(r *request, n int) (title, text string, onTopic bool)
}

// aList is how many records a list names.
const aList = 20

// request is what a page is made for.
type request struct {
	web  *Web
	base string // URL of the database
	rng  *rand.Rand
}

// list makes the page of a list: its records, its neighbours, and itself in other orders.
func (r *request) list(d database, n int) string {
	var b strings.Builder
	for i := n * aList; i < (n+1)*aList; i++ {
		fmt.Fprintf(&b, "<li><a href=\"%s/item/%d\">%s</a></li>\n", r.base, i, html.EscapeString(d.entry(r, i)))
	}
	for _, to := range []int{n - 1, n + 1, n + 2, n + 10, r.rng.IntN(Size / aList)} {
		if to >= 0 && to < Size/aList {
			fmt.Fprintf(&b, "<li><a href=\"%s/list?page=%d\">%d</a></li>\n", r.base, to, to)
		}
	}
	for _, by := range []string{"name", "date", "size"} {
		fmt.Fprintf(&b, "<li><a href=\"%s/list?page=%d&sort=%s\">by %s</a></li>\n", r.base, n, by, by)
		fmt.Fprintf(&b, "<li><a href=\"%s/list?page=%d&sort=%s&visit=%x\">by %s</a></li>\n", r.base, n, by, r.rng.Uint32(), by)
	}
	all := *r
	all.rng = r.web.draw(r.base)
	return r.page(fmt.Sprint(d.name(), " ", n), d.heading(&all), "<ul>\n"+b.String()+"</ul>\n")
}

// besides are the links of a record.
func (r *request) besides(d database, n int) string {
	var b strings.Builder
	for range 5 {
		i := r.rng.IntN(Size)
		if r.rng.IntN(2) == 0 {
			i = min(Size-1, n+1+r.rng.IntN(aList))
		}
		fmt.Fprintf(&b, "<p><a href=\"%s/item/%d\">%s</a></p>\n", r.base, i, html.EscapeString(d.entry(r, i)))
	}
	fmt.Fprintf(&b, "<p><a href=\"%s/item/%d?visit=%x\">print</a> <a href=\"%s/list?page=%d\">list</a></p>\n", r.base, n, r.rng.Uint32(), r.base, n/aList)
	return b.String()
}

func (r *request) page(title, text, links string) string {
	return fmt.Sprintf("<!DOCTYPE html>\n<html lang=\"en\"><head><title>%s</title></head><body>\n<h1>%[1]s</h1>\n<p>%s</p>\n%s</body></html>\n",
		html.EscapeString(title), html.EscapeString(text), links)
}

// wares are off topic, on a good host.
type wares struct{}

func (wares) kind() string                   { return "wares" }
func (wares) name() string                   { return "Wares" }
func (wares) heading(r *request) string      { return some(r.rng, r.web.prose.other, 60) }
func (wares) entry(r *request, _ int) string { return some(r.rng, r.web.prose.other, 3) }

func (wares) item(r *request, n int) (title, text string, onTopic bool) {
	return fmt.Sprint(some(r.rng, r.web.prose.other, 2), " ", n), some(r.rng, r.web.prose.other, 120), false
}

// board has lists that speak of the topic, and threads that do not.
type board struct{}

func (board) kind() string              { return "board" }
func (board) name() string              { return "Talk about the subject" }
func (board) heading(r *request) string { return some(r.rng, r.web.prose.topic, 120) }
func (board) entry(r *request, _ int) string {
	return one(r.rng, r.web.prose.titles)
}

func (board) item(r *request, n int) (title, text string, onTopic bool) {
	return fmt.Sprint("Thread ", n, ": ", one(r.rng, r.web.prose.titles)), some(r.rng, r.web.prose.other, 120), false
}

// archive has pages on topic among its first records, every other one, and then none.
type archive struct{ pages []*Page }

func newArchive(pages []*Page) archive { return archive{pages} }

func (archive) kind() string              { return "archive" }
func (archive) name() string              { return "Archive of the subject" }
func (archive) heading(r *request) string { return some(r.rng, r.web.prose.topic, 60) }

func (a archive) entry(r *request, n int) string {
	if n%2 == 0 && n/2 < len(a.pages) {
		return a.pages[n/2].Title
	}
	return some(r.rng, r.web.prose.other, 1) + " " + one(r.rng, r.web.prose.topic)
}

func (a archive) item(r *request, n int) (title, text string, onTopic bool) {
	if n%2 == 0 && n/2 < len(a.pages) {
		p := a.pages[n/2]
		return p.Title, p.Text, true
	}
	return fmt.Sprint("Record ", n), some(r.rng, r.web.prose.other, 120), false
}

// thin has one text on topic in five versions, in which a name and numbers change.
type thin struct{}

func (thin) kind() string              { return "thin" }
func (thin) name() string              { return "Table of the subject" }
func (thin) heading(r *request) string { return some(r.rng, r.web.prose.topic, 60) }
func (thin) entry(r *request, n int) string {
	return some(r.rng, r.web.prose.topic, 2) + fmt.Sprint(" ", n)
}

func (thin) item(r *request, n int) (title, text string, onTopic bool) {
	const versions = 5
	name := some(r.rng, r.web.prose.topic, 2)
	text = r.web.prose.texts[n%versions%len(r.web.prose.texts)]
	text = fmt.Sprintf("%s, number %d of %d. %s %s has %d entries, the last by %s.", name, n, Size, text, name, r.rng.IntN(900), some(r.rng, r.web.prose.topic, 2))
	return fmt.Sprint(name, " ", n), text, false
}
