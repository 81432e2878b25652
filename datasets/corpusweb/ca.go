package corpusweb

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"sync"
	"time"
)

// maxLeaves bounds the cached certificates; making one again costs 0.1 ms.
const maxLeaves = 1024

// authority signs a certificate for each host. It lives as long as the server:
// trusting it, even by mistake, is of no use to anyone afterwards.
type authority struct {
	file string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	leaf *ecdsa.PrivateKey // of all hosts: one server holds them all anyway

	mu     sync.Mutex // guards leaves
	leaves map[string]*tls.Certificate
}

// newAuthority makes the authority and writes its certificate as PEM to file, or
// to a temporary file when that is "".
func newAuthority(file string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("certificate authority: %w", err)
	}
	leaf, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("certificate authority: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: serial(),
		Subject:      pkix.Name{CommonName: "fossick serve, for this run only"},
		NotBefore:    time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(1, 0, 0),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
		KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("certificate authority: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("certificate authority: %w", err)
	}
	a := &authority{cert: cert, key: key, leaf: leaf, leaves: map[string]*tls.Certificate{}}
	return a, a.write(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func (a *authority) write(file string, text []byte) error {
	if file == "" {
		f, err := os.CreateTemp("", "fossick-ca-*.pem")
		if err != nil {
			return fmt.Errorf("certificate authority: %w; set TMPDIR to a folder that can be written", err)
		}
		file = f.Name()
		f.Close() // empty so far
	}
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return fmt.Errorf("certificate authority: %w", err)
	}
	a.file = file
	return nil
}

func (a *authority) close() error {
	if err := os.Remove(a.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("certificate authority: %w", err)
	}
	return nil
}

// certificate returns the certificate of a host's name or address.
func (a *authority) certificate(name string) (*tls.Certificate, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c, ok := a.leaves[name]; ok {
		return c, nil
	}
	template := leafTemplate(name)
	template.NotBefore, template.NotAfter = a.cert.NotBefore, a.cert.NotAfter
	c, err := a.sign(template, a.cert, a.leaf, a.key)
	if err != nil {
		return nil, fmt.Errorf("certificate of %s: %w", name, err)
	}
	if len(a.leaves) >= maxLeaves {
		clear(a.leaves) // simpler than the order of use, and rare
	}
	a.leaves[name] = c
	return c, nil
}

// leafTemplate returns what a host's certificate says, but for its time.
func leafTemplate(name string) *x509.Certificate {
	template := &x509.Certificate{
		SerialNumber: serial(),
		Subject:      pkix.Name{Organization: []string{"fossick serve"}},
		KeyUsage:     x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if ip := net.ParseIP(name); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{name}
	}
	return template
}

// sign makes a certificate of key, signed by parent's.
func (a *authority) sign(template, parent *x509.Certificate, key, by *ecdsa.PrivateKey) (*tls.Certificate, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), by)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// serial returns a random serial number of 127 bits.
func serial() *big.Int {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	b[0] &= 0x7f
	return new(big.Int).SetBytes(b[:])
}
