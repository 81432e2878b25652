package bus

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nkeys"
)

// ErrSecrets reports a folder that does not have what Init puts into one.
var ErrSecrets = errors.New("not what fossick cluster init makes")

// Secrets are a machine's certificate and key, and the key that opens the exchange. They
// show none of it when printed. Safe for concurrent use.
type Secrets struct {
	root    *x509.Certificate // of the authority
	roots   *x509.CertPool    // it alone
	cert    tls.Certificate
	user    nkeys.KeyPair // of the NATS user that all agents are
	public  string        // its public half
	expires time.Time
}

// ReadSecrets reads a machine's folder, as Init made it. It refuses keys that others may read,
// and a certificate that is over at now.
func ReadSecrets(folder string, now time.Time) (*Secrets, error) {
	for _, name := range []string{machineKey, agentSeed} {
		path := filepath.Join(folder, name)
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("keys of the cluster: %w; fossick cluster init makes them", err)
		}
		if info.Mode().Perm()&0o077 != 0 {
			return nil, fmt.Errorf("%s: others may read it; chmod 600 %s", path, path)
		}
	}
	root, err := readCert(filepath.Join(folder, authorityCert))
	if err != nil {
		return nil, err
	}
	path := filepath.Join(folder, machineCert)
	pair, err := tls.LoadX509KeyPair(path, filepath.Join(folder, machineKey))
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %v", path, ErrSecrets, err)
	}
	s := &Secrets{root: root, roots: x509.NewCertPool(), cert: pair, expires: pair.Leaf.NotAfter}
	s.roots.AddCert(root)
	if !now.Before(s.expires) {
		return nil, fmt.Errorf("%s: good until %s; make another by fossick cluster init", path, s.expires.Format(time.DateOnly))
	}
	if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: s.roots, DNSName: anyAgent, CurrentTime: now}); err != nil {
		return nil, fmt.Errorf("%s: %w: %v", path, ErrSecrets, err)
	}
	seed, err := os.ReadFile(filepath.Join(folder, agentSeed))
	if err != nil {
		return nil, fmt.Errorf("keys of the cluster: %w", err)
	}
	if s.user, err = nkeys.FromSeed(bytes.TrimSpace(seed)); err == nil {
		s.public, err = s.user.PublicKey()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(folder, agentSeed), ErrSecrets)
	}
	return s, nil
}

// readCert reads the first certificate of a file.
func readCert(path string) (*x509.Certificate, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("keys of the cluster: %w; fossick cluster init makes them", err)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s: %w", path, ErrSecrets)
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %v", path, ErrSecrets, err)
	}
	return cert, nil
}

// between is how servers of a cluster speak: each shows the other a certificate of their
// authority.
func (s *Secrets) between() *tls.Config {
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{s.cert},
		RootCAs:      s.roots,
		ClientCAs:    s.roots,
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ServerName:   anyAgent,
	}
}

// toServer is how an agent speaks to a server that is not its own; that one's certificate
// has the server's name, and is signed by this cluster's authority or one of the system's.
func (s *Secrets) toServer() *tls.Config {
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool() // a system without any: ours alone
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}
	if s != nil {
		roots.AddCert(s.root)
		config.Certificates = []tls.Certificate{s.cert}
	}
	return config
}

// LogValue keeps keys out of logs.
func (s *Secrets) LogValue() slog.Value { return slog.StringValue(s.String()) }

// String keeps keys out of what is printed.
func (s *Secrets) String() string { return "keys of the cluster" }

// GoString keeps keys out of what is printed.
func (s *Secrets) GoString() string { return s.String() }
