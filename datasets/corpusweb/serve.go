package corpusweb

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// grace is how long requests under way may take when the server ends.
const grace = 2 * time.Second

// Serve answers on a listener, which it closes, until ctx ends; that is no error.
// It returns after the last request. The web stays open: Close it afterwards.
func (w *Web) Serve(ctx context.Context, l net.Listener) error {
	server := newServer(w)
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	w.held.drop() // faults do not end by themselves
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	err := errors.Join(server.Shutdown(end), w.tls.shutdown(end))
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close() // slow clients had their time
	}
	if e := <-served; !errors.Is(e, http.ErrServerClosed) {
		err = errors.Join(err, e)
	}
	return err
}
