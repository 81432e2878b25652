package datasets

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// scanner reads one JSON object of mostly strings. encoding/json looks at a page
// of 20 KB four times to hand it out as a raw message and then as a string; here
// it is once, and once more to copy it. Tests hold it equal to encoding/json.
type scanner struct {
	b []byte
	i int
}

var errJSON = errors.New("want one JSON object a line")

func (s *scanner) fail(what string) error {
	return fmt.Errorf("column %d: %s; %w", s.i+1, what, errJSON)
}

// space skips white space and returns the next byte, 0 at the end.
func (s *scanner) space() byte {
	for ; s.i < len(s.b); s.i++ {
		switch s.b[s.i] {
		case ' ', '\t', '\n', '\r':
		default:
			return s.b[s.i]
		}
	}
	return 0
}

// object calls member for each member of the object that is all of the input;
// member must read the value.
func (s *scanner) object(member func(name string) error) error {
	if s.space() != '{' {
		return s.fail("no { at the start")
	}
	s.i++
	if s.space() == '}' {
		s.i++
		return s.end()
	}
	for {
		if s.space() != '"' {
			return s.fail("no member name")
		}
		name, err := s.str()
		if err != nil {
			return err
		}
		if s.space() != ':' {
			return s.fail("no : after a name")
		}
		s.i++
		s.space()
		if err := member(name); err != nil {
			return err
		}
		switch s.space() {
		case ',':
			s.i++
		case '}':
			s.i++
			return s.end()
		default:
			return s.fail("the object is not closed")
		}
	}
}

func (s *scanner) end() error {
	if s.space() != 0 || s.i < len(s.b) {
		return s.fail("something after the object")
	}
	return nil
}

// str reads the string that begins here.
func (s *scanner) str() (string, error) {
	start, escaped, high := s.i+1, false, byte(0)
	for i := start; i < len(s.b); i++ {
		switch c := s.b[i]; {
		case c == '"':
			s.i = i + 1
			return unquote(s.b[start:i], escaped, high >= utf8.RuneSelf)
		case c == '\\':
			escaped = true
			i++
		case c < ' ':
			s.i = i
			return "", s.fail("a control character in a string")
		default:
			high |= c
		}
	}
	s.i = len(s.b)
	return "", s.fail("the line ends inside a string")
}

// unquote decodes what stands between the quotes. Bytes that are no UTF-8 become
// U+FFFD, one each.
func unquote(raw []byte, escaped, high bool) (string, error) {
	if !escaped && (!high || utf8.Valid(raw)) {
		return string(raw), nil
	}
	out := make([]byte, 0, len(raw))
	for {
		plain, rest, more := bytes.Cut(raw, []byte{'\\'})
		out = appendValid(out, plain)
		if !more {
			return string(out), nil
		}
		var err error
		if out, raw, err = appendEscape(out, rest); err != nil {
			return "", err
		}
	}
}

func appendValid(out, plain []byte) []byte {
	if utf8.Valid(plain) {
		return append(out, plain...)
	}
	for len(plain) > 0 {
		r, n := utf8.DecodeRune(plain) // RuneError for a bad byte
		out, plain = utf8.AppendRune(out, r), plain[n:]
	}
	return out
}

// appendEscape decodes the escape whose backslash stood before rest.
func appendEscape(out, rest []byte) (decoded, left []byte, err error) {
	if len(rest) == 0 {
		return nil, nil, fmt.Errorf("a lone backslash; %w", errJSON)
	}
	switch c := rest[0]; c {
	case '"', '\\', '/':
		return append(out, c), rest[1:], nil
	case 'b':
		return append(out, '\b'), rest[1:], nil
	case 'f':
		return append(out, '\f'), rest[1:], nil
	case 'n':
		return append(out, '\n'), rest[1:], nil
	case 'r':
		return append(out, '\r'), rest[1:], nil
	case 't':
		return append(out, '\t'), rest[1:], nil
	case 'u':
		r, ok := hex4(rest[1:])
		if !ok {
			break
		}
		rest = rest[5:]
		if utf16.IsSurrogate(r) {
			low := rune(-1)
			if len(rest) > 1 && rest[0] == '\\' && rest[1] == 'u' {
				low, _ = hex4(rest[2:])
			}
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				rest = rest[6:]
			}
		}
		return utf8.AppendRune(out, r), rest, nil
	}
	return nil, nil, fmt.Errorf("no escape \\%c; %w", rest[0], errJSON)
}

// hex4 reads four hexadecimal digits.
func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 4 {
		return -1, false
	}
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return -1, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// raw reads the value that begins here and is no string, and checks it.
func (s *scanner) raw() (json.RawMessage, error) {
	start, depth := s.i, 0
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case '"':
			if _, err := s.str(); err != nil {
				return nil, err
			}
			continue
		case '[', '{':
			depth++
		case ']', '}':
			if depth == 0 {
				return s.checked(start)
			}
			depth--
		case ',':
			if depth == 0 {
				return s.checked(start)
			}
		}
		s.i++
	}
	return s.checked(start)
}

func (s *scanner) checked(start int) (json.RawMessage, error) {
	v := bytes.TrimRight(s.b[start:s.i], " \t\r\n")
	if !json.Valid(v) {
		s.i = start
		return nil, s.fail("no value")
	}
	return v, nil
}
