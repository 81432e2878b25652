package bus

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"fossick/internal/fileio"
)

// errSecrets reports a file that Init did not make.
var errSecrets = errors.New("not a file made by fossick cluster init")

// Secrets are a machine's certificate and keys. Printing them reveals nothing. Safe for
// concurrent use.
type Secrets struct {
	root    *x509.Certificate // of the authority; nil, like all about certificates, for localSecrets
	roots   *x509.CertPool
	cert    tls.Certificate
	user    nkeys.KeyPair // of the NATS user that all agents share
	public  string
	routes  *url.Userinfo // login between servers without certificates
	expires time.Time
}

const mostPEMBytes = 64 << 10

// ReadSecrets reads a folder made by Init. It refuses keys that other users can read, and a
// certificate that has expired at now.
func ReadSecrets(folder string, now time.Time) (*Secrets, error) {
	secret := map[string][]byte{}
	for _, name := range []string{machineKey, agentSeed} {
		text, err := fileio.Secret(filepath.Join(folder, name), mostPEMBytes)
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
	cert, err := fileio.All(path, mostPEMBytes)
	if err != nil {
		return nil, fmt.Errorf("keys of the cluster: %w; fossick cluster init makes them", err)
	}
	pair, err := tls.X509KeyPair(cert, secret[machineKey])
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %v", path, errSecrets, err)
	}
	s := &Secrets{root: root, roots: x509.NewCertPool(), cert: pair, expires: pair.Leaf.NotAfter}
	s.roots.AddCert(root)
	if !now.Before(s.expires) {
		return nil, fmt.Errorf("%s: it expired on %s; make another with fossick cluster init", path, s.expires.Format(time.DateOnly))
	}
	if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: s.roots, DNSName: anyAgent, CurrentTime: now}); err != nil {
		return nil, fmt.Errorf("%s: %w: %v", path, errSecrets, err)
	}
	return s, s.open(secret[agentSeed], filepath.Join(folder, agentSeed))
}

func readCert(path string) (*x509.Certificate, error) {
	text, err := fileio.All(path, mostPEMBytes)
	if err != nil {
		return nil, fmt.Errorf("keys of the cluster: %w; fossick cluster init makes them", err)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s: %w", path, errSecrets)
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %v", path, errSecrets, err)
	}
	return cert, nil
}

// between returns TLS settings between servers: both show certificates of the authority.
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

// toServer returns an agent's TLS settings for another process's server, whose certificate must
// be of the cluster's authority or of one of the system's.
func (s *Secrets) toServer() *tls.Config {
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool() // a system without any authorities
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}
	if s != nil {
		roots.AddCert(s.root)
		config.Certificates = []tls.Certificate{s.cert}
	}
	return config
}

// proof returns the option by which an agent proves that it has the key.
func (s *Secrets) proof() nats.Option {
	if s == nil {
		return func(*nats.Options) error { return nil }
	}
	return nats.Nkey(s.public, s.user.Sign)
}

// LogValue returns a text without keys.
func (s *Secrets) LogValue() slog.Value { return slog.StringValue(s.String()) }

// String returns a text without keys.
func (s *Secrets) String() string { return "keys of the cluster" }

// GoString returns a text without keys.
func (s *Secrets) GoString() string { return s.String() }

const mostSeedBytes = 1 << 10

// localSecrets returns the key of this user's agents on this machine if no keys were given. On
// loopback any user could otherwise take part. The first agent makes the file.
func localSecrets() (*Secrets, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("a key for the agents of this machine: %w; set HOME, or give --keys", err)
	}
	dir = filepath.Join(dir, "fossick", "exchange")
	path := filepath.Join(dir, "local.nk")
	seed, err := fileio.Secret(path, mostSeedBytes)
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeSeed(dir, path); err == nil {
			seed, err = fileio.Secret(path, mostSeedBytes)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("a key for the agents of this machine: %w; remove the cause, or give --keys", err)
	}
	s := &Secrets{}
	return s, s.open(seed, path)
}

func newSeed() ([]byte, error) {
	user, err := nkeys.CreateUser()
	if err != nil {
		return nil, fmt.Errorf("the agents' key: %w", err)
	}
	return user.Seed()
}

// makeSeed writes a new seed, unless another process was faster.
func makeSeed(dir, path string) error {
	seed, err := newSeed()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".seed-*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(seed)
	if err = errors.Join(err, f.Close()); err == nil {
		if err = os.Link(f.Name(), path); errors.Is(err, fs.ErrExist) {
			err = nil
		}
	}
	return errors.Join(err, os.Remove(f.Name()))
}

// open parses the seed of the NATS user and derives the routes' password.
func (s *Secrets) open(seed []byte, path string) (err error) {
	seed = bytes.TrimSpace(seed)
	if s.user, err = nkeys.FromSeed(seed); err == nil {
		s.public, err = s.user.PublicKey()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, errSecrets)
	}
	sum := sha256.Sum256(append([]byte("fossick routes\x00"), seed...))
	s.routes = url.UserPassword("fossick", hex.EncodeToString(sum[:]))
	return nil
}

// local reports whether the secrets are localSecrets, without certificates.
func (s *Secrets) local() bool { return s != nil && s.root == nil }

// years is the lifetime of certificates: nobody renews those of a crawl.
const years = 10

// anyAgent is in all certificates: any holder is an agent, at any address.
const anyAgent = "agent.fossick.internal"

// Files of Init. The authority's key stays in its folder; the others are copied to the machines.
const (
	authorityKey  = "ca.key"
	authorityCert = "ca.pem"
	machineKey    = "key.pem"
	machineCert   = "cert.pem"
	agentSeed     = "agent.nk"
)

// errName reports a machine's name that does not suit a folder and a certificate.
var errName = errors.New("not a machine's name: want letters, digits, dots and hyphens, or an IP address")

var machineNamed = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]{0,61}[A-Za-z0-9])?$`)

type issued struct {
	Folders []string  // one for each machine, to be copied there
	Expires time.Time // of the certificates
}

// Init makes a certificate authority in dir, unless there is one. For each name it makes a folder
// in dir with the certificate and keys of that machine's agents; without names only "machine".
// Files have mode 0600, and none is overwritten.
func Init(dir string, names []string, now time.Time) (*issued, error) {
	if len(names) == 0 {
		names = []string{"machine"}
	}
	for i, name := range names {
		if net.ParseIP(name) == nil && !machineNamed.MatchString(name) || slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("machine %q: %w, each once", name, errName)
		}
		folder := filepath.Join(dir, name)
		if _, err := os.Lstat(folder); !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("machine %s: %s already exists; give another name, or another folder", name, folder)
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("folder of the cluster's keys: %w", err)
	}
	a, err := openAuthority(dir)
	if errors.Is(err, fs.ErrNotExist) {
		a, err = newAuthority(dir, now)
	}
	if err != nil {
		return nil, err
	}
	made := &issued{Expires: a.cert.NotAfter}
	for _, name := range names {
		folder := filepath.Join(dir, name)
		if err := a.issue(folder, name, now); err != nil {
			return nil, err
		}
		made.Folders = append(made.Folders, folder)
	}
	return made, nil
}

type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	seed []byte // of the agents' shared NATS user
}

// newAuthority writes the authority's key last: without that file there is no authority.
func newAuthority(dir string, now time.Time) (*authority, error) {
	seed, err := newSeed()
	if err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("the authority's key: %w", err)
	}
	form, err := template("fossick cluster", now)
	if err != nil {
		return nil, err
	}
	form.IsCA, form.BasicConstraintsValid, form.MaxPathLenZero = true, true, true
	form.KeyUsage = x509.KeyUsageCertSign
	signed, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("the authority's certificate: %w", err)
	}
	cert, err := x509.ParseCertificate(signed)
	if err != nil {
		return nil, fmt.Errorf("the authority's certificate: %w", err)
	}
	a := &authority{cert, key, seed}
	return a, errors.Join(
		secretFile(dir, agentSeed, seed),
		secretFile(dir, authorityCert, certPEM(signed)),
		keyFile(dir, authorityKey, key))
}

// openAuthority reads an authority. The error is fs.ErrNotExist if there is none.
func openAuthority(dir string) (*authority, error) {
	path := filepath.Join(dir, authorityKey)
	text, err := fileio.Secret(path, mostPEMBytes)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s: %w", path, errSecrets)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	key, ok := parsed.(*ecdsa.PrivateKey)
	if err != nil || !ok {
		return nil, fmt.Errorf("%s: %w", path, errSecrets)
	}
	cert, err := readCert(filepath.Join(dir, authorityCert))
	if err != nil {
		return nil, err
	}
	seed, err := fileio.Secret(filepath.Join(dir, agentSeed), mostSeedBytes)
	if err != nil {
		return nil, fmt.Errorf("the agents' key: %w", err)
	}
	return &authority{cert, key, seed}, nil
}

func (a *authority) issue(folder, name string, now time.Time) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("key of %s: %w", name, err)
	}
	form, err := template(name, now)
	if err != nil {
		return err
	}
	form.NotAfter = a.cert.NotAfter
	form.KeyUsage = x509.KeyUsageDigitalSignature
	form.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	form.DNSNames = []string{anyAgent}
	if ip := net.ParseIP(name); ip != nil {
		form.IPAddresses = []net.IP{ip}
	} else {
		form.DNSNames = append(form.DNSNames, name)
	}
	signed, err := x509.CreateCertificate(rand.Reader, form, a.cert, key.Public(), a.key)
	if err != nil {
		return fmt.Errorf("certificate of %s: %w", name, err)
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		return fmt.Errorf("folder of %s: %w", name, err)
	}
	return errors.Join(
		secretFile(folder, authorityCert, certPEM(a.cert.Raw)),
		secretFile(folder, machineCert, certPEM(signed)),
		keyFile(folder, machineKey, key),
		secretFile(folder, agentSeed, a.seed))
}

func template(name string, now time.Time) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("number of a certificate: %w", err)
	}
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-24 * time.Hour), // machines' clocks differ
		NotAfter:     now.AddDate(years, 0, 0),
	}, nil
}

func certPEM(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func keyFile(dir, name string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return secretFile(dir, name, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

func secretFile(dir, name string, text []byte) error {
	path := filepath.Join(dir, name)
	err := fileio.Write(path, 0o600, func(f *os.File) error {
		_, err := f.Write(text)
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
