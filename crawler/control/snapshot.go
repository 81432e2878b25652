package control

import (
	"context"
	"net/http"
	"time"
)

// stallsAfter is how long a reader of a snapshot may take nothing before it is given up.
const stallsAfter = 30 * time.Second

// snapshot is the crawl's end: a reader that goes away, or stalls, costs the crawl
// nothing, and the end of the crawl waits for none.
func (c *Socket) snapshot(w http.ResponseWriter, req *http.Request) {
	ctx, cancel := context.WithCancel(req.Context())
	defer cancel()
	pausing := c.pausing
	go func() {
		select {
		case <-c.ending:
			cancel()
		case <-pausing:
			cancel()
		case <-ctx.Done():
		}
	}()
	w.Header().Set("Content-Type", "application/octet-stream")
	// One that gets no end sees that it is missing.
	_ = c.Store.Snapshot(ctx, patient{w, http.NewResponseController(w)})
}

// patient is an answer of which each part has its own time.
type patient struct {
	http.ResponseWriter
	control *http.ResponseController
}

func (p patient) Write(b []byte) (int, error) {
	if err := p.control.SetWriteDeadline(time.Now().Add(stallsAfter)); err != nil {
		return 0, err
	}
	return p.ResponseWriter.Write(b)
}
