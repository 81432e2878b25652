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
	"strconv"
	"strings"
	"time"
)

var errKey = errors.New("want an Ed25519 private key: a JWK, as `fossick identity init` makes one, or PEM, as `openssl genpkey -algorithm ed25519` does")

// Key signs. Its name is the thumbprint of its public half (RFC 7638, RFC 8037).
type Key struct {
	private ed25519.PrivateKey
	name    string
	at      string // URL of the key's directory, where the key's file names it; else ""
}

// ReadKey reads a key: PEM (PKCS #8) or a JSON Web Key, whose jwks_uri names the key's directory.
func ReadKey(text []byte) (*Key, error) {
	if strings.HasPrefix(strings.TrimSpace(string(text)), "{") {
		return readJWK(text)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errKey
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%w (%v)", errKey, err)
	}
	private, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("%w; this is another kind, %T", errKey, parsed)
	}
	return newKey(private), nil
}

// jwk is a JSON Web Key of Ed25519.
type jwk struct {
	Type  string `json:"kty"`
	Curve string `json:"crv"`
	Name  string `json:"kid,omitempty"`
	X     string `json:"x"`
	D     string `json:"d,omitempty"`
	Use   string `json:"use,omitempty"`
	At    string `json:"jwks_uri,omitempty"` // ours: where the public half is published
}

func readJWK(text []byte) (*Key, error) {
	var k jwk
	if err := json.Unmarshal(text, &k); err != nil {
		return nil, fmt.Errorf("%w (%v)", errKey, err)
	}
	seed, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(k.D, "="))
	if err != nil || k.Type != "OKP" || k.Curve != "Ed25519" || len(seed) != ed25519.SeedSize {
		return nil, errKey
	}
	key := newKey(ed25519.NewKeyFromSeed(seed))
	if k.X != "" && k.X != key.public().X {
		return nil, fmt.Errorf("%w; the public and private parts of this key do not match", errKey)
	}
	if k.At != "" && !signable(k.At) {
		return nil, fmt.Errorf("%w; the jwks_uri of this key is no https URL", errKey)
	}
	key.at = k.At
	return key, nil
}

// signable reports whether a text is an https URL that can stand in Signature-Agent.
func signable(text string) bool {
	u, err := url.Parse(text)
	printable := !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' })
	return err == nil && u.Scheme == "https" && u.Host != "" && u.User == nil && u.Fragment == "" && printable
}

func newKey(private ed25519.PrivateKey) *Key {
	k := &Key{private: private}
	k.name = thumbprint(k.public().X)
	return k
}

// NewKey makes a key whose public half a host publishes, and the text of its file: a JWK for ReadKey.
func NewKey(host string) (*Key, []byte) {
	_, private, _ := ed25519.GenerateKey(nil) // never fails
	k := newKey(private)
	k.at = directoryOf(host)
	file := k.public()
	file.D, file.At = base64.RawURLEncoding.EncodeToString(private.Seed()), k.at
	text, _ := json.MarshalIndent(file, "", "  ") // strings never fail
	return k, append(text, '\n')
}

// thumbprint is the name of a public key.
func thumbprint(x string) string {
	sum := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + x + `"}`))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func (k *Key) public() jwk {
	x := base64.RawURLEncoding.EncodeToString(k.private.Public().(ed25519.PublicKey))
	return jwk{Type: "OKP", Curve: "Ed25519", Name: k.name, X: x, Use: "sig"}
}

// directoryOf returns the URL at which a host publishes its keys.
func directoryOf(host string) string { return "https://" + host + directoryPath }

const (
	// directoryPath is the well-known place of a host's keys.
	directoryPath = "/.well-known/http-message-signatures-directory"
	directoryType = "application/http-message-signatures-directory+json"
	directoryTag  = "http-message-signatures-directory"
)

// Directory returns the document that a host publishes for its keys, and the header to send with it. The
// header proves, until the last day, that the host's operator holds the keys (appendix B of the draft).
func Directory(host string, keys []*Key, from, until time.Time) (document []byte, header http.Header) {
	public := make([]jwk, len(keys))
	for i, k := range keys {
		public[i] = k.public()
	}
	document, _ = json.Marshal(map[string][]jwk{"keys": public}) // strings never fail
	sum := sha256.Sum256(document)
	digest := "sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":"
	fields := []field{{"@authority", ";req", host}, {"content-digest", "", digest}}
	var inputs, signatures []string
	for i, k := range keys {
		label := "binding"
		if i > 0 {
			label += strconv.Itoa(i)
		}
		params := fmt.Sprintf(`%s;created=%d;expires=%d;keyid=%q;tag=%q`, names(fields), from.Unix(), until.Unix(), k.name, directoryTag)
		inputs, signatures = append(inputs, label+"="+params), append(signatures, label+"="+k.sign(fields, params))
	}
	return document, http.Header{
		"Content-Type": {directoryType}, "Cache-Control": {"max-age=86400"}, "Content-Digest": {digest},
		"Signature-Input": {strings.Join(inputs, ", ")}, "Signature": {strings.Join(signatures, ", ")},
	}
}

const (
	tag        = "web-bot-auth"
	label      = "sig1"
	validFor   = 5 * time.Minute
	agentName  = "Signature-Agent"
	nonceBytes = 64 // as other implementations demand
)

// signer signs the requests of one agent. It is safe for concurrent use.
type signer struct {
	key *Key
	at  string // URL of the key's directory
	now func() time.Time
}

// String says where sites look for the key, and what to publish there unless the key's file shows that it is.
func (s *signer) String() string {
	if s.key.at != "" {
		return s.at
	}
	document, _ := Directory("", []*Key{s.key}, time.Time{}, time.Time{})
	return s.at + "; publish there " + string(document)
}

// NewSigner signs with a key as draft-ietf-webbotauth-httpsig-protocol-01 says: each request names the
// URL of the key's directory. A key whose file does not name it is published at the contact's host.
func NewSigner(key *Key, contact string, now func() time.Time) (*signer, error) {
	if key.at != "" {
		return &signer{key, key.at, now}, nil
	}
	u, err := url.Parse(contact)
	if err != nil || u.Scheme != "https" || !signable(directoryOf(u.Host)) {
		return nil, errors.New("a signed request names the URL where sites find the key, and this key's file names none: give a key that `fossick identity init` made, or --contact https://HOST of the host that publishes the key")
	}
	return &signer{key, directoryOf(u.Host), now}, nil
}

// Sign adds the signature's fields to a request's header.
func (s *signer) Sign(h http.Header, u *url.URL) {
	agent := `"` + s.at + `"`
	fields := []field{{"@authority", "", authority(u)}, {"signature-agent", `;key="` + label + `"`, agent}}
	var nonce [nonceBytes]byte
	_, _ = rand.Read(nonce[:]) // never fails
	created := s.now()
	params := fmt.Sprintf(`%s;created=%d;keyid=%q;alg="ed25519";expires=%d;nonce=%q;tag=%q`, names(fields),
		created.Unix(), s.key.name, created.Add(validFor).Unix(), base64.StdEncoding.EncodeToString(nonce[:]), tag)
	h[agentName] = []string{label + "=" + agent}
	h["Signature-Input"] = []string{label + "=" + params}
	h["Signature"] = []string{label + "=" + s.key.sign(fields, params)}
}

// sign returns the signature of fields, as a structured field has it.
func (k *Key) sign(fields []field, params string) string {
	return ":" + base64.StdEncoding.EncodeToString(ed25519.Sign(k.private, base(fields, params))) + ":"
}

// field is a signed component: its name, its parameters and its value.
type field struct{ name, params, value string }

func names(fields []field) string {
	quoted := make([]string, len(fields))
	for i, f := range fields {
		quoted[i] = `"` + f.name + `"` + f.params
	}
	return "(" + strings.Join(quoted, " ") + ")"
}

// base returns the signature base (RFC 9421, 2.5).
func base(fields []field, params string) []byte {
	var b strings.Builder
	for _, f := range fields {
		fmt.Fprintf(&b, "%q%s: %s\n", f.name, f.params, f.value)
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
