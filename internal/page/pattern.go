package page

import (
	"slices"
	"strings"
)

// Pattern returns what a URL has in common with those made by the same hand on its host.
// Digits are 0, the last name of the path is *, and of the query only the names
// count.
//
//	/events/2026/list.html?month=5&view=day → /events/0/*.html?month&view
func Pattern(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	slash := strings.IndexByte(rest, '/')
	if slash < 0 {
		return "/"
	}
	path, query, has := strings.Cut(rest[slash+1:], "?")
	var b strings.Builder
	b.Grow(len(rest) - slash + len("*"))
	before, leaf := "", path
	for {
		f, behind, more := strings.Cut(leaf, "/")
		if !more {
			break
		}
		leaf = behind
		f = shape(f)
		if f == before && strings.IndexByte(f, '0') >= 0 {
			continue // folders within folders
		}
		before = f
		b.WriteByte('/')
		b.WriteString(f)
	}
	b.WriteByte('/')
	if leaf != "" {
		b.WriteByte('*')
		if dot := strings.LastIndexByte(leaf, '.'); dot > 0 && len(leaf)-dot <= 6 {
			b.WriteString(shape(leaf[dot:]))
		}
	}
	if has {
		b.WriteByte('?')
		b.WriteString(strings.Join(parameters(query), "&"))
	}
	return b.String()
}

// WiderPattern returns the next wider pattern that a pattern is part of. First it loses
// the names of its query, then all but its first folder; behind that comes the whole
// host, "".
//
//	/events/0/*.html?month&view → /events/0/*.html? → /events/ → ""
func WiderPattern(pattern string) string {
	path, query, has := strings.Cut(pattern, "?")
	if has && query != "" {
		return path + "?"
	}
	if end := strings.IndexByte(pattern[min(1, len(pattern)):], '/'); end > 0 && end+2 < len(pattern) {
		return pattern[:end+2]
	}
	return ""
}

// parameters returns the names of a query's parameters, sorted, each once.
func parameters(query string) []string {
	var names []string
	for part := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(part, "=")
		names = append(names, shape(name))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// shape returns s with each run of digits as one 0; what is mostly digits, as a
// hexadecimal number is, becomes 0 altogether.
func shape(s string) string {
	digits := 0
	for i := range len(s) {
		if s[i] >= '0' && s[i] <= '9' {
			digits++
		}
	}
	switch {
	case digits == 0:
		return s
	case 2*digits >= len(s) && len(s) > 3:
		return "0"
	}
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c >= '0' && c <= '9' {
			if i > 0 && s[i-1] >= '0' && s[i-1] <= '9' {
				continue
			}
			c = '0'
		}
		b.WriteByte(c)
	}
	return b.String()
}
