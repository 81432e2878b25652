package demo

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// mention is a word of a text that fits another article's title.
type mention struct {
	para, from, to int // bytes of the paragraph
	word           string
	target         *Page
}

// Links in the text of one article, by where they lead.
const (
	inTextSame = 2 // at most, to the same site or theme
	inTextFar  = 1 // at most, to another theme: the same word in another sense, often
)

// linkArticles gives every article its paragraphs with links on fitting words, a
// list of related pages and the way to its neighbours.
func (d *Web) linkArticles() {
	words := map[string][]*Page{}
	var all []*Page
	for _, s := range d.sites {
		for _, p := range s.articles {
			all = append(all, p)
			for w := range titleWords(p.text.title) {
				words[w] = append(words[w], p)
			}
		}
	}
	for _, p := range all {
		p.doc.crumbs = []anchor{{"Home", "/"}}
		if index := p.site.index[p.text.section]; index != nil {
			p.doc.crumbs = append(p.doc.crumbs, anchor{index.doc.title, index.path})
		}
		p.doc.crumbs = append(p.doc.crumbs, anchor{p.doc.title, ""})
		p.doc.blocks = p.paragraphs(d.mentions(p, words))
		p.doc.blocks = append(p.doc.blocks, block{heading: "Related"}, block{items: d.related(p, all)})
	}
	for _, s := range d.sites {
		for i, p := range s.articles {
			if i > 0 {
				p.doc.foot = append(p.doc.foot, anchor{"Later", s.articles[i-1].path})
			}
			if i+1 < len(s.articles) {
				p.doc.foot = append(p.doc.foot, anchor{"Earlier", s.articles[i+1].path})
			}
		}
	}
}

// titleWords returns the words of a title that are worth a link.
func titleWords(title string) map[string]bool {
	words := map[string]bool{}
	for w := range strings.FieldsFuncSeq(title, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if w = wordKey(w); len(w) >= 4 && !common(w) {
			words[w] = true
		}
	}
	return words
}

// wordKey folds case and the plural.
func wordKey(w string) string {
	w = strings.ToLower(w)
	if len(w) > 4 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") {
		w = w[:len(w)-1]
	}
	return w
}

// common words stand in titles and link nothing.
func common(w string) bool {
	return slices.Contains(strings.Fields(`what does from with when your that this inside behind between where which why
		how before beyond plain their over under than then into make made work self once half always never every after
		about first people between beside your there until`), w)
}

// mentions chooses the words of a text that become links.
func (d *Web) mentions(p *Page, words map[string][]*Page) []mention {
	var near, far []mention
	for i, text := range p.text.paras {
		for from, to := range wordsOf(text) {
			w := wordKey(text[from:to])
			for _, target := range words[w] {
				m := mention{i, from, to, w, target}
				switch {
				case target == p:
				case target.site == p.site || target.Labels[0] == p.Labels[0] && p.Labels[0] != otherLabel || target.text.section == p.text.section:
					near = append(near, m)
				default:
					far = append(far, m)
				}
			}
		}
	}
	var chosen []mention
	pick := func(from []mention, n int) {
		for _, i := range d.rng.Perm(len(from)) {
			clash := func(c mention) bool { return c.word == from[i].word || c.target == from[i].target }
			if n > 0 && !slices.ContainsFunc(chosen, clash) {
				chosen, n = append(chosen, from[i]), n-1
			}
		}
	}
	pick(near, inTextSame)
	pick(far, inTextFar)
	slices.SortFunc(chosen, func(a, b mention) int {
		return cmp.Or(cmp.Compare(a.para, b.para), cmp.Compare(a.from, b.from))
	})
	return chosen
}

// wordsOf iterates over the words of a text, as from and to in bytes.
func wordsOf(text string) func(yield func(from, to int) bool) {
	return func(yield func(from, to int) bool) {
		start := -1
		for i, r := range text {
			if unicode.IsLetter(r) {
				if start < 0 {
					start = i
				}
				continue
			}
			if start >= 0 && !yield(start, i) {
				return
			}
			start = -1
		}
		if start >= 0 && utf8.ValidString(text) {
			yield(start, len(text))
		}
	}
}

// paragraphs cuts the text at its links.
func (p *Page) paragraphs(links []mention) []block {
	var blocks []block
	for i, text := range p.text.paras {
		var spans []span
		at := 0
		for _, m := range links {
			if m.para == i && m.from >= at {
				spans = append(spans, span{text: text[at:m.from]}, span{text[m.from:m.to], m.target.from(p.site)})
				at = m.to
			}
		}
		blocks = append(blocks, block{spans: append(spans, span{text: text[at:]})})
	}
	return blocks
}

// related lists three pages of the site, one elsewhere on the theme, and one or
// two elsewhere on anything.
func (d *Web) related(p *Page, all []*Page) [][]span {
	var own, theme, any []*Page
	for _, o := range all {
		switch {
		case o == p:
		case o.site == p.site:
			own = append(own, o)
		case o.Labels[0] == p.Labels[0] && (p.Labels[0] != otherLabel || o.text.section == p.text.section):
			theme = append(theme, o)
		default:
			any = append(any, o)
		}
	}
	picked := slices.Concat(d.sample(own, 3), d.sample(theme, 1), d.sample(any, 1+d.rng.IntN(2)))
	var items [][]span
	for _, o := range picked {
		items = append(items, []span{{o.doc.title, o.from(p.site)}})
	}
	return items
}
