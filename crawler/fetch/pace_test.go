package fetch

import (
	"context"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
)

// TestPlaceWanted: a caller that needs the place of a slow exchange ends it, with the
// time-out of the phase that it is in; the pace tells how far it was.
func TestPlaceWanted(t *testing.T) {
	for _, c := range []struct {
		name, first string
		want        State
		came        int64
	}{
		{"silent", "", StateHeaderTimeout, 0},
		{"in the header", "HTTP/1.1 200 OK\r\nX: ", StateHeaderTimeout, 0},
		{"in the body", "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + strings.Repeat("<p>text ", 100), StateBodyTimeout, 800},
	} {
		t.Run(c.name, func(t *testing.T) {
			sent := make(chan struct{})
			at := rawServer(t, false, func(conn net.Conn) {
				io.WriteString(conn, c.first)
				close(sent)
				hang(conn)
			})
			ctx, cancel := context.WithCancelCause(t.Context())
			pace := new(Pace)
			ended := make(chan *Response)
			f := newTest(t, Options{})
			go func() { ended <- f.Fetch(ctx, Request{URL: "http://" + at + "/", Pace: pace}) }()
			<-sent
			for pace.WireBytes() < c.came || pace.HeldBytes() < c.came {
				runtime.Gosched() // what was sent is on its way
			}
			cancel(ErrPlaceWanted)
			r := <-ended
			checkState(t, r, c.want)
			if pace.WireBytes() != c.came || r.WireBytes != c.came {
				t.Errorf("%d bytes came, the response says %d; want %d", pace.WireBytes(), r.WireBytes, c.came)
			}
		})
	}
}
