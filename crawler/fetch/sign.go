package fetch

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	tag       = "web-bot-auth"
	label     = "sig1"
	validFor  = 5 * time.Minute
	agentName = "Signature-Agent"
)

// signer signs requests of one agent. It is safe for concurrent use.
type signer struct {
	key   *Key
	agent string // Signature-Agent: the origin of a directory, quoted; "" is none
	now   func() time.Time
}

// NewSigner signs with a key. Directory is an https URL on the host that publishes the key's
// directory; where it is none, as a mail address, sites must know the key by its name.
func NewSigner(key *Key, directory string, now func() time.Time) *signer {
	s := &signer{key: key, now: now}
	if u, err := url.Parse(directory); err == nil && u.Scheme == "https" && u.Host != "" {
		s.agent = `"https://` + u.Host + `"`
	}
	return s
}

// Sign adds the signature's fields to the header of a request.
func (s *signer) Sign(h http.Header, u *url.URL) {
	fields := []field{{"@authority", authority(u)}}
	if s.agent != "" {
		h[agentName] = []string{s.agent}
		fields = append(fields, field{"signature-agent", s.agent})
	}
	var nonce [32]byte
	_, _ = rand.Read(nonce[:]) // it never fails
	created := s.now()
	params := fmt.Sprintf(`%s;created=%d;expires=%d;keyid=%q;alg="ed25519";nonce=%q;tag=%q`, names(fields),
		created.Unix(), created.Add(validFor).Unix(), s.key.name, base64.StdEncoding.EncodeToString(nonce[:]), tag)
	signature := ed25519.Sign(s.key.private, base(fields, params))
	h["Signature-Input"] = []string{label + "=" + params}
	h["Signature"] = []string{label + "=:" + base64.StdEncoding.EncodeToString(signature) + ":"}
}

// field is a component that is signed.
type field struct{ name, value string }

func names(fields []field) string {
	quoted := make([]string, len(fields))
	for i, f := range fields {
		quoted[i] = `"` + f.name + `"`
	}
	return "(" + strings.Join(quoted, " ") + ")"
}

// base is what is signed (RFC 9421, 2.5).
func base(fields []field, params string) []byte {
	var b strings.Builder
	for _, f := range fields {
		fmt.Fprintf(&b, "%q: %s\n", f.name, f.value)
	}
	b.WriteString(`"@signature-params": ` + params)
	return []byte(b.String())
}

// authority is a URL's host in normal form, without its scheme's port (RFC 9421, 2.2.3).
func authority(u *url.URL) string {
	host := strings.ToLower(u.Host)
	if u.Scheme == "https" {
		return strings.TrimSuffix(host, ":443")
	}
	return strings.TrimSuffix(host, ":80")
}
