package fetch

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"fossick/internal/document"
	"fossick/internal/page"
)

// answer is the server's answer and its verdict.
type answer struct {
	url         *url.URL // requested
	status      int
	header      http.Header
	withheld    http.Header // header fields hidden from Colly
	contentType string
	location    string
	reader      *bodyReader
	body        []byte
	wire        *Wire
	state       State // the verdict, "" until then
	why         error
	note        string // oddity in an accepted answer
}

// withhold removes two fields on which Colly acts: its client fails on a Location that only
// browsers can read, and Colly recodes a body whose type has a charset.
func (a *answer) withhold(h http.Header) {
	a.contentType = contentTypeOf(h)
	a.withheld = http.Header{"Content-Type": h["Content-Type"], "Location": h["Location"]}
	for name := range a.withheld {
		delete(h, name)
	}
}

// giveBack restores the header after Colly.
func (a *answer) giveBack() {
	for name, values := range a.withheld {
		if len(values) > 0 && a.header != nil {
			a.header[name] = values
		}
	}
}

// wanted returns the most bytes of a body of a media type, and whether it is wanted.
func (ex *exchange) wanted(media string) (most int64, is bool) {
	if len(ex.req.Accept) > 0 {
		most, is = ex.f.opt.MaxBodyBytes, accepts(ex.req.Accept, media)
	} else {
		most, is = ex.f.limits[media]
	}
	if ex.req.MaxBodyBytes > 0 {
		most = ex.req.MaxBodyBytes
	}
	return most, is
}

// mostOf returns the most bytes of a body by its announced type. Where that says nothing, the
// first bytes will decide, and until then the largest limit holds.
func (ex *exchange) mostOf(media string) int64 {
	most, is := ex.wanted(media)
	switch {
	case is || ex.req.MaxBodyBytes > 0:
		return most
	case untyped(media):
		return ex.f.most
	}
	return ex.f.opt.MaxBodyBytes
}

// hidesPDF reports a PDF that is announced as text, and gives it the limit of PDFs. It does not wait
// for the first bytes of what is refused either way.
func (ex *exchange) hidesPDF(media string) bool {
	if kind := document.TypeOf(media); len(ex.req.Accept) > 0 || kind != "html" && kind != "text" {
		return false
	}
	a := &ex.answer
	most, wanted := ex.wanted("application/pdf")
	_, also := ex.wanted(media)
	tooLarge := a.reader.coding == codingNone && !ex.req.Truncate && a.contentLength() > max(most, ex.most)
	if !wanted && !also || tooLarge {
		return false
	}
	if head, err := a.reader.peek(page.SniffBytes); err != nil || document.TypeOf(document.Sniff(head)) != "pdf" {
		return false
	}
	if wanted {
		ex.most = most
		ex.conn.allowBody(most)
	}
	return true
}

// untyped reports a media type that says nothing, or only that a file is packed or a document
// of an office. Servers send them for documents too.
func untyped(media string) bool {
	switch media {
	case "application/octet-stream", "binary/octet-stream", "application/force-download", "application/x-download",
		"application/zip", "application/x-zip-compressed", "application/x-pdf",
		"application/msword", "application/vnd.ms-word", "application/vnd.ms-excel", "application/vnd.ms-powerpoint":
		return true
	}
	return page.UnknownMedia(media)
}

// judge decides on the answer as far as its header goes: state and why are set, and
// true asks for the body (paper D: header first). A body without a usable type is
// judged by its first bytes.
func (ex *exchange) judge() (readBody bool) {
	a := &ex.answer
	if a.status != http.StatusOK && !(ex.req.AnySuccess && hasFile(a.status)) {
		a.judgeCode(sendable(ex.req.ETag) || sendable(ex.req.LastModified))
		return false
	}
	if coding := a.reader.coding; coding == codingUnknown {
		return a.refuse(StateBodyError, "content coding %q was not asked for", a.header.Get("Content-Encoding"))
	}
	a.state = StateOK // unless the body spoils it
	if accepts(ex.req.Accept, "*/*") {
		return ex.fits()
	}
	media := page.MediaEssence(a.contentType)
	if untyped(media) {
		return ex.judgeUntyped(media)
	}
	if ex.hidesPDF(media) {
		return ex.judgeUntyped(media)
	}
	if _, is := ex.wanted(media); !is {
		return a.refuse(StateWrongType, "type %s is not among %s", media, ex.wishes())
	}
	if !ex.fits() {
		return false
	}
	head, err := a.reader.peek(page.SniffBytes)
	if kind := document.TypeOf(media); kind == "pdf" || kind == "office" {
		if err == nil && page.SniffMedia(head) == "text/html" { // as errors are sent
			return a.refuse(StateWrongType, "announced as %s, but it is text/html", media)
		}
		return true // its reader finds out the rest
	}
	if err == nil && (isBinary(head, a.contentType) || page.MediaType(a.contentType, page.NoSniff(a.header), head) != media) {
		if head, _ := a.reader.peek(documentBytes); document.Sniff(head) != "" {
			return ex.judgeUntyped(media)
		}
		return a.refuse(StateWrongType, "announced as %s, but binary (%s)", media, page.SniffMedia(head))
	}
	return true // peek's error returns when the body is read
}

// fits reports whether the announced length and the bytes read so far are within the limit.
func (ex *exchange) fits() bool {
	a := &ex.answer
	switch n := a.contentLength(); {
	case ex.req.Truncate:
	case n > ex.most && a.reader.coding == codingNone:
		return a.refuse(StateTooLarge, "%d bytes announced, %d is the limit", n, ex.most)
	case a.reader.out > ex.most:
		return a.refuse(StateTooLarge, "body over the limit of %d bytes", ex.most)
	}
	return true
}

// wishes names what is wanted, for a message.
func (ex *exchange) wishes() string {
	if len(ex.req.Accept) > 0 {
		return strings.Join(ex.req.Accept, ", ")
	}
	return "the wanted types (" + strings.Join(slices.Sorted(maps.Keys(ex.f.opt.Types)), ", ") + ")"
}

// judgeUntyped judges a body by its first bytes, because the announced type says nothing or is
// wrong.
func (ex *exchange) judgeUntyped(announced string) (readBody bool) {
	a := &ex.answer
	head, err := a.reader.peek(documentBytes)
	if err != nil {
		return true
	}
	media := document.Sniff(head)
	if kind := document.TypeOf(media); page.UnknownMedia(announced) && (media == "" || kind == "feed") {
		media = page.MediaType(a.contentType, page.NoSniff(a.header), head)
	}
	most, is := ex.wanted(media)
	if !is {
		return a.refuse(StateWrongType, "no usable type announced; the content looks like %s", cmp.Or(media, page.SniffMedia(head)))
	}
	a.contentType, ex.most = media, min(ex.most, most) // without a charset: page guesses it
	return ex.fits()
}

// documentBytes is how much of a body tells the type of a document.
const documentBytes = 16 << 10

// judgeCode judges a status other than 200. conditional: the request had a validator.
func (a *answer) judgeCode(conditional bool) {
	switch a.status {
	case http.StatusNotModified:
		if conditional {
			a.state = StateNotModified
			return
		}
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		if loc := a.withheld.Get("Location"); loc != "" {
			a.state, a.location = StateRedirect, resolveLocation(a.url, loc)
			return
		}
	case http.StatusPaymentRequired:
		a.refuse(StatePaymentRequired, "status 402: the server asks for %s; fossick pays for no page", priceOf(a.header, a.head()))
		return
	}
	var head []byte
	if slices.Contains(refusals, a.status) {
		head = a.head()
	}
	if a.challenged(head) {
		return
	}
	a.refuse(StateCode, "status %d %s", a.status, http.StatusText(a.status))
}

// hasFile reports whether a status other than 200 comes with the requested file, as far as the
// server has it (RFC 9110, 15.3).
func hasFile(status int) bool {
	return status > 200 && status < 300 && status != http.StatusNoContent && status != http.StatusResetContent
}

// resolveLocation makes a redirect's target absolute where net/url can read it. Otherwise it
// returns the target unchanged for the caller, since browsers read more.
func resolveLocation(base *url.URL, location string) string {
	target, err := base.Parse(strings.TrimSpace(location))
	if err != nil {
		return location
	}
	return target.String()
}

func (a *answer) refuse(s State, format string, args ...any) bool {
	a.state = s
	a.why = fmt.Errorf("%s: "+format, append([]any{a.url}, args...)...)
	return false
}

// contentTypeOf returns a header's type: the last valid one, as in browsers (Fetch standard,
// "extract a MIME type").
func contentTypeOf(h http.Header) string {
	values := h["Content-Type"]
	if len(values) == 1 && !strings.Contains(values[0], ",") {
		return values[0] // as in nearly all headers
	}
	found := ""
	for _, value := range values {
		for one := range listItems(value) {
			if media := page.MediaEssence(one); media != "" && media != "*/*" || found == "" {
				found = one
			}
		}
	}
	return found
}

// listItems yields a header field's items between unquoted commas.
func listItems(value string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start, quoted := 0, false
		for i := 0; i < len(value); i++ {
			switch c := value[i]; {
			case c == '"':
				quoted = !quoted
			case c == '\\' && quoted:
				i++ // whatever comes next
			case c == ',' && !quoted:
				if !yield(strings.TrimSpace(value[start:i])) {
					return
				}
				start = i + 1
			}
		}
		yield(strings.TrimSpace(value[start:]))
	}
}

// accepts reports whether media is one of the wanted types.
func accepts(wanted []string, media string) bool {
	return slices.ContainsFunc(wanted, func(a string) bool { return a == "*/*" || strings.EqualFold(a, media) })
}

// contentLength returns the announced length; -1 without a usable one.
func (a *answer) contentLength() int64 {
	n, err := strconv.ParseInt(a.header.Get("Content-Length"), 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// isBinary reports a body that only claims to be text: it begins like an image, an archive or
// a document and has bytes that no text has, or a tenth of it are such bytes. Announced or
// marked UTF-16 and UTF-32 pass.
func isBinary(head []byte, contentType string) bool {
	if !page.Binary(head) {
		return false
	}
	t := page.SniffMedia(head)
	if strings.HasPrefix(t, "text/") || t == "application/xhtml+xml" {
		return false
	}
	if t != "application/octet-stream" {
		return true
	}
	_, params, _ := strings.Cut(strings.ToLower(contentType), ";")
	if strings.Contains(params, "utf-16") || strings.Contains(params, "utf-32") || strings.Contains(params, "ucs") {
		return false
	}
	return page.BinaryBytes(head)*10 > len(head)
}

// maxRetryAfter bounds the wait that a header can ask for.
const maxRetryAfter = 365 * 24 * time.Hour

// parseRetryAfter reads a Retry-After header (RFC 9110, 10.2.3), seconds or a date, as a wait
// from now: 0 for none, nonsense and the past, at most a year.
func parseRetryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if value == "" {
		return 0
	}
	if isDigits(value) {
		secs, err := strconv.ParseInt(value, 10, 64)
		if err != nil || secs > int64(maxRetryAfter/time.Second) {
			return maxRetryAfter // digits beyond an int64 mean a long time too
		}
		return time.Duration(secs) * time.Second
	}
	date, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return min(max(date.Sub(now), 0), maxRetryAfter)
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
