package fetch

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// maxMendBytes bounds the header that a mender holds; a longer one goes on as it came.
const maxMendBytes = 64 << 10

// mender makes the header of an answer of HTTP/1 one that net/http reads, where browsers
// read it too. The tap hears what really came. Only net/http's one reader uses it.
type mender struct {
	held  []byte // a header that is not whole yet
	ready []byte // what goes on
	err   error  // comes behind ready
}

// read fills p with what take reads. open says whether a header is under way.
func (m *mender) read(p []byte, open func() bool, take func([]byte) (int, error)) (int, error) {
	for len(m.ready) == 0 && m.err == nil {
		n, err := take(p)
		if len(m.held) == 0 && !open() {
			return n, err
		}
		m.held, m.err = append(m.held, p[:n]...), err
		m.pass()
		if m.err != nil || len(m.held) > maxMendBytes {
			m.ready, m.held = append(m.ready, m.held...), nil
		}
	}
	if len(m.ready) == 0 {
		err := m.err
		m.err = nil
		return 0, err
	}
	n := copy(p, m.ready)
	m.ready = m.ready[n:]
	return n, nil
}

// pass lets the headers go on that are whole: those of interim answers, the last one, and
// what follows that.
func (m *mender) pass() {
	for {
		end := headerEnd(m.held)
		if end == 0 {
			return
		}
		header := m.held[:end]
		m.ready = append(m.ready, mended(header)...)
		m.held = m.held[end:]
		if !interim(header) {
			m.ready, m.held = append(m.ready, m.held...), nil
			return
		}
	}
}

// headerEnd returns how long the header at the front of b is, 0 where it is not whole.
func headerEnd(b []byte) (n int) {
	for line := range bytes.Lines(b) {
		if n += len(line); line[len(line)-1] == '\n' && len(bytes.TrimRight(line, "\r\n")) == 0 {
			return n
		}
	}
	return 0
}

// mended leaves out the lines of a header that browsers pass over. Which bytes are the body
// is then not as sure as HTTP wants: the connection serves no further exchange.
func mended(header []byte) []byte {
	if !bytes.HasPrefix(header, []byte("HTTP/")) {
		return header
	}
	var kept [][]byte
	changed, dropped := false, false
	length, transfer := framing(header)
	for line := range bytes.Lines(header) {
		name, value, colon := strings.Cut(string(bytes.TrimRight(line, "\r\n")), ":")
		folded := len(kept) > 0 && (line[0] == ' ' || line[0] == '\t')
		next := line
		switch {
		case len(kept) == 0, name == "" && !colon: // the status, the end
		case folded:
			if (dropped || len(kept) == 1) && !namesFraming(line) {
				next = nil
			}
		case (!colon || !isFieldName(name)) && !namesFraming(line):
			next = nil
		case strings.EqualFold(name, "Content-Length"):
			next = length.line(line)
		case strings.EqualFold(name, "Transfer-Encoding"):
			next = transfer.line(line)
		case hasControl(value) && !strings.EqualFold(name, "Location") && !namesFraming(line):
			next = nil
		}
		dropped = next == nil
		changed = changed || !bytes.Equal(next, line)
		if next != nil {
			kept = append(kept, next)
		}
	}
	if !changed {
		return header
	}
	end := len(kept) - 1
	return bytes.Join(slices.Insert(kept, end, []byte("Connection: close\r\n")), nil)
}

// hasControl reports a byte that no value has.
func hasControl(value string) bool {
	return strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// namesFraming reports a broken line that may still tell another reader where the body
// ends. It stays, and net/http refuses the answer.
func namesFraming(line []byte) bool {
	line = bytes.ToLower(line)
	return bytes.Contains(line, []byte("transfer-encoding")) || bytes.Contains(line, []byte("content-length"))
}

// isFieldName reports a name that net/http takes; it knows those with a blank, too.
func isFieldName(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r >= 0x7f || strings.ContainsRune("\"(),/:;<=>?@[\\]{}", r) })
}

// frame says what becomes of the lines that say how long a body is.
type frame struct {
	keep  bool   // as they are: they are right, or net/http refuses them
	value string // what the first becomes, "" for nothing
	done  bool
}

func (f *frame) line(line []byte) []byte {
	if f.keep {
		return line
	}
	first := !f.done
	if f.done = true; first && f.value != "" {
		name, _, _ := bytes.Cut(line, []byte(":"))
		return []byte(string(name) + ": " + f.value + "\r\n")
	}
	return nil
}

// framing judges lengths and encodings of transfer. Lengths that differ, folded lines and
// anything near "chunked" are left to net/http, which refuses them: two readers would see
// two bodies. So is a length below zero. One that is no number says nothing, as in browsers: the body ends with
// the connection. So does "identity", which is an older word for no encoding.
func framing(header []byte) (length, transfer *frame) {
	var lengths, codings []string
	folded, last := false, ""
	for line := range bytes.Lines(header) {
		name, value, _ := strings.Cut(string(line), ":")
		if line[0] == ' ' || line[0] == '\t' {
			folded = folded || last == "content-length" || last == "transfer-encoding"
			continue
		}
		switch last = strings.ToLower(name); last {
		case "content-length":
			lengths = append(lengths, items(value)...)
		case "transfer-encoding":
			codings = append(codings, items(value)...)
		}
	}
	length, transfer = &frame{keep: true}, &frame{keep: true}
	several := false
	if some := slices.DeleteFunc(slices.Clone(lengths), func(l string) bool { return l == "" }); len(some) > 0 {
		several, lengths = len(some) < len(lengths), some
	}
	slices.Sort(lengths)
	several = several || len(lengths) > 1
	if lengths = slices.Compact(lengths); len(lengths) == 1 && !folded && !hasControl(lengths[0]) {
		_, err := strconv.ParseInt(lengths[0], 10, 64)
		number := err == nil && lengths[0][0] != '+'
		switch {
		case !number:
			length = &frame{}
		case several:
			length = &frame{value: lengths[0]}
		}
	}
	left := slices.DeleteFunc(slices.Clone(codings), func(c string) bool { return c == "" || c == "identity" })
	if len(left) < len(codings) && !folded {
		if len(left) == 0 {
			transfer = &frame{}
		} else if len(left) == 1 && left[0] == "chunked" && codings[len(codings)-1] == "chunked" {
			transfer = &frame{value: "chunked"}
		}
	}
	return length, transfer
}

// items are what commas divide, in lower case.
func items(value string) (all []string) {
	for one := range strings.SplitSeq(value, ",") {
		all = append(all, strings.ToLower(strings.Trim(one, " \t\r\n")))
	}
	return all
}
