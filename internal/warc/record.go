package warc

import (
	"io"
	"strings"
	"time"
)

// The types of records.
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

// LabelField names the field of a metadata record that has a page's label.
const LabelField = "fossick-label"

// Record is one record of a file.
type Record struct {
	Version string // as 1.1
	Header  Header
	Length  int64 // of the block, as the header says
	Offset  int64 // of the record or, packed, of the member it stands in
	Inside  int64 // bytes of the member, unpacked, before it

	// Body is the block, valid until the next call of Next. Its end is io.EOF, or an
	// *Error when the file ends first or the digest is not the header's.
	Body io.Reader
}

// Type returns what kind of record it is, in lower case.
func (r *Record) Type() string { return strings.ToLower(r.Header.Get("WARC-Type")) }

// ID returns the record's name, without the brackets around it.
func (r *Record) ID() string { return unbracket(r.Header.Get("WARC-Record-ID")) }

// Target returns the URL that the record is about. Some programs write it in brackets, or
// with blanks in it.
func (r *Record) Target() string {
	return strings.ReplaceAll(unbracket(r.Header.Get("WARC-Target-URI")), " ", "%20")
}

// RefersTo returns the name of the record that this one says something of: of a revisit the
// one with the same content, of metadata the one it describes.
func (r *Record) RefersTo() string { return unbracket(r.Header.Get("WARC-Refers-To")) }

// Date returns when the record was made, the zero time where that is not said.
func (r *Record) Date() time.Time {
	s := r.Header.Get("WARC-Date")
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02", "2006-01", "2006"} {
		if t, err := time.Parse(layout, s); err == nil { // 1.1 allows fractions, and less than seconds
			return t.UTC()
		}
	}
	return time.Time{}
}

// Segmented reports whether the record is the first part of several.
func (r *Record) Segmented() bool { return r.Header.Get("WARC-Segment-Number") != "" }

func unbracket(s string) string {
	if len(s) >= 2 && s[0] == '<' && s[len(s)-1] == '>' {
		return strings.TrimSpace(s[1 : len(s)-1])
	}
	return s
}
