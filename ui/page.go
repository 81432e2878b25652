package ui

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"html"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/microcosm-cc/bluemonday"

	"fossick/crawler"
	"fossick/crawler/story"
	"fossick/internal/cli"
	"fossick/internal/page"
	"fossick/store"
)

type storyAnswer struct {
	*story.Story
	Path []step `json:"path"` // from a start page to this URL, which is the last
}

type step struct {
	URL   string   `json:"url"`
	Title string   `json:"title"`
	Score *float64 `json:"score"` // null before its fetch
}

// mostSteps bounds a path.
const mostSteps = 200

// story answers GET /story.
func (f *Interface) story(r *http.Request) (any, error) {
	told, err := f.Story(r.Context(), r.URL.Query().Get("url"))
	if err != nil {
		return nil, err
	}
	s, done, err := f.Open(r.Context())
	if err != nil {
		return nil, err
	}
	defer done()
	v := storyAnswer{Story: told, Path: []step{}}
	for at := told.URL; at != "" && len(v.Path) < mostSteps; {
		life, err := s.URLs().Life(at)
		if errors.Is(err, store.ErrUnknown) {
			break // a sitemap
		}
		if err != nil {
			return nil, err
		}
		one := step{URL: at}
		if p := life.Page; p != nil {
			one.Title, one.Score = cli.Cut(p.Title, titleShown), &p.Score
		}
		v.Path = append(v.Path, one)
		at = life.FoundBy
	}
	slices.Reverse(v.Path)
	return v, nil
}

type block struct {
	Heading bool   `json:"heading"`
	Text    string `json:"text"`
}

type word struct {
	Word   string  `json:"word"`
	Weight float64 `json:"weight"` // above 0: on topic
}

type linkIn struct {
	URL   string  `json:"url"`
	Title string  `json:"title"`
	Text  string  `json:"text"` // of the link
	Score float64 `json:"score"`
}

type linkOut struct {
	URL   string   `json:"url"`
	Text  string   `json:"text"`
	Score *float64 `json:"score"` // of the page, or of its best link; null if it was not queued
	State string   `json:"state"` // waiting, or that in which it ended; "" if the crawl does not know it
}

type totals struct {
	In  *int `json:"in"` // null if the store is so large that its links were not all read
	Out int  `json:"out"`
}

type pageAnswer struct {
	Row      Row       `json:"row"`
	Blocks   []block   `json:"blocks"`
	Words    []word    `json:"words"`
	LinksIn  []linkIn  `json:"links_in"`
	LinksOut []linkOut `json:"links_out"`
	Totals   totals    `json:"totals"`
}

// Bounds of a page's parts.
const (
	mostLinks  = 200
	mostWords  = 40
	mostBlocks = 2000
	linksTime  = time.Second // for the search of links to a page
)

// stored opens the store and finds the page in the query.
func (f *Interface) stored(r *http.Request) (s *store.Store, life *store.Life, done func() error, err error) {
	s, address, done, err := f.wanted(r)
	if err != nil {
		return nil, nil, nil, err
	}
	if life, err = s.URLs().Life(address); err == nil && life.Page == nil {
		err = cli.Usagef("%s: %v; /story tells what became of it", address, store.ErrNoPage)
	}
	if err != nil {
		_ = done()
		return nil, nil, nil, err
	}
	return s, life, done, nil
}

// page answers GET /page.
func (f *Interface) page(r *http.Request) (any, error) {
	s, life, done, err := f.stored(r)
	if err != nil {
		return nil, err
	}
	defer done()
	p := life.Page
	v := pageAnswer{Words: []word{}, LinksIn: []linkIn{}, LinksOut: []linkOut{}}
	refined, err := s.Label(p.Number)
	if err != nil {
		return nil, err
	}
	sc := scan{x: &f.index, topic: s.Info().Topic}
	if life.Mark != nil {
		sc.marks = map[store.ID]uint8{p.ID: flagOf(life.Mark.OnTopic)}
	}
	v.Row = f.shownPage(sc.row(p, refined), p)
	body, err := s.Body(p.Number)
	if err != nil {
		return nil, err
	}
	v.Blocks = blocksOf(f.text(body, p))
	v.Words = wordsOf(p.Rule, p.Relevant)
	if refined != nil {
		v.Words = wordsOf(refined.Rule, refined.Kept)
	}
	urls, err := f.urls(s)
	if err != nil {
		return nil, err
	}
	if err := v.linksOut(s, urls, p.URL); err != nil {
		return nil, err
	}
	return v, v.linksIn(r.Context(), s, urls, p)
}

// ruleWord is a stem with its weight for the label, as rules of models tell them.
var ruleWord = regexp.MustCompile(`(?:^|, )(\S+) ([+-]\d+(?:\.\d+)?)`)

// wordsOf returns the words of a rule, as far as it has some.
func wordsOf(rule string, onTopic bool) []word {
	words := []word{}
	for _, m := range ruleWord.FindAllStringSubmatch(rule, mostWords) {
		weight, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			continue
		}
		if !onTopic { // the weights are for another label
			weight = -weight
		}
		words = append(words, word{m[1], weight})
	}
	slices.SortStableFunc(words, func(a, b word) int { return cmp.Compare(math.Abs(b.Weight), math.Abs(a.Weight)) })
	return words
}

// blocksOf cuts a page's text, as Markdown if it has some, into headings and paragraphs.
func blocksOf(text, markdown string) []block {
	if markdown != "" {
		text = unescape.Replace(markdown)
	}
	blocks := []block{}
	for part := range strings.SplitSeq(text, "\n\n") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		if len(blocks) == mostBlocks {
			break
		}
		heading := strings.TrimLeft(part, "#")
		if is := markdown != "" && len(heading) < len(part) && strings.HasPrefix(heading, " "); is {
			blocks = append(blocks, block{true, strings.TrimSpace(heading)})
		} else {
			blocks = append(blocks, block{false, part})
		}
	}
	return blocks
}

// unescape takes away the escapes of Markdown.
var unescape = func() *strings.Replacer {
	var pairs []string
	for _, c := range "\\`*_{}[]<>()#+-.!|~&$" {
		pairs = append(pairs, `\`+string(c), string(c))
	}
	return strings.NewReplacer(pairs...)
}()

func (v *pageAnswer) linksOut(s *store.Store, urls *page.Normalizer, address string) error {
	parsed, err := crawler.Parse(s, urls, address)
	if err != nil {
		return err
	}
	v.Totals.Out = len(parsed.Links)
	for i := range parsed.Links[:min(mostLinks, len(parsed.Links))] {
		l := &parsed.Links[i]
		one := linkOut{URL: l.URL, Text: cli.Cut(l.Anchor, titleShown)}
		life, err := s.URLs().Life(l.URL)
		switch {
		case errors.Is(err, store.ErrUnknown):
		case err != nil:
			return err
		case life.Queued != nil:
			one.State, one.Score = "waiting", &life.Queued.Score
		case life.Outcome != nil:
			one.State, one.Score = life.Outcome.State, &life.Outcome.Score
			if life.Page != nil && life.Outcome.HasPage() {
				one.Score = &life.Page.Score
			}
		}
		v.LinksOut = append(v.LinksOut, one)
	}
	return nil
}

// linksIn looks for links to a page in all pages, for a moment.
func (v *pageAnswer) linksIn(ctx context.Context, s *store.Store, urls *page.Normalizer, to *store.Page) error {
	began, total, whole := time.Now(), 0, true
	var from []store.Page
	for p, err := range s.Pages() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if time.Since(began) > linksTime {
			whole = false
			break
		}
		if p.ID == to.ID || !slices.Contains(p.Links, to.ID) {
			continue
		}
		if total++; len(from) < mostLinks {
			from = append(from, store.Page{URL: p.URL, Title: p.Title, Score: p.Score})
		}
	}
	if whole {
		v.Totals.In = &total
	}
	for _, p := range from {
		one := linkIn{URL: p.URL, Title: cli.Cut(p.Title, titleShown), Score: p.Score}
		if time.Since(began) < 2*linksTime {
			one.Text = anchorOf(s, urls, p.URL, to.URL)
		}
		v.LinksIn = append(v.LinksIn, one)
	}
	return nil
}

func anchorOf(s *store.Store, urls *page.Normalizer, from, to string) string {
	p, err := crawler.Parse(s, urls, from)
	if err != nil {
		return "" // the link is there without its text
	}
	for i := range p.Links {
		if p.Links[i].URL == to {
			return cli.Cut(p.Links[i].Anchor, titleShown)
		}
	}
	return ""
}

// snapshotCSP keeps a stored page from running, loading and sending anything, and gives it an origin of
// its own. Only our page may frame it.
const snapshotCSP = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'self'"

// snapshotPolicy keeps the structure and the text of a page: no script, style, form, frame, address or
// event handler. Pictures stay if they are in the page.
var snapshotPolicy = sync.OnceValue(func() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("article", "aside", "section", "header", "footer", "main", "nav", "figure", "figcaption", "hgroup", "address",
		"h1", "h2", "h3", "h4", "h5", "h6", "p", "div", "span", "br", "hr", "blockquote", "pre", "code", "kbd", "samp", "var",
		"b", "strong", "i", "em", "u", "s", "small", "sub", "sup", "mark", "abbr", "cite", "dfn", "q", "time", "ins", "del", "a",
		"details", "summary", "noscript")
	p.AllowLists()
	p.AllowTables()
	p.AllowAttrs("dir").Matching(bluemonday.Direction).Globally()
	p.AllowAttrs("lang").Matching(bluemonday.ISO8601).Globally()
	p.AllowImages()
	p.AllowDataURIImages()
	p.RewriteSrc(func(u *url.URL) {
		if u.Scheme != "data" {
			*u = url.URL{Scheme: "data", Opaque: "image/gif;base64,R0lGODlhAQABAAAAACw="} // nothing
		}
	})
	return p
})

const snapshotHead = `<!doctype html><html><head><meta charset="utf-8"><title>stored page</title><style>
body{font:16px/1.5 sans-serif;margin:1em;max-width:50em;overflow-wrap:anywhere;color:#222;background:#fff}img{max-width:100%}table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:.2em .4em}pre{white-space:pre-wrap}
</style></head><body>`

// snapshot answers GET /snapshot.
func (f *Interface) snapshot(w http.ResponseWriter, r *http.Request) {
	text, err := f.safe(r)
	if err != nil {
		fail(w, statusOf(err), err.Error())
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", snapshotCSP)
	_, _ = w.Write(text) // a client that left needs no answer
}

// safe returns the stored page as HTML that does nothing.
func (f *Interface) safe(r *http.Request) ([]byte, error) {
	s, life, done, err := f.stored(r)
	if err != nil {
		return nil, err
	}
	defer done()
	body, err := s.Body(life.Page.Number)
	if err != nil {
		return nil, err
	}
	out := bytes.NewBufferString(snapshotHead)
	text, plain, err := page.Decode(body, life.Page.ContentType)
	switch {
	case err != nil:
		return nil, err
	case plain:
		out.WriteString("<pre>" + html.EscapeString(string(text)) + "</pre>")
	default:
		out.Write(snapshotPolicy().SanitizeBytes(text))
	}
	out.WriteString("</body></html>")
	return out.Bytes(), nil
}
