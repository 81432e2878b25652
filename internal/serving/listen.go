package serving

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
)

// Listen listens on a TCP address, HOST:PORT. Without HOST it is 127.0.0.1: all of a
// machine's addresses are asked for by 0.0.0.0 or [::].
func Listen(addr string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.Listen("tcp", net.JoinHostPort(host, port))
}

// nursery is the folder, beside a socket, in which it is made. With the socket's name
// in it, it is no longer than what most sockets are called: their paths are limited.
const nursery = ".sock"

// ListenUnix listens on a Unix socket, which replaces what is at path. Nobody but its
// owner can connect at any moment. It is made in a folder closed to others, and moved
// when its permissions are set. Closing the listener removes it.
func ListenUnix(path string) (net.Listener, error) {
	dir := filepath.Join(filepath.Dir(path), nursery)
	if err := os.RemoveAll(dir); err != nil { // of a process that was killed
		return nil, err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	defer os.Remove(dir) // empty by now; what stays, the next one removes
	at := filepath.Join(dir, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: at, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // it would remove the name that the socket is made by
	if err := errors.Join(os.Chmod(at, 0o600), os.Rename(at, path)); err != nil {
		return nil, errors.Join(err, l.Close(), os.RemoveAll(dir))
	}
	return &socket{l, path}, nil
}

// socket is a Unix listener that has moved.
type socket struct {
	*net.UnixListener
	path string
}

func (s *socket) Close() error {
	err := s.UnixListener.Close()
	if gone := os.Remove(s.path); gone != nil && err == nil && !errors.Is(gone, fs.ErrNotExist) {
		err = gone
	}
	return err
}
