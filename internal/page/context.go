package page

import "strings"

// lineOf is a line of a text, found again fast when asked for nearby places.
type lineOf struct{ start, end int }

// find sets l to the line around at.
func (l *lineOf) find(text string, at int) {
	if l.end > 0 && l.start <= at && at <= l.end {
		return
	}
	at = min(at, len(text))
	l.start = strings.LastIndexByte(text[:at], '\n') + 1
	l.end = len(text)
	if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
		l.end = at + n
	}
}

// contextWords is how many words on each side of a link make its context.
const contextWords = 10

// maxSideBytes bounds a side of the context in languages that set no spaces.
const maxSideBytes = 160

// appendContext appends the words of the line before and after the anchor, and says
// where they are.
func appendContext(dst []byte, text string, line lineOf, m mark) ([]byte, Around) {
	from, end := lastWords(text[min(line.start, m.start):m.start])
	at := Around{spanAt(min(line.start, m.start), from, end)}
	if m.end < line.end {
		from, end = firstWords(text[m.end:line.end])
		at[1] = spanAt(m.end, from, end)
	}
	before, after := at[0].of(text), at[1].of(text)
	dst = append(dst, before...)
	if before != "" && after != "" {
		dst = append(dst, ' ')
	}
	return append(dst, after...), at
}

// spanAt is a part of a line that begins at base.
func spanAt(base, from, end int) Span {
	if from == end {
		return Span{}
	}
	return Span{int32(base + from), int32(base + end)}
}

func (s Span) of(text string) string { return text[s.Start:s.End] }

// lastWords returns where the last ContextWords words of a line are.
func lastWords(s string) (from, end int) {
	s = strings.TrimRight(s, " ")
	i := len(s)
	for words := 0; i > 0; i-- {
		if s[i-1] == ' ' {
			if words++; words == contextWords {
				break
			}
		}
		if len(s)-i > maxSideBytes {
			break
		}
	}
	for i < len(s) && s[i]&0xC0 == 0x80 {
		i++
	}
	return len(s) - len(strings.TrimLeft(s[i:], " ")), len(s)
}

// firstWords returns where the first ContextWords words of a line are.
func firstWords(s string) (from, end int) {
	all := len(s)
	s = strings.TrimLeft(s, " ")
	from = all - len(s)
	words := 0
	for i := range len(s) {
		if s[i] == ' ' {
			words++
		}
		if words == contextWords || i > maxSideBytes {
			s = cut(s, i)
			break
		}
	}
	return from, from + len(strings.TrimRight(s, " "))
}
