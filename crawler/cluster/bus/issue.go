package bus

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/nats-io/nkeys"

	"fossick/internal/reading"
	"fossick/internal/wholefile"
)

// years is for how long certificates are good. Nobody renews those of a crawl.
const years = 10

// anyAgent is a name that all certificates have: who shows one of the cluster's authority
// is one of its agents, at whatever address.
const anyAgent = "agent.fossick.internal"

// Files of Init. The authority's key stays in its folder; the others go to the machines.
const (
	authorityKey  = "ca.key"
	authorityCert = "ca.pem"
	machineKey    = "key.pem"
	machineCert   = "cert.pem"
	agentSeed     = "agent.nk"
)

// ErrName reports a machine's name that no folder and certificate can have.
var ErrName = errors.New("not a machine's name: want letters, digits, dots and hyphens, or an IP address")

var machineNamed = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]{0,61}[A-Za-z0-9])?$`)

// Issued is what Init made.
type Issued struct {
	Folders []string  // one a machine, to be copied there
	Expires time.Time // of the certificates
}

// Init makes a certificate authority in a folder, unless it has one, and in a folder below
// it, for each name, what that machine's agents need: a certificate, and the key that opens
// the exchange. Without names one folder, "machine", serves all. Files are for their owner
// alone (0600). It overwrites nothing.
func Init(dir string, names []string, now time.Time) (*Issued, error) {
	if len(names) == 0 {
		names = []string{"machine"}
	}
	for i, name := range names {
		if net.ParseIP(name) == nil && !machineNamed.MatchString(name) || slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("machine %q: %w, each once", name, ErrName)
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
	made := &Issued{Expires: a.cert.NotAfter}
	for _, name := range names {
		folder := filepath.Join(dir, name)
		if err := a.issue(folder, name, now); err != nil {
			return nil, err
		}
		made.Folders = append(made.Folders, folder)
	}
	return made, nil
}

// authority signs the certificates of a cluster's machines.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	seed []byte // of the agents' NATS user
}

// newAuthority makes an authority, and the key of the NATS user that all agents are.
// What has the authority's key is written last: without it there is no authority yet.
func newAuthority(dir string, now time.Time) (*authority, error) {
	user, err := nkeys.CreateUser()
	if err != nil {
		return nil, fmt.Errorf("the agents' key: %w", err)
	}
	seed, err := user.Seed()
	if err != nil {
		return nil, fmt.Errorf("the agents' key: %w", err)
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

// openAuthority reads what newAuthority wrote. An error is fs.ErrNotExist where there is none.
func openAuthority(dir string) (*authority, error) {
	path := filepath.Join(dir, authorityKey)
	text, err := reading.Secret(path, mostPEMBytes)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s: %w", path, ErrSecrets)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	key, ok := parsed.(*ecdsa.PrivateKey)
	if err != nil || !ok {
		return nil, fmt.Errorf("%s: %w", path, ErrSecrets)
	}
	cert, err := readCert(filepath.Join(dir, authorityCert))
	if err != nil {
		return nil, err
	}
	seed, err := reading.Secret(filepath.Join(dir, agentSeed), mostSeedBytes)
	if err != nil {
		return nil, fmt.Errorf("the agents' key: %w", err)
	}
	return &authority{cert, key, seed}, nil
}

// issue fills a machine's folder.
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

// template is what all certificates have.
func template(name string, now time.Time) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("number of a certificate: %w", err)
	}
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-24 * time.Hour), // clocks of machines differ
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

// secretFile writes a file that only its owner may read.
func secretFile(dir, name string, text []byte) error {
	path := filepath.Join(dir, name)
	err := wholefile.Write(path, 0o600, func(f *os.File) error {
		_, err := f.Write(text)
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
