package bus

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"fossick/internal/reading"
)

// ErrSecrets reports a folder that does not have what Init puts into one.
var ErrSecrets = errors.New("not a file made by fossick cluster init")

// Secrets are a machine's certificate and key, and the key that opens the exchange. They
// show none of it when printed. Safe for concurrent use.
type Secrets struct {
	root    *x509.Certificate // of the authority; nil, as is all with certificates, of localSecrets
	roots   *x509.CertPool    // it alone
	cert    tls.Certificate
	user    nkeys.KeyPair // of the NATS user that all agents are
	public  string        // its public half
	routes  *url.Userinfo // by which servers without certificates meet
	expires time.Time
}

// mostPEMBytes bounds a file of a key or certificate.
const mostPEMBytes = 64 << 10

// ReadSecrets reads a machine's folder, as Init made it. It refuses keys that others may read,
// and a certificate that is over at now.
func ReadSecrets(folder string, now time.Time) (*Secrets, error) {
	secret := map[string][]byte{}
	for _, name := range []string{machineKey, agentSeed} {
		text, err := reading.Secret(filepath.Join(folder, name), mostPEMBytes)
		if err != nil {
			return nil, fmt.Errorf("keys of the cluster: %w; fossick cluster init makes them", err)
		}
		secret[name] = text
	}
	root, err := readCert(filepath.Join(folder, authorityCert))
	if err != nil {
		return nil, err
	}
	path := filepath.Join(folder, machineCert)
	cert, err := reading.All(path, mostPEMBytes)
	if err != nil {
		return nil, fmt.Errorf("keys of the cluster: %w; fossick cluster init makes them", err)
	}
	pair, err := tls.X509KeyPair(cert, secret[machineKey])
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %v", path, ErrSecrets, err)
	}
	s := &Secrets{root: root, roots: x509.NewCertPool(), cert: pair, expires: pair.Leaf.NotAfter}
	s.roots.AddCert(root)
	if !now.Before(s.expires) {
		return nil, fmt.Errorf("%s: it expired on %s; make another with fossick cluster init", path, s.expires.Format(time.DateOnly))
	}
	if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: s.roots, DNSName: anyAgent, CurrentTime: now}); err != nil {
		return nil, fmt.Errorf("%s: %w: %v", path, ErrSecrets, err)
	}
	return s, s.open(secret[agentSeed], filepath.Join(folder, agentSeed))
}

// readCert reads the first certificate of a file.
func readCert(path string) (*x509.Certificate, error) {
	text, err := reading.All(path, mostPEMBytes)
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

// proof is how an agent shows a server that it has the key.
func (s *Secrets) proof() nats.Option {
	if s == nil {
		return func(*nats.Options) error { return nil }
	}
	return nats.Nkey(s.public, s.user.Sign)
}

// LogValue keeps keys out of logs.
func (s *Secrets) LogValue() slog.Value { return slog.StringValue(s.String()) }

// String keeps keys out of what is printed.
func (s *Secrets) String() string { return "keys of the cluster" }

// GoString keeps keys out of what is printed.
func (s *Secrets) GoString() string { return s.String() }
