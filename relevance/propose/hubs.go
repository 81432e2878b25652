package propose

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"unicode"
)

func byPromise(a, b *kept) int {
	return cmp.Or(cmp.Compare(b.promise, a.promise), cmp.Compare(a.place, b.place))
}

// settle turns likeness into relevance, once all of the source is known: 0 is what
// candidates have in the mean, and 1 what the best have. Of a topic without words the judge's
// probability stands.
func (c *collection) settle() {
	slices.SortStableFunc(c.pool, byPromise)
	if len(c.pool) > pool {
		c.trim()
	}
	c.high = c.top()
	for _, k := range c.pool {
		k.relevance = c.relevance(k.like)
	}
}

// relevance is a likeness in [0,1].
func (c *collection) relevance(like float64) float64 {
	if c.topic.Judge != nil && len(c.profile.words) == 0 {
		return like
	}
	return min(1, max(0, (like-c.mean)/max(1e-9, c.high-c.mean)))
}

// top is the likeness from which on a candidate is as much on topic as an
// example. It is that of the tenth best candidate; of few candidates, of one
// that is better.
func (c *collection) top() float64 {
	likes := make([]float64, 0, len(c.pool))
	for _, k := range c.pool {
		likes = append(likes, k.like)
	}
	slices.SortFunc(likes, func(a, b float64) int { return cmp.Compare(b, a) })
	if len(likes) == 0 {
		return 1
	}
	return likes[min(len(likes)/20, 9)]
}

// target says how relevant the target of a link is: as the source has it, else by
// the words of the link.
func (c *collection) target(l outLink) float64 {
	if like, ok := c.all[l.key]; ok {
		return c.relevance(float64(like))
	}
	return float64(l.like)
}

// urlWords returns the words of a URL's path and query, without escapes, hyphens and
// the like.
func urlWords(raw string) string {
	_, rest, _ := strings.Cut(raw, "://")
	i := strings.IndexByte(rest, '/')
	if i < 0 {
		return ""
	}
	path := rest[i:]
	if plain, err := url.PathUnescape(path); err == nil {
		path = plain
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			return r
		}
		return ' '
	}, path)
}
