package fetch

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// ErrKey reports text that is no signing key.
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

// thumbprint is the name of a public key.
func (k jwk) thumbprint() string {
	text, _ := json.Marshal(jwk{Curve: k.Curve, Type: k.Type, X: k.X}) // strings never fail
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func (k *Key) public() jwk {
	return jwk{Curve: "Ed25519", Type: "OKP", X: base64.RawURLEncoding.EncodeToString(k.private.Public().(ed25519.PublicKey))}
}

// Name is the key's thumbprint.
func (k *Key) Name() string { return k.name }

// Directory returns the document to publish at /.well-known/http-message-signatures-directory,
// where sites find the key.
func (k *Key) Directory() string {
	text, _ := json.Marshal(map[string][]jwk{"keys": {k.public()}}) // strings never fail
	return string(text)
}

const (
	tag       = "web-bot-auth"
	label     = "sig1"
	validFor  = 5 * time.Minute
	agentName = "Signature-Agent"
)

// signer signs the requests of one agent. It is safe for concurrent use.
type signer struct {
	key   *Key
	agent string // Signature-Agent: the quoted origin of a directory; "" for none
	now   func() time.Time
}

// NewSigner signs with a key. directory is an https URL on the host that publishes the key's
// directory; with another contact, such as a mail address, sites must know the key by name.
func NewSigner(key *Key, directory string, now func() time.Time) *signer {
	s := &signer{key: key, now: now}
	if u, err := url.Parse(directory); err == nil && u.Scheme == "https" && u.Host != "" {
		s.agent = `"https://` + u.Host + `"`
	}
	return s
}

// Sign adds the signature's fields to a request's header.
func (s *signer) Sign(h http.Header, u *url.URL) {
	fields := []field{{"@authority", authority(u)}}
	if s.agent != "" {
		h[agentName] = []string{s.agent}
		fields = append(fields, field{"signature-agent", s.agent})
	}
	var nonce [32]byte
	_, _ = rand.Read(nonce[:]) // never fails
	created := s.now()
	params := fmt.Sprintf(`%s;created=%d;expires=%d;keyid=%q;alg="ed25519";nonce=%q;tag=%q`, names(fields),
		created.Unix(), created.Add(validFor).Unix(), s.key.name, base64.StdEncoding.EncodeToString(nonce[:]), tag)
	signature := ed25519.Sign(s.key.private, base(fields, params))
	h["Signature-Input"] = []string{label + "=" + params}
	h["Signature"] = []string{label + "=:" + base64.StdEncoding.EncodeToString(signature) + ":"}
}

// field is a signed component.
type field struct{ name, value string }

func names(fields []field) string {
	quoted := make([]string, len(fields))
	for i, f := range fields {
		quoted[i] = `"` + f.name + `"`
	}
	return "(" + strings.Join(quoted, " ") + ")"
}

// base returns the signature base (RFC 9421, 2.5).
func base(fields []field, params string) []byte {
	var b strings.Builder
	for _, f := range fields {
		fmt.Fprintf(&b, "%q: %s\n", f.name, f.value)
	}
	b.WriteString(`"@signature-params": ` + params)
	return []byte(b.String())
}

// authority returns a URL's host in normal form, without a default port (RFC 9421, 2.2.3).
func authority(u *url.URL) string {
	host := strings.ToLower(u.Host)
	if u.Scheme == "https" {
		return strings.TrimSuffix(host, ":443")
	}
	return strings.TrimSuffix(host, ":80")
}
