package warc

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"strconv"
	"strings"
	"time"
)

// Record types.
const (
	Info         = "warcinfo"
	Response     = "response"
	Request      = "request"
	Metadata     = "metadata"
	Revisit      = "revisit"
	Resource     = "resource"
	Conversion   = "conversion"
	Continuation = "continuation"
)

// LabelField is the field of a metadata record with a page's label.
const LabelField = "fossick-label"

// Record is one record of a file.
type Record struct {
	Version string // such as 1.1
	Header  Header
	Length  int64 // of the block, by the header
	Offset  int64 // of the record in the file or, if compressed, of its member
	Inside  int64 // decompressed bytes of the member before the record

	// Body is the block, valid until the next call of Next. It ends with io.EOF, or with an *Error
	// if it is truncated or its digest is wrong.
	Body io.Reader
}

// Type returns the record's type in lower case.
func (r *Record) Type() string { return strings.ToLower(r.Header.Get("WARC-Type")) }

// ID returns the record's ID without brackets.
func (r *Record) ID() string { return unbracket(r.Header.Get("WARC-Record-ID")) }

// Target returns the URL that the record is about, without odd brackets and blanks.
func (r *Record) Target() string {
	return strings.ReplaceAll(unbracket(r.Header.Get("WARC-Target-URI")), " ", "%20")
}

// RefersTo returns the ID of the record that a revisit repeats, or that metadata describes.
func (r *Record) RefersTo() string { return unbracket(r.Header.Get("WARC-Refers-To")) }

// date returns when the record was made, or the zero time.
func (r *Record) date() time.Time {
	s := r.Header.Get("WARC-Date")
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02", "2006-01", "2006"} {
		if t, err := time.Parse(layout, s); err == nil { // version 1.1 allows fractions and lower precision
			return t.UTC()
		}
	}
	return time.Time{}
}

// Segmented reports whether the record is the first of several segments.
func (r *Record) Segmented() bool { return r.Header.Get("WARC-Segment-Number") != "" }

func unbracket(s string) string {
	if len(s) >= 2 && s[0] == '<' && s[len(s)-1] == '>' {
		return strings.TrimSpace(s[1 : len(s)-1])
	}
	return s
}

// Bounds of a header; real ones have a few hundred bytes.
const (
	maxHeaderBytes = 64 << 10
	maxFields      = 1000
)

type Field struct{ Name, Value string }

// Header holds the fields of a record, in order.
type Header []Field

// Get returns the value of the first field with a name, ignoring case, or "".
func (h Header) Get(name string) string {
	for _, f := range h {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// parseVersion parses the first line of a record: WARC/ and a version such as 1.0.
func parseVersion(line []byte) (string, bool) {
	version, ok := bytes.CutPrefix(line, []byte("WARC/"))
	if !ok {
		return "", false
	}
	major, minor, ok := strings.Cut(string(version), ".")
	return string(version), ok && len(major) == 1 && isDigits(major) && len(minor) <= 2 && isDigits(minor)
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

func (h *Header) add(line []byte) error {
	if line[0] == ' ' || line[0] == '\t' {
		if len(*h) == 0 {
			return fmt.Errorf("%w: its header begins with a continued line", ErrFormat)
		}
		last := &(*h)[len(*h)-1]
		last.Value += " " + strings.TrimSpace(string(line))
		return nil
	}
	name, value, ok := strings.Cut(string(line), ":")
	if !ok || name == "" || strings.ContainsAny(name, " \t") {
		return fmt.Errorf("%w: want a field such as WARC-Type: response, got %.60q", ErrFormat, line)
	}
	if len(*h) == maxFields {
		return fmt.Errorf("%w: more than %d fields", ErrFormat, maxFields)
	}
	*h = append(*h, Field{name, strings.TrimSpace(value)})
	return nil
}

// ReadFields reads a block of type application/warc-fields, as of warcinfo and metadata.
func ReadFields(block io.Reader) (Header, error) {
	text, err := io.ReadAll(io.LimitReader(block, maxHeaderBytes))
	if err != nil {
		return nil, err
	}
	var h Header
	for line := range bytes.Lines(text) {
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
			continue
		}
		if err := h.add(line); err != nil {
			return h, err
		}
	}
	return h, nil
}

func (h Header) length() (int64, error) {
	s := h.Get("Content-Length")
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%w: its Content-Length is %.40q, want a number of bytes", ErrFormat, s)
	}
	return n, nil
}

// Digest returns a SHA-1 in the notation of archives, which is no proof of authenticity.
func Digest(parts ...[]byte) string {
	h := sha1.New()
	for _, p := range parts {
		h.Write(p)
	}
	var sum [sha1.Size]byte
	return SHA1([sha1.Size]byte(h.Sum(sum[:0])))
}

// SHA1 formats a sum like Digest.
func SHA1(sum [sha1.Size]byte) string { return "sha1:" + base32.StdEncoding.EncodeToString(sum[:]) }

type checksum struct {
	hash.Hash
	want string
}

// newChecksum returns nil if the block has no digest, or one of an unknown kind. Payload digests
// are not compared, since programs differ in what they call the payload.
func newChecksum(rec *Record) *checksum {
	algorithm, want, _ := strings.Cut(rec.Header.Get("WARC-Block-Digest"), ":")
	var h hash.Hash
	switch strings.ToLower(strings.ReplaceAll(algorithm, "-", "")) {
	case "sha1":
		h = sha1.New()
	case "sha256":
		h = sha256.New()
	case "sha512":
		h = sha512.New()
	case "md5":
		h = md5.New()
	default:
		return nil
	}
	return &checksum{h, want}
}

// check compares with the digest, which may be in base 32, hexadecimal or base 64.
func (c *checksum) check() error {
	sum := c.Sum(nil)
	want, got := strings.TrimRight(c.want, "="), base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum)
	if strings.EqualFold(want, got) || strings.EqualFold(want, hex.EncodeToString(sum)) || want == base64.RawStdEncoding.EncodeToString(sum) {
		return nil
	}
	return fmt.Errorf("%w: the header says %.80s, its block has %s", ErrDigest, c.want, got)
}
