package export

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"fossick/internal/warc"
	"fossick/store"
)

const (
	responseType = "application/http; msgtype=response"
	requestType  = "application/http; msgtype=request"
)

type indexed struct {
	url    string
	at     time.Time
	mime   string
	status string
	digest string // of the body; "" without one
	offset int    // of the gzip member within the page's members
	length int
}

// bundle is a page's WARC records, one gzip member each: response, request, metadata and other exchanges. The
// response of a rendered page is what the server sent. The HTML that its scripts have left is a conversion of it,
// as WARC 1.1 calls the result of an archival process. What the scripts asked for has a response and a request
// each, with the page's ID in WARC-Page-ID, as Browsertrix writes it; ISO 28500 has no field for that.
type bundle struct {
	packer  *warc.Packer
	page    *Page
	sent    []byte // the body as the server sent it
	mime    string
	members []byte
	listed  []indexed
	digest  string // of the body; "" when not needed
}

func packPage(packer *warc.Packer, p *Page, indexed bool) (members []byte, listed []indexed, err error) {
	b := &bundle{packer: packer, page: p, sent: p.Body, mime: p.ContentType}
	steps := []func() error{b.response, b.metadata}
	if len(p.Made) > 0 {
		b.sent, b.mime = p.Made[0].Body, p.Made[0].ContentType
		steps = append(steps, b.conversion)
		for i := range p.Made[1:] {
			steps = append(steps, func() error { return b.resource(i + 1) })
		}
	}
	if indexed || len(p.Others) > 0 {
		b.digest = warc.Digest(b.sent)
	}
	for i := range p.Others {
		steps = append(steps, func() error { return b.other(&p.Others[i]) })
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, nil, err
		}
	}
	return b.members, b.listed, nil
}

func (b *bundle) list(d *warc.Draft, r indexed) error {
	r.offset, r.url, r.at = len(b.members), d.Target, d.Date
	err := b.add(d)
	r.length = len(b.members) - r.offset
	b.listed = append(b.listed, r)
	return err
}

func (b *bundle) add(d *warc.Draft) (err error) {
	b.members, err = b.packer.Append(b.members, d)
	return err
}

func (b *bundle) response() error {
	p := b.page
	d := &warc.Draft{Type: warc.Response, ID: p.ID, Target: oneLine(p.URL), Date: p.Fetched, ContentType: responseType, Payload: b.sent}
	if len(p.Made) > 0 {
		d.Fields = []warc.Field{{Name: pageField, Value: p.ID}}
	}
	r := indexed{mime: b.mime, status: "200", digest: b.digest}
	if p.Exchange == nil {
		d.Head = fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n", oneLine(b.mime), len(b.sent))
		return b.list(d, r)
	}
	d.Head, d.Fields = head(p.Exchange.Response, len(b.sent)), append(d.Fields, fieldsOf(p.Exchange)...)
	if err := b.list(d, r); err != nil {
		return err
	}
	return b.request(d, p.Exchange)
}

// pageField names the page that a request was made for.
const pageField = "WARC-Page-ID"

func (b *bundle) conversion() error {
	p := b.page
	return b.add(&warc.Draft{
		Type: warc.Conversion, ID: derivedID(p.ID, "conversion"), Target: oneLine(p.URL), Date: p.Fetched, ContentType: oneLine(p.ContentType),
		Fields: []warc.Field{{Name: "WARC-Refers-To", Value: "<" + p.ID + ">"}}, Payload: p.Body,
	})
}

// resource writes the n-th exchange of the page's scripts. The body of an answer that is not 200 is not stored.
func (b *bundle) resource(n int) error {
	p, r := b.page, &b.page.Made[n]
	x := &store.Exchanged{URL: r.URL, Wire: r.Wire}
	d := &warc.Draft{
		Type: warc.Response, ID: derivedID(p.ID, fmt.Sprint("resource ", n)), Target: oneLine(r.URL), Date: time.UnixMilli(r.Start), ContentType: responseType,
		Fields: append([]warc.Field{{Name: pageField, Value: p.ID}}, fieldsOf(x)...), Head: head(r.Wire.Response, len(r.Body)), Payload: r.Body,
	}
	status := statusOf(r.Wire.Response)
	if status != "200" && !r.Wire.Cut {
		d.Fields = append(d.Fields, warc.Field{Name: "WARC-Truncated", Value: "unspecified"})
	}
	if err := b.list(d, indexed{mime: r.ContentType, status: status, digest: warc.Digest(r.Body)}); err != nil {
		return err
	}
	return b.request(d, x)
}

func (b *bundle) request(of *warc.Draft, x *store.Exchanged) error {
	if len(x.Request) == 0 {
		return nil
	}
	return b.add(&warc.Draft{
		Type: warc.Request, ID: derivedID(of.ID, "request"), Target: of.Target, Date: of.Date, ContentType: requestType,
		Fields: []warc.Field{{Name: "WARC-Concurrent-To", Value: "<" + of.ID + ">"}}, Head: append(x.Request[:len(x.Request):len(x.Request)], "\r\n"...),
	})
}

func (b *bundle) metadata() error {
	p := b.page
	return b.add(&warc.Draft{
		Type: warc.Metadata, ID: derivedID(p.ID, "metadata"), Target: oneLine(p.URL), Date: p.Fetched, ContentType: fieldsType,
		Fields: []warc.Field{{Name: "WARC-Refers-To", Value: "<" + p.ID + ">"}}, Payload: metadataOf(p),
	})
}

// other writes a revisit or redirect. It omits duplicates with different bytes, since these are not stored.
func (b *bundle) other(x *store.Exchanged) error {
	p := b.page
	d := &warc.Draft{
		Type: warc.Revisit, Target: oneLine(x.URL), Date: time.UnixMilli(x.Start), ContentType: responseType, Fields: fieldsOf(x),
		ID: derivedID(p.ID, fmt.Sprint("other ", x.URL, " ", x.Start)),
	}
	status, mime := statusOf(x.Response), "warc/revisit"
	r := indexed{mime: mime, status: status}
	refers := func(profile string) {
		d.Fields = append(d.Fields, warc.Field{Name: "WARC-Profile", Value: "http://netpreserve.org/warc/1.1/revisit/" + profile},
			warc.Field{Name: "WARC-Refers-To", Value: "<" + p.ID + ">"}, warc.Field{Name: "WARC-Refers-To-Target-URI", Value: oneLine(p.URL)},
			warc.Field{Name: "WARC-Refers-To-Date", Value: p.Fetched.UTC().Format(time.RFC3339)})
	}
	switch x.Kind {
	case store.WireRepeat:
		if warc.SHA1(x.Digest) != b.digest {
			return nil
		}
		refers("identical-payload-digest")
		d.Head, r.digest = head(x.Response, len(b.sent)), b.digest
		d.Fields = append(d.Fields, warc.Field{Name: "WARC-Payload-Digest", Value: b.digest})
	case store.WireSame:
		refers("server-not-modified")
		d.Head = append(x.Response[:len(x.Response):len(x.Response)], "\r\n"...)
	case store.WireRedirect:
		d.Type, d.Head = warc.Response, head(x.Response, 0)
		r.mime, r.digest = fieldOf(x.Response, "Content-Type"), warc.Digest()
		if !x.Cut && !bytes.Contains(x.Response, []byte("\r\nContent-Length: 0\r\n")) {
			d.Fields = append(d.Fields, warc.Field{Name: "WARC-Truncated", Value: "unspecified"}) // redirect bodies are not stored
		}
	}
	if err := b.list(d, r); err != nil {
		return err
	}
	return b.request(d, x)
}

func fieldsOf(x *store.Exchanged) (fields []warc.Field) {
	if x.Addr.IsValid() {
		fields = append(fields, warc.Field{Name: "WARC-IP-Address", Value: x.Addr.String()})
	}
	if x.Protocol != "" {
		fields = append(fields, warc.Field{Name: "WARC-Protocol", Value: x.Protocol})
	}
	if x.Cut {
		fields = append(fields, warc.Field{Name: "WARC-Truncated", Value: "length"})
	}
	return fields
}

// origPrefix marks header lines that describe the received body, not the stored one.
const origPrefix = "X-Archive-Orig-"

// head returns a received header, with origPrefix on lines that are wrong for the stored body of size bytes.
func head(lines []byte, size int) []byte {
	out := make([]byte, 0, len(lines)+64)
	length := false // a correct Content-Length was seen
	for line := range bytes.Lines(lines) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimSpace(value)
		packed := false
		switch strings.ToLower(string(name)) {
		case "transfer-encoding":
			packed = true
		case "content-encoding":
			packed = slices.Contains([]string{"gzip", "x-gzip", "deflate"}, strings.ToLower(string(value))) // stored decoded
		case "content-length":
			packed = length || string(value) != strconv.Itoa(size)
			length = length || !packed
		}
		if packed {
			out = append(out, origPrefix...)
		}
		out = append(out, line...)
	}
	if len(out) > 0 && out[len(out)-1] != '\n' {
		out = append(out, "\r\n"...)
	}
	if !length {
		out = fmt.Appendf(out, "Content-Length: %d\r\n", size)
	}
	return append(out, "\r\n"...)
}

func statusOf(lines []byte) string {
	line, _, _ := bytes.Cut(lines, []byte("\n"))
	if fields := bytes.Fields(line); len(fields) > 1 {
		return string(fields[1])
	}
	return "-"
}

func fieldOf(lines []byte, name string) string {
	for line := range bytes.Lines(lines) {
		if n, value, _ := bytes.Cut(line, []byte(":")); strings.EqualFold(string(n), name) {
			return string(bytes.TrimSpace(value))
		}
	}
	return ""
}
