package blocks

import (
	"bytes"

	"golang.org/x/net/html"
)

type token byte

const (
	endOfPage token = iota
	textToken
	startTag
	endTag
)

type scanner struct {
	z     *html.Tokenizer
	text  []byte
	name  []byte
	empty bool
	attrs map[string]string
}

func newScanner(page []byte) *scanner {
	return &scanner{z: html.NewTokenizer(bytes.NewReader(page)), attrs: map[string]string{}}
}

func (s *scanner) next() token {
	for {
		switch s.z.Next() {
		case html.ErrorToken:
			return endOfPage
		case html.TextToken:
			s.text = s.z.Raw()
			return textToken
		case html.StartTagToken:
			s.empty = false
			s.tag()
			return startTag
		case html.SelfClosingTagToken:
			s.empty = true
			s.tag()
			return startTag
		case html.EndTagToken:
			s.name, _ = s.z.TagName()
			return endTag
		}
	}
}

func (s *scanner) tag() {
	name, more := s.z.TagName()
	s.name = append([]byte(nil), name...)
	clear(s.attrs)
	for more {
		var k, v []byte
		k, v, more = s.z.TagAttr()
		switch string(k) {
		case "class", "id", "href", "style", "role", "itemprop", "hidden", "aria-hidden":
			s.attrs[string(k)] = string(v)
		}
	}
}

func (s *scanner) get(key string) string { return s.attrs[key] }
func (s *scanner) has(key string) bool   { _, ok := s.attrs[key]; return ok }

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
