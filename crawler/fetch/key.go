package fetch

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
)

// ErrKey reports what is no key to sign with.
var ErrKey = errors.New("want an Ed25519 private key, as `openssl genpkey -algorithm ed25519 -out KEY` makes one, or as a JWK")

// Key signs. Its name is the thumbprint of its public half (RFC 7638, RFC 8037).
type Key struct {
	private ed25519.PrivateKey
	name    string
}

// ReadKey reads a key: PEM (PKCS #8) or a JSON Web Key. Errors: ErrKey.
func ReadKey(text []byte) (*Key, error) {
	if strings.HasPrefix(strings.TrimSpace(string(text)), "{") {
		return readJWK(text)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, ErrKey
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%w (%v)", ErrKey, err)
	}
	private, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("%w; this is another kind, %T", ErrKey, parsed)
	}
	return newKey(private), nil
}

// jwk is a JSON Web Key of Ed25519. Its fields are in the order of a thumbprint.
type jwk struct {
	Curve string `json:"crv"`
	Type  string `json:"kty"`
	X     string `json:"x"`
	D     string `json:"d,omitempty"`
}

func readJWK(text []byte) (*Key, error) {
	var k jwk
	if err := json.Unmarshal(text, &k); err != nil {
		return nil, fmt.Errorf("%w (%v)", ErrKey, err)
	}
	seed, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(k.D, "="))
	if err != nil || k.Type != "OKP" || k.Curve != "Ed25519" || len(seed) != ed25519.SeedSize {
		return nil, ErrKey
	}
	key := newKey(ed25519.NewKeyFromSeed(seed))
	if k.X != "" && k.X != key.public().X {
		return nil, fmt.Errorf("%w; the public and private parts of this key do not match", ErrKey)
	}
	return key, nil
}

func newKey(private ed25519.PrivateKey) *Key {
	k := &Key{private: private}
	k.name = k.public().thumbprint()
	return k
}

// thumbprint names a public key.
func (k jwk) thumbprint() string {
	text, _ := json.Marshal(jwk{Curve: k.Curve, Type: k.Type, X: k.X}) // strings alone
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func (k *Key) public() jwk {
	return jwk{Curve: "Ed25519", Type: "OKP", X: base64.RawURLEncoding.EncodeToString(k.private.Public().(ed25519.PublicKey))}
}

// Name is the key's thumbprint.
func (k *Key) Name() string { return k.name }

// Directory is what the owner publishes at /.well-known/http-message-signatures-directory,
// so that sites find the key.
func (k *Key) Directory() string {
	text, _ := json.Marshal(map[string][]jwk{"keys": {k.public()}}) // strings alone
	return string(text)
}
