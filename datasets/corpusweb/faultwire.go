package corpusweb

import "strings"

// wireFaults are those of the answer's header and below.
func wireFaults() []Fault {
	return []Fault{
		wire("silence", "takes the request and says nothing", "header_timeout", (*rawConn).wait),
		wire("slow-header", "sends the header a byte at a time", "header_timeout", func(c *rawConn) {
			c.drip("HTTP/1.1 200 OK\r\nX-Slow: " + strings.Repeat("z", 4096))
		}),
		wire("half-header", "hangs up in the middle of the header", "header_error", func(c *rawConn) {
			_ = c.say("HTTP/1.1 200 OK") // a client that is gone needs no more
			_, _ = c.Write([]byte("Content-Ty"))
		}),
		wire("hang-up", "hangs up before the header", "header_error", func(*rawConn) {}),
		wire("reset", "resets the connection before the header", "header_error", (*rawConn).reset),
		wire("garbage", "answers with random bytes", "header_error", func(c *rawConn) {
			for i := range 4096 {
				_, _ = c.Write([]byte{byte(i * i >> 3)})
			}
		}),
		wire("bad-status-line", "gives a status that is not a number", "header_error", func(c *rawConn) {
			_ = c.say("HTTP/1.1 fine Thanks")
			_ = c.say("")
		}),
		wire("no-header", "sends a page without any header, as HTTP/0.9 did", "header_error", sends("<html><title>old</title><p>a page\n")),
		wire("header-flood", "sends endless header fields", "header_error", func(c *rawConn) {
			_ = c.say("HTTP/1.1 200 OK")
			c.flood("X-Flood: "+strings.Repeat("f", 1000)+"\r\n", 256<<20)
		}),
		wire("header-line", "sends one header field of 256 MB", "header_error", func(c *rawConn) {
			_ = c.say("HTTP/1.1 200 OK")
			_, _ = c.Write([]byte("X-Long: "))
			c.flood(strings.Repeat("l", 4096), 256<<20)
		}),
		wire("continue-flood", "says 100 Continue endlessly", "header_error", func(c *rawConn) {
			c.flood("HTTP/1.1 100 Continue\r\n\r\n", 16<<20)
		}),
		wire("two-lengths", "announces two lengths that differ", "header_error", answers("0123456789", "Content-Length: 10", "Content-Length: 20")),
		wire("negative-length", "announces a length below zero", "header_error", answers("0123456789", "Content-Length: -1")),
		wire("bad-field", "sends header fields with forbidden bytes", "header_error", answers("<p>page", "X-\x00Null\x01: \x02", ": no name", "no colon")),
	}
}

// bodyFaults are those of the body's transport.
func bodyFaults() []Fault {
	return []Fault{
		wire("drip-body", "sends the body a byte at a time", "body_timeout", func(c *rawConn) {
			_ = c.head("Content-Length: 100000")
			c.drip(strings.Repeat("drip ", 20000))
		}),
		wire("stall", "stops in the middle of the body", "body_timeout", func(c *rawConn) {
			_ = c.head("Content-Length: 100000")
			_, _ = c.Write([]byte("<p>half of a pa"))
			c.wait()
		}),
		wire("endless-body", "sends an endless body", "too_large", func(c *rawConn) {
			_ = c.head("Connection: close")
			c.flood("<p>"+strings.Repeat("again and again ", 256), 1<<30)
		}),
		wire("endless-chunks", "sends endless chunks", "too_large", func(c *rawConn) {
			_ = c.head("Transfer-Encoding: chunked")
			c.flood("1000\r\n"+strings.Repeat("c", 0x1000)+"\r\n", 1<<30)
		}),
		wire("short-body", "hangs up before the announced length", "body_error", answers("<p>not all of it", "Content-Length: 5000")),
		wire("long-body", "sends more than the announced length", "ok duplicate", answers("<title>long</title><p>body<p>which goes on", "Content-Length: 26")),
		wire("reset-body", "resets the connection in the middle of the body", "body_error", func(c *rawConn) {
			_ = c.head("Content-Length: 5000")
			_, _ = c.Write([]byte("<p>not all of it"))
			c.reset()
		}),
		wire("bad-chunk", "gives a chunk a length that is not a number", "body_error", answers("5\r\n<p>ab\r\nbanana\r\n", "Transfer-Encoding: chunked")),
		wire("huge-chunk", "gives a chunk a length too large for any integer", "body_error", answers("5\r\n<p>ab\r\nfffffffffffffffff\r\nxy", "Transfer-Encoding: chunked")),
		wire("cut-chunks", "hangs up before the last chunk", "body_error", answers("5\r\n<p>ab\r\n5\r\ncd", "Transfer-Encoding: chunked")),
		wire("huge-length", "announces eight exabytes", "too_large", func(c *rawConn) {
			_ = c.head("Content-Length: 9223372036854775807")
			_, _ = c.Write([]byte("<p>and so on"))
			c.wait()
		}),
	}
}
