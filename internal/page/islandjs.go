package page

import "bytes"

// jsLiteral returns the object or array literal of JavaScript at the start of text as JSON, and its
// length. Keys and strings get double quotes; what is neither a string nor true, false or null
// becomes 0 or null, because only strings are of use. A literal without end is cut.
func jsLiteral(text []byte) (out []byte, n int) {
	w := jsWriter{}
	for n < len(text) {
		c := text[n]
		switch {
		case isSpace(c):
			n++
		case isQuote(c):
			n += w.string(text[n:])
		case (c == '{' || c == '[') && w.full, c == '(': // a function's body, arguments
			if !w.full {
				w.put([]byte("null"))
			}
			n += jsBalanced(text[n:])
		case c == '{' || c == '[':
			w.put([]byte{c})
			w.full, w.depth = false, w.depth+1
			n++
		case c == '}' || c == ']':
			w.out, w.full, w.comma, w.depth = append(w.out, c), true, false, w.depth-1
			if n++; w.depth <= 0 {
				return w.out, n
			}
		case c == ',':
			w.comma, w.full = w.comma || w.full, false
			n++
		case c == ':':
			n++
		case c == '/' && bytes.HasPrefix(text[n:], []byte("//")):
			n += through(text[n:], "\n")
		case c == '/' && bytes.HasPrefix(text[n:], []byte("/*")):
			n += through(text[n:], "*/")
		case isName(c):
			n += w.name(text[n:])
		default: // an operator, a sign
			n++
		}
		if len(w.out) > maxIslandBytes {
			break
		}
	}
	return w.out, n
}

type jsWriter struct {
	out   []byte
	comma bool // one is due before the next value
	full  bool // the value of this place is written
	depth int
}

func (w *jsWriter) put(value []byte) {
	if w.comma {
		w.out, w.comma = append(w.out, ','), false
	}
	w.out, w.full = append(w.out, value...), true
}

// string writes a string or a key, unless it belongs to an expression, and returns its length.
func (w *jsWriter) string(text []byte) int {
	literal, n := jsString(text)
	if n == 0 {
		return len(text)
	}
	if !w.full {
		w.key(literal, text[n:])
	}
	return n
}

// key writes a value, which a colon after it makes a key.
func (w *jsWriter) key(literal, rest []byte) {
	w.put(literal)
	if rest = bytes.TrimLeft(rest, " \t\r\n"); len(rest) > 0 && rest[0] == ':' {
		w.out, w.full = append(w.out, ':'), false
	}
}

// name writes a name or a number, and returns its length.
func (w *jsWriter) name(text []byte) int {
	n := 1
	for n < len(text) && (isName(text[n]) || text[n] == '.') {
		n++
	}
	rest := bytes.TrimLeft(text[n:], " \t\r\n")
	switch word := string(text[:n]); {
	case w.full:
	case len(rest) > 0 && rest[0] == ':':
		w.key([]byte(`"`+word+`"`), rest)
	case word == "true" || word == "false":
		w.put(text[:n])
	case isDigit(word[0]):
		w.put([]byte{'0'})
	default:
		w.put([]byte("null"))
	}
	return n
}

func isName(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' || c == '$' || c >= 0x80 }

// through returns the length up to the end of mark.
func through(text []byte, mark string) int {
	if i := bytes.Index(text, []byte(mark)); i >= 0 {
		return i + len(mark)
	}
	return len(text)
}

// jsBalanced returns the length of an expression in brackets.
func jsBalanced(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			if depth--; depth <= 0 {
				return i + 1
			}
		case isQuote(c):
			_, n := jsString(text[i:])
			if n == 0 {
				return len(text)
			}
			i += n - 1
		}
	}
	return len(text)
}

// jsString returns the string literal at the start of text as one of JSON, and its length; 0 if there
// is none.
func jsString(text []byte) ([]byte, int) {
	if len(text) == 0 || !isQuote(text[0]) {
		return nil, 0
	}
	dst := []byte{'"'}
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == text[0]:
			return append(dst, '"'), i + 1
		case c == '\\' && i+1 < len(text):
			i++
			dst = jsEscape(dst, text[i:])
		case c == '"':
			dst = append(dst, '\\', c)
		case c < ' ':
			dst = append(dst, ' ')
		default:
			dst = append(dst, c)
		}
	}
	return dst, 0
}

// jsEscape appends the character that follows a backslash.
func jsEscape(dst, text []byte) []byte {
	switch c := text[0]; {
	case bytes.IndexByte([]byte(`"\/bfnrt`), c) >= 0:
		return append(dst, '\\', c)
	case c == 'u' && hexDigits(text[1:], 4):
		return append(dst, '\\', c)
	case c == 'x' && hexDigits(text[1:], 2):
		return append(dst, `\u00`...)
	case c < ' ': // the string goes on in the next line
		return dst
	default:
		return append(dst, c)
	}
}

func hexDigits(text []byte, n int) bool {
	if len(text) < n {
		return false
	}
	for _, c := range text[:n] {
		if !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'f') {
			return false
		}
	}
	return true
}
