package testkit

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/textproto"
	"strings"
	"time"

	"github.com/dunglas/httpsfv"
)

// VerifyBot verifies a request as a site does by RFC 9421 and draft-ietf-webbotauth-httpsig-protocol-01,
// with nothing of fossick's. directory is what the site found at the URL that the request names. It returns
// this URL and the nonce.
func VerifyBot(r *http.Request, directory []byte, now time.Time) (from, nonce string, err error) {
	agents, err1 := httpsfv.UnmarshalDictionary(r.Header.Values("Signature-Agent"))
	inputs, err2 := httpsfv.UnmarshalDictionary(r.Header.Values("Signature-Input"))
	signatures, err3 := httpsfv.UnmarshalDictionary(r.Header.Values("Signature"))
	if err := errors.Join(err1, err2, err3); err != nil {
		return "", "", err
	}
	for _, label := range inputs.Names() {
		member, _ := inputs.Get(label)
		input, ok := member.(httpsfv.InnerList)
		if !ok || text(input.Params, "tag") != "web-bot-auth" {
			continue
		}
		agent, signature := item(agents, label), item(signatures, label)
		from, _ = agent.Value.(string)
		signed, _ := signature.Value.([]byte)
		if !strings.HasPrefix(from, "https://") || len(agent.Params.Names()) > 0 {
			return "", "", fmt.Errorf("Signature-Agent has no plain https URL for %s", label)
		}
		base, err := baseOf(r, input, label)
		if err != nil {
			return "", "", err
		}
		return from, text(input.Params, "nonce"), check(input.Params, base, signed, directory, now)
	}
	return "", "", errors.New("no signature has the tag web-bot-auth")
}

func item(d *httpsfv.Dictionary, name string) httpsfv.Item {
	member, _ := d.Get(name)
	found, _ := member.(httpsfv.Item)
	if found.Params == nil {
		found.Params = httpsfv.NewParams()
	}
	return found
}

func text(p *httpsfv.Params, name string) string {
	value, _ := p.Get(name)
	s, _ := value.(string)
	return s
}

// baseOf builds the signature base (RFC 9421, 2.5). The host and the label's own member of Signature-Agent
// must be in it.
func baseOf(r *http.Request, input httpsfv.InnerList, label string) (string, error) {
	var b strings.Builder
	host, agent := false, false
	for _, component := range input.Items {
		name, _ := component.Value.(string)
		var value string
		switch key := text(component.Params, "key"); {
		case name == "@authority":
			host, value = true, strings.ToLower(r.Host)
		case strings.HasPrefix(name, "@"):
			return "", fmt.Errorf("component %s is not expected", name)
		case key != "":
			fields, err := httpsfv.UnmarshalDictionary(r.Header.Values(name))
			if err != nil {
				return "", err
			}
			member, ok := fields.Get(key)
			if !ok {
				return "", fmt.Errorf("%s has no member %s", name, key)
			}
			if value, err = httpsfv.Marshal(member); err != nil {
				return "", err
			}
			agent = agent || name == "signature-agent" && key == label
		default:
			value = textproto.TrimString(strings.Join(r.Header.Values(name), ", "))
		}
		id, err := httpsfv.Marshal(component)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%s: %s\n", id, value)
	}
	if !host || !agent {
		return "", fmt.Errorf("the signature covers host %v, agent %v", host, agent)
	}
	params, err := httpsfv.Marshal(input)
	return b.String() + `"@signature-params": ` + params, err
}

// check checks times and signature; the key is the directory's one with the thumbprint that the request names.
func check(p *httpsfv.Params, base string, signature, directory []byte, now time.Time) error {
	created, _ := p.Get("created")
	expires, _ := p.Get("expires")
	from, ok1 := created.(int64)
	until, ok2 := expires.(int64)
	if !ok1 || !ok2 || now.Unix() < from || now.Unix() > until || until-from > 24*60*60 {
		return fmt.Errorf("created %v, expires %v, now %d", created, expires, now.Unix())
	}
	var set struct {
		Keys []struct{ Kty, Crv, Kid, X string }
	}
	if err := json.Unmarshal(directory, &set); err != nil {
		return err
	}
	for _, key := range set.Keys {
		sum := sha256.Sum256([]byte(`{"crv":"` + key.Crv + `","kty":"` + key.Kty + `","x":"` + key.X + `"}`))
		name := base64.RawURLEncoding.EncodeToString(sum[:])
		public, err := base64.RawURLEncoding.DecodeString(key.X)
		if name != text(p, "keyid") || key.Kid != "" && key.Kid != name || err != nil || len(public) != ed25519.PublicKeySize {
			continue
		}
		if ed25519.Verify(public, []byte(base), signature) {
			return nil
		}
		return errors.New("the signature is not of this key and request")
	}
	return fmt.Errorf("no key %q is published", text(p, "keyid"))
}
