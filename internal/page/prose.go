package page

import "strings"

// linkLines returns the lines of a text that are hardly more than links, such as menus:
// all pages of a site have them in common. marks are the page's links, in order.
func linkLines(text string, marks []mark) (lines []lineOf) {
	for start := 0; start < len(text) && len(marks) > 0; {
		end := start + strings.IndexByte(text[start:], '\n')
		if end < start {
			end = len(text)
		}
		for len(marks) > 0 && marks[0].end <= start {
			marks = marks[1:]
		}
		if len(marks) > 0 && marks[0].start < end && isLinkLine(text, lineOf{start, end}, marks) {
			lines = append(lines, lineOf{start, end})
		}
		start = end + 1
	}
	return lines
}

// isLinkLine says whether at most one letter in menuRest of a line is outside of
// the links, of which the first one ends in it or behind it. Most lines are prose:
// these are told as soon as more letters are outside than the links have bytes for.
func isLinkLine(text string, line lineOf, marks []mark) bool {
	n, linked := 0, 0
	for n < len(marks) && marks[n].start < line.end {
		linked += min(marks[n].end, line.end) - min(max(marks[n].start, line.start), line.end)
		n++
	}
	outside, inside, at := 0, 0, line.start
	for _, m := range marks[:n] {
		start, end := min(max(at, m.start), line.end), min(max(at, m.end), line.end)
		outside += lettersUpTo(text[at:start], linked/(menuRest-1)-outside)
		if outside*(menuRest-1) > linked {
			return false
		}
		inside += letters(text[start:end])
		at = end
	}
	outside += lettersUpTo(text[at:line.end], linked/(menuRest-1)-outside)
	return outside*(menuRest-1) <= inside
}

// lettersUpTo counts letters until there are more than most.
func lettersUpTo(s string, most int) int {
	n := 0
	for len(s) > 0 && n <= most {
		part := s[:min(len(s), 32)]
		n += letters(part)
		s = s[len(part):]
	}
	return n
}

// prose returns a text without its link lines; an empty line stands where some
// were, so that words on both sides are no neighbours.
func prose(text string, gone []lineOf) string {
	if len(gone) == 0 {
		return text
	}
	var kept strings.Builder
	from := 0
	for _, line := range gone {
		if line.start > from || from == 0 {
			kept.WriteString(text[from:line.start])
			kept.WriteByte('\n')
		}
		from = min(line.end+1, len(text))
	}
	kept.WriteString(text[from:])
	return kept.String()
}
