package web

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// victim is a request that may be answered with a fault.
type victim struct {
	web  *Web
	rw   http.ResponseWriter
	r    *http.Request
	q    request
	page []byte // body of the normal answer
}

// A slow answer sends one byte per tick and ends after slowLimit at the latest.
const (
	slowTick  = 250 * time.Millisecond
	slowLimit = 2 * time.Minute
)

// raw hijacks the connection, lets f write invalid HTTP to it, and closes it.
func (v *victim) raw(f func(c *rawConn)) {
	conn, rw, err := http.NewResponseController(v.rw).Hijack()
	if err != nil {
		problem(v.rw, http.StatusHTTPVersionNotSupported, "faults work over HTTP/1.1 only")
		return
	}
	c := &rawConn{Conn: conn, Writer: rw.Writer, held: v.web.held}
	if !v.web.held.add(conn) {
		conn.Close()
		return
	}
	defer v.web.held.release(conn)
	f(c)
	_ = c.Flush() // the client may be gone
	if out, ok := v.rw.(*counted); ok {
		out.bytes, out.last = c.sent, c.last
	}
}

// rawConn is a hijacked connection. A write error means that the client is gone, which ends a fault.
type rawConn struct {
	net.Conn
	*bufio.Writer
	held *held
	sent int64
	last time.Time // start of the last flush
}

func (c *rawConn) Flush() error {
	if c.Buffered() > 0 {
		c.last = time.Now()
	}
	return c.Writer.Flush()
}

// Write writes to the buffer.
func (c *rawConn) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	c.sent += int64(n)
	return n, err
}

func (c *rawConn) say(format string, args ...any) error {
	_, err := fmt.Fprintf(c, format+"\r\n", args...)
	return err
}

// head writes a response header with additional lines.
func (c *rawConn) head(lines ...string) error {
	if err := c.say("HTTP/1.1 200 OK"); err != nil {
		return err
	}
	for _, l := range append([]string{"Content-Type: text/html; charset=utf-8"}, lines...) {
		if err := c.say("%s", l); err != nil {
			return err
		}
	}
	return c.say("")
}

// sends returns a fault that writes raw bytes, does the rest, and hangs up.
func sends(raw string, rest ...func(*rawConn)) func(*rawConn) {
	return func(c *rawConn) {
		_, _ = c.Write([]byte(raw)) // a write error changes nothing
		for _, then := range rest {
			then(c)
		}
	}
}

// answersThen returns a fault that writes a header with additional lines and the beginning of a body,
// does the rest, and hangs up.
func answersThen(rest func(*rawConn), body string, lines ...string) func(*rawConn) {
	return func(c *rawConn) {
		_ = c.head(lines...)
		sends(body, rest)(c)
	}
}

// answers returns a fault that writes a header with additional lines, then a body, and hangs up.
func answers(body string, lines ...string) func(*rawConn) {
	return answersThen(func(*rawConn) {}, body, lines...)
}

func drips(text string) func(*rawConn) { return func(c *rawConn) { c.drip(text) } }

func floods(chunk string, n int) func(*rawConn) { return func(c *rawConn) { c.flood(chunk, n) } }

// drip sends text one byte per tick, until slowLimit or either side closes.
func (c *rawConn) drip(text string) {
	end := time.NewTimer(slowLimit)
	defer end.Stop()
	tick := time.NewTicker(slowTick)
	defer tick.Stop()
	for i := 0; i < len(text); i++ {
		if _, err := c.Write([]byte{text[i]}); err != nil || c.Flush() != nil {
			return
		}
		select {
		case <-tick.C:
		case <-end.C:
			return
		case <-c.held.quit:
			return
		}
	}
}

// wait keeps the client waiting until it hangs up, or slowLimit.
func (c *rawConn) wait() {
	if c.Flush() != nil {
		return
	}
	_ = c.SetReadDeadline(time.Now().Add(slowLimit)) // an error shows at the read
	var b [1]byte
	_, _ = c.Conn.Read(b[:]) // ends when the client hangs up or Close runs
}

// flood repeats a chunk for n bytes or until the client hangs up.
func (c *rawConn) flood(chunk string, n int) {
	for c.sent < int64(n) {
		if _, err := c.Write([]byte(chunk)); err != nil {
			return
		}
	}
}

// reset closes the connection with RST, as a crashed host does.
func (c *rawConn) reset() {
	_ = c.Flush()
	if tcp := tcpOf(c.Conn); tcp != nil {
		_ = tcp.SetLinger(0) // on failure it closes normally, which is harmless
	}
}

func tcpOf(c net.Conn) *net.TCPConn {
	for {
		switch under := c.(type) {
		case *net.TCPConn:
			return under
		case *tls.Conn:
			c = under.NetConn()
		case *early:
			c = under.Conn
		default:
			return nil
		}
	}
}

// suffer serves a fault in place of a page and logs its name.
func (v *victim) suffer(f *Fault, page []byte) {
	v.mark(f.Name)
	v.page = page
	f.serve(v)
}

func (v *victim) mark(fault string) {
	if c, ok := v.rw.(*counted); ok {
		c.fault = fault
	}
}

func (v *victim) tries() int { return v.web.faults.tries(v.q.url()) }

func (v *victim) honest() { v.html(v.page) }

func (v *victim) text(body string) {
	v.rw.Header().Set("Content-Type", "text/plain")
	send(v.rw, v.r, []byte(body))
}

// fields adds header fields, given as alternating names and values.
func (v *victim) fields(fields []string) {
	for i := 0; i+1 < len(fields); i += 2 {
		v.rw.Header().Add(fields[i], fields[i+1])
	}
}

// bomb sends head and a gigabyte of spaces, gzipped.
func (v *victim) bomb(contentType, head string) {
	v.rw.Header().Set("Content-Type", contentType)
	z := gzip.NewWriter(v.rw)
	_, _ = io.WriteString(z, head) // the client may be gone
	blank := bytes.Repeat([]byte(" "), 1<<20)
	for range 1 << 10 {
		if _, err := z.Write(blank); err != nil {
			return
		}
	}
	_ = z.Close()
}

func (v *victim) html(body []byte, header ...string) {
	h := v.rw.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	for i := 0; i+1 < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	send(v.rw, v.r, body)
}

// root returns the host's root URL without a trailing slash.
func (v *victim) root() string { return v.q.scheme + "://" + v.q.host }

func links(title string, targets []string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "<!DOCTYPE html>\n<title>%s</title>\n<h1>%s</h1>\n", title, title)
	for i, t := range targets {
		fmt.Fprintf(&b, "<a href=\"%s\">%s %d</a>\n", t, title, i+1)
	}
	return []byte(b.String())
}
