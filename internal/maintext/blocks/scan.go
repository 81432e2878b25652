package blocks

import (
	"bytes"

	"golang.org/x/net/html"
)

// token is what the scanner found.
type token byte

const (
	endOfPage token = iota
	textToken       // s.text
	startTag        // s.name, s.empty, s.get
	endTag          // s.name
)

// scanner cuts a page into text and tags.
type scanner struct {
	z     *html.Tokenizer
	text  []byte // entities not decoded
	name  []byte // lower case
	empty bool   // the start tag ends in "/>"

	attrs []attr // of the last start tag, those that are looked at, once read is set
	more  bool   // it has some
	read  bool
}

// attr is an attribute of a tag.
type attr struct{ key, value string }

// maxAttrs bounds the attributes of a tag that are read.
const maxAttrs = 64

func newScanner(page []byte) *scanner {
	return &scanner{z: html.NewTokenizer(bytes.NewReader(page))}
}

// next finds the next token. What the last one gave is no longer valid then.
func (s *scanner) next() token {
	for {
		switch kind := s.z.Next(); kind {
		case html.ErrorToken:
			return endOfPage
		case html.TextToken:
			s.text = s.z.Raw()
			return textToken
		case html.StartTagToken, html.SelfClosingTagToken:
			s.empty = kind == html.SelfClosingTagToken
			s.name, s.more = s.z.TagName()
			s.attrs, s.read = s.attrs[:0], false
			return startTag
		case html.EndTagToken:
			s.name, _ = s.z.TagName()
			return endTag
		}
	}
}

// get returns the value of an attribute of the last start tag, "" when it has none.
func (s *scanner) get(key string) string {
	a := s.find(key)
	if a == nil {
		return ""
	}
	return a.value
}

// has says whether the last start tag has an attribute.
func (s *scanner) has(key string) bool { return s.find(key) != nil }

// find reads the attributes when one is asked for first: most tags are never asked.
func (s *scanner) find(key string) *attr {
	for n := 0; !s.read && s.more && n < maxAttrs; n++ {
		var k, v []byte
		k, v, s.more = s.z.TagAttr()
		switch string(k) {
		case "class", "id", "href", "style", "role", "itemprop", "hidden", "aria-hidden":
			s.attrs = append(s.attrs, attr{string(k), string(v)})
		}
	}
	s.read = true
	for i := range s.attrs {
		if s.attrs[i].key == key {
			return &s.attrs[i]
		}
	}
	return nil
}

// content goes behind the element's end and returns the text in it.
func (s *scanner) content(name string) (text []byte) {
	depth := 1
	for {
		switch s.z.Next() {
		case html.ErrorToken:
			return text
		case html.TextToken:
			text = append(text, s.z.Text()...)
		case html.StartTagToken:
			if n, _ := s.z.TagName(); string(n) == name {
				depth++
			}
		case html.EndTagToken:
			if n, _ := s.z.TagName(); string(n) == name {
				if depth--; depth == 0 {
					return text
				}
			}
		}
	}
}
