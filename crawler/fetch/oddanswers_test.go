package fetch

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
)

// oddBody is a page that odd headers come with.
const oddBody = "<p>an honest page, long enough to be cut in two"

// answerWith is an answer with these lines in its header, which must say how long its
// body is, if at all.
func answerWith(lines, body string) string {
	return "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" + lines + "\r\n" + body
}

// TestOddAnswers: what servers write that no standard has, each with its state; none
// costs more than its own exchange.
func TestOddAnswers(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := io.WriteString(z, oddBody); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	length := fmt.Sprintf("Content-Length: %d\r\n", len(oddBody))
	packedLength := fmt.Sprintf("Content-Length: %d\r\n", packed.Len())
	badSum := packed.String()[:packed.Len()-8] + strings.Repeat("\x00", 8)
	for name, c := range map[string]struct {
		answer string
		want   State
	}{
		"one length twice":          {answerWith(length+length, oddBody), StateOK},
		"a list of lengths":         {answerWith("Content-Length: 5, 5\r\n", oddBody), StateOK},
		"a length with a plus":      {answerWith("Content-Length: +48\r\n", oddBody), StateOK},
		"a length in hex":           {answerWith("Content-Length: 0x30\r\n", oddBody), StateOK},
		"a length of nothing":       {answerWith("Content-Length: \r\n", oddBody), StateOK},
		"chunked in capitals":       {answerWith("Transfer-Encoding: CHUNKED\r\n", "5\r\n<p>hi\r\n0\r\n\r\n"), StateOK},
		"an identity transfer":      {answerWith("Transfer-Encoding: identity\r\n"+length, oddBody), StateOK},
		"gzip in capitals":          {answerWith("Content-Encoding: GZIP\r\n"+packedLength, packed.String()), StateOK},
		"x-gzip":                    {answerWith("Content-Encoding: x-gzip\r\n"+packedLength, packed.String()), StateOK},
		"gzip with a quality":       {answerWith("Content-Encoding: gzip;q=1\r\n"+packedLength, packed.String()), StateOK},
		"a chain of codings":        {answerWith("Content-Encoding: identity, gzip\r\n"+packedLength, packed.String()), StateOK},
		"zstd unasked":              {answerWith("Content-Encoding: zstd\r\n"+length, oddBody), StateBodyError},
		"a coding of nothing":       {answerWith("Content-Encoding: \r\n"+length, oddBody), StateOK},
		"gzip with a wrong sum":     {answerWith("Content-Encoding: gzip\r\nContent-Length: "+fmt.Sprint(len(badSum))+"\r\n", badSum), StateBodyError},
		"a blank before the colon":  {"HTTP/1.1 200 OK\r\nContent-Type : text/html\r\n" + length + "\r\n" + oddBody, StateOK},
		"lines before the answer":   {"\r\n\r\n" + answerWith(length, oddBody), StateHeaderError},
		"two status lines":          {"HTTP/1.1 200 OK\r\n" + answerWith(length, oddBody), StateOK},
		"a hint with a body":        {"HTTP/1.1 103 Early Hints\r\nContent-Length: 5\r\n\r\nhello" + answerWith(length, oddBody), StateHeaderError},
		"status zero":               {"HTTP/1.1 000 Zero\r\nContent-Length: 0\r\n\r\n", StateCode},
		"escapes as its reason":     {"HTTP/1.1 500 \x1b]0;t\x07\x1b[2J\r\nContent-Length: 0\r\n\r\n", StateCode},
		"escapes as its location":   {"HTTP/1.1 302 Found\r\nLocation: /\x1b[31m\r\nContent-Length: 0\r\n\r\n", StateHeaderError},
		"a choice with a location":  {"HTTP/1.1 300 Many\r\nLocation: http://127.0.0.1/\r\nContent-Length: 0\r\n\r\n", StateCode},
		"a proxy to be used":        {"HTTP/1.1 305 Use Proxy\r\nLocation: http://127.0.0.1/\r\nContent-Length: 0\r\n\r\n", StateCode},
		"no content to be seen":     {"HTTP/1.1 205 Reset Content\r\nContent-Type: text/html\r\n" + length + "\r\n" + oddBody, StateCode},
		"pages that replace others": {"HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=x\r\n\r\n--x\r\n", StateWrongType},
		"an upgrade offered":        {answerWith("Upgrade: h2c\r\nConnection: Upgrade\r\n"+length, oddBody), StateOK},
		"a quote left open":         {"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=\"utf-8\r\n" + length + "\r\n" + oddBody, StateOK},
		"a version in year 1":       {answerWith("Last-Modified: Mon, 01 Jan 0001 00:00:00 GMT\r\n"+length, oddBody), StateOK},
		"a version in year 99999":   {answerWith("Last-Modified: Fri, 31 Dec 99999 23:59:59 GMT\r\n"+length, oddBody), StateOK},
		"kept open for ever":        {answerWith("Keep-Alive: timeout=999999999999\r\n"+length, oddBody), StateOK},
		"links without end":         {answerWith(strings.Repeat("Link: </x>; rel=next\r\n", 4000)+length, oddBody), StateOK},
	} {
		t.Run(name, func(t *testing.T) {
			f := newTest(t, Options{})
			checkState(t, f.Fetch(t.Context(), Request{URL: "http://" + rawServer(t, false, say(c.answer)) + "/"}), c.want)
		})
	}
}

// TestLongRetryAfterIsBounded: a wish for a century, or a number beyond all, is a year
// at most, and never a time that has passed.
func TestLongRetryAfterIsBounded(t *testing.T) {
	for _, wish := range []string{"3153600000", "99999999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"} {
		f := newTest(t, Options{})
		at := rawServer(t, false, say("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nRetry-After: "+wish+"\r\n\r\n"))
		r := f.Fetch(t.Context(), Request{URL: "http://" + at + "/"})
		if r.RetryAfter <= 0 || r.RetryAfter.Hours() > 366*24 {
			t.Errorf("%s: %v, want a year at most", wish, r.RetryAfter)
		}
	}
}

// TestHalfClosed: a server that says all and closes its half, and one that resets the
// connection behind its answer, have answered.
func TestHalfClosed(t *testing.T) {
	whole := answerWith(fmt.Sprintf("Content-Length: %d\r\n", len(oddBody)), oddBody)
	for name, answer := range map[string]func(net.Conn){
		"half": func(c net.Conn) {
			io.WriteString(c, answerWith("", oddBody))
			c.(*net.TCPConn).CloseWrite()
			hang(c)
		},
		"closed": func(c net.Conn) { io.WriteString(c, whole) },
	} {
		f := newTest(t, Options{})
		if r := f.Fetch(t.Context(), Request{URL: "http://" + rawServer(t, false, answer) + "/"}); r.State != StateOK || string(r.Body) != oddBody {
			t.Errorf("%s: %s %q %v", name, r.State, r.Body, r.Err)
		}
	}
}

// TestOddCodings: a Content-Encoding that names one coding somewhere in its list is that
// one; words that are none say nothing; codings that were not asked for stay refused.
func TestOddCodings(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want State
	}{
		"gzip,": {gzipped([]byte(oddBody)), StateOK}, ", gzip": {gzipped([]byte(oddBody)), StateOK}, ",,gzip , ,": {gzipped([]byte(oddBody)), StateOK},
		"gzip, identity": {gzipped([]byte(oddBody)), StateOK}, "utf-8, gzip": {gzipped([]byte(oddBody)), StateOK}, `"gzip"`: {gzipped([]byte(oddBody)), StateOK},
		"deflate,": {zlibbed([]byte(oddBody)), StateOK}, ",": {oddBody, StateOK}, "windows-1251": {oddBody, StateOK}, "Shift_JIS": {oddBody, StateOK},
		"text/html": {oddBody, StateOK}, "quoted": {oddBody, StateOK}, "charset=utf-8": {oddBody, StateOK}, "windows-1252, iso-8859-15": {oddBody, StateOK},
		"br,": {oddBody, StateBodyError}, "gzip, br": {oddBody, StateBodyError}, "gzip, gzip": {oddBody, StateBodyError}, ", zstd": {oddBody, StateBodyError},
	} {
		r := answerOf(t, answer200("Content-Encoding: "+name+"\r\n", c.body))
		if r.State != c.want || r.State == StateOK && string(r.Body) != oddBody {
			t.Errorf("%q: %s %.60q %v", name, r.State, r.Body, r.Err)
		}
	}
}

// TestGzipWithoutTrailer: whole data is taken and marked wherever its trailer breaks off.
// One byte of data less is a body that broke, and a whole trailer leaves no mark.
func TestGzipWithoutTrailer(t *testing.T) {
	for _, body := range []string{oddBody, string(samplePage), strings.Repeat("\x01", 40) + string(samplePage)[:9]} {
		whole := gzipped([]byte(body))
		for missing := range 12 {
			r := answerOf(t, "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-16\r\nContent-Encoding: gzip\r\n\r\n"+whole[:len(whole)-missing])
			switch {
			case missing > 8 && r.State != StateBodyError:
				t.Errorf("%d bytes missing: %s %.60q", missing, r.State, r.Body)
			case missing <= 8 && (r.State != StateOK || string(r.Body) != body || (r.Note != "") != (missing > 0) || r.ErrorText() != r.Note):
				t.Errorf("%d bytes missing: %s %.60q note %q %v", missing, r.State, r.Body, r.Note, r.Err)
			}
		}
	}
}

// TestOddHeaders: lines that browsers pass over cost no page, nor a robots.txt; lines by
// which two readers would see two bodies are refused. No connection serves on behind one.
func TestOddHeaders(t *testing.T) {
	length := fmt.Sprintf("Content-Length: %d\r\n", len(oddBody))
	for lines, want := range map[string]State{
		"no colon\r\n" + length: StateOK, "no colon\r\n folded\r\n" + length: StateOK, "N@me: x\r\n" + length: StateOK, "Na\xc3\xafve: x\r\n" + length: StateOK,
		"X-Bell: a\x07b\r\n" + length: StateOK, "<html>\n" + length: StateOK, length + "no colon\n": StateOK, "HTTP/1.1 500 No\r\n" + length: StateOK,
		"Transfer-Encoding: identity\r\n" + length: StateOK, "Transfer-Encoding: Identity\r\n": StateOK, "Transfer-Encoding:\r\n" + length: StateOK,
		"Content-Length: abc\r\n": StateOK, "Content-Length: -1\r\n": StateHeaderError, "Content-Length: 47 bytes\r\n": StateOK, "Content-Length: 47.0\r\n": StateOK, "Content-Length: 99999999999999999999\r\n": StateOK,
		strings.Replace(length, "\r", ",\r", 1): StateOK, "Content-Length: +47\r\nContent-Length: +47\r\n": StateOK,

		"Content-Length: 4\r\n" + length: StateHeaderError, "Content-Length: 4, 5\r\n": StateHeaderError, "Content-Length: x\r\n" + length: StateHeaderError,
		"Content-Length: 4\r\n 7\r\n": StateHeaderError, "Content-Length: 4\x00\r\n": StateHeaderError, "Content-Length 4\r\n" + length: StateHeaderError,
		"Transfer-Encoding: xchunked\r\n" + length: StateHeaderError, "Transfer-Encoding: chunked, identity\r\n" + length: StateHeaderError, "Transfer-Encoding: \x0bchunked\r\n" + length: StateHeaderError,
		"Transfer-Encoding\t: chunked\r\n" + length: StateHeaderError, "Transfer-Encoding chunked\r\n" + length: StateHeaderError, "X: a\rTransfer-Encoding: chunked\r\n" + length: StateHeaderError,
		"Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n": StateHeaderError,
	} {
		for _, req := range []Request{{}, {Accept: []string{"*/*"}, Truncate: true, AnySuccess: true}} {
			req.URL = "http://" + rawServer(t, false, say(answerWith(lines, oddBody))) + "/robots.txt"
			r := newTest(t, Options{}).Fetch(t.Context(), req)
			if r.State != want || want == StateOK && string(r.Body) != oddBody {
				t.Errorf("%q: %s %.60q %v, want %s", lines, r.State, r.Body, r.Err, want)
			}
		}
	}
}

// TestMendedConnectionIsClosed: behind an odd header the connection takes no request.
func TestMendedConnectionIsClosed(t *testing.T) {
	answer := answerWith("no colon\r\n"+fmt.Sprintf("Content-Length: %d\r\n", len(oddBody)), oddBody)
	again := make(chan int, 1)
	at := rawServer(t, false, func(c net.Conn) {
		io.WriteString(c, answer)
		n, _ := c.Read(make([]byte, 1))
		again <- n
	})
	f := newTest(t, Options{})
	checkState(t, f.Fetch(t.Context(), Request{URL: "http://" + at + "/"}), StateOK)
	go f.Fetch(t.Context(), Request{URL: "http://" + at + "/"})
	if n := <-again; n > 0 {
		t.Error("a second request came on the connection")
	}
}
