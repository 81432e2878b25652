package page

import (
	"bytes"
	"slices"
)

// endless is what was begun and has no end on the rest of the page, where HTML
// has it swallow that rest. Each is found out once; the next is known before the
// tokenizer reads it. So time stays linear.
type endless struct {
	quotes   []int    // the last " and the last ' of the page, where these open a value
	comments bool     // no further "-->"
	tags     []string // elements without a further end tag
}

// skipComment skips a comment without end (it ends at the next bracket, as a
// declaration does) and "<!>", behind which the tokenizer looks for dashes.
func (s *scanner) skipComment() bool {
	rest := s.page[s.pos:]
	if !bytes.HasPrefix(rest, []byte("<!>")) && !(s.comments && bytes.HasPrefix(rest, []byte("<!--"))) {
		return false
	}
	s.goBehind(">")
	return true
}

// goBehind sets s.pos behind the next mark and says whether there is one; else
// it ends the page.
func (s *scanner) goBehind(mark string) bool {
	n := bytes.Index(s.page[s.pos:], []byte(mark))
	if n < 0 {
		s.pos = len(s.page)
		return false
	}
	s.pos += n + len(mark)
	return true
}

// mendComment goes on behind a comment, declaration or processing instruction
// that the tokenizer left unfinished, at the end of the page or of what it may hold.
func (s *scanner) mendComment() {
	raw := s.page[s.start:s.pos]
	switch {
	case s.pos < len(s.page) && len(raw) < maxTokenBytes:
		return
	case !bytes.HasPrefix(raw, []byte("<!--")):
		s.pos-- // it may be finished
		s.goBehind(">")
	case !bytes.HasSuffix(raw, []byte("-->")) && !bytes.HasSuffix(raw, []byte("--!>")):
		s.pos -= len("--") // its end may be cut in two
		if !s.goBehind("-->") {
			s.comments, s.pos = true, s.start
		}
	}
	s.z = nil
}

// mendTag goes on at a tag that the tokenizer left unfinished. If that is for a
// quote without its second, the tag is read again without the quote. Otherwise
// the tag is longer than the tokenizer may hold, and skipped, or the page ends in it.
func (s *scanner) mendTag() {
	end, quote := s.tagEnd()
	if quote >= 0 && len(s.quotes) < 2 {
		s.quotes = append(s.quotes, quote)
		end = s.start
	}
	s.pos, s.z = end, nil
}

// tagEnd finds the end of the tag at s.start. It finds instead a quote that opens a
// value and has no second on the page; else quote is -1. It takes each quote behind "="
// for one; where the tokenizer doesn't ("/=" begins a name), the tag may be lost.
func (s *scanner) tagEnd() (end, quote int) {
	p := s.page
	for i := s.start; ; i++ {
		n := bytes.IndexAny(p[i:], `>"'`)
		if n < 0 {
			return len(p), -1
		}
		i += n
		if p[i] == '>' {
			return i + 1, -1
		}
		before := bytes.TrimRight(p[s.start:i], " \t\r\n\f")
		if before[len(before)-1] != '=' || slices.Contains(s.quotes, i) {
			continue // not the beginning of a value
		}
		second := bytes.IndexByte(p[i+1:], p[i])
		if second < 0 {
			return len(p), i
		}
		i += second + 1
	}
}
