package fetch

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The key and the signature are from RFC 9421, appendices B.1.4 and B.2.6.
const rfcKey = `{"kty":"OKP","crv":"Ed25519","kid":"test-key-ed25519","d":"n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU","x":"JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"}`

const rfcPEM = `-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF
-----END PRIVATE KEY-----`

func TestRFC9421(t *testing.T) {
	for _, text := range []string{rfcKey, rfcPEM} {
		key, err := ReadKey([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if want := "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U"; key.Name() != want {
			t.Errorf("thumbprint %s, want %s", key.Name(), want)
		}
		fields := []field{
			{"date", "Tue, 20 Apr 2021 02:07:55 GMT"}, {"@method", "POST"}, {"@path", "/foo"}, {"@authority", "example.com"},
			{"content-type", "application/json"}, {"content-length", "18"},
		}
		signature := ed25519.Sign(key.private, base(fields, names(fields)+`;created=1618884473;keyid="test-key-ed25519"`))
		if got, want := base64.StdEncoding.EncodeToString(signature), "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw=="; got != want {
			t.Errorf("signature %s, want %s", got, want)
		}
	}
}

// signed returns a request as a server receives it.
func signed(t *testing.T, directory, address string, at time.Time) (*http.Request, *Key) {
	t.Helper()
	key, err := ReadKey([]byte(rfcKey))
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	r := &http.Request{Header: http.Header{}, Host: authority(u)}
	NewSigner(key, directory, func() time.Time { return at }).Sign(r.Header, u)
	return r, key
}

func TestVerify(t *testing.T) {
	at := time.Unix(1e9, 0)
	for _, directory := range []string{"https://bot.test/about", "mail@bot.test", ""} {
		r, key := signed(t, directory, "https://A.test:443/x?y", at)
		nonce, err := verify(r, key.Directory(), at)
		if err != nil || nonce == "" {
			t.Errorf("%q: nonce %q, %v", directory, nonce, err)
		}
		if had := r.Header.Get(agentName) != ""; had != (directory == "https://bot.test/about") {
			t.Errorf("%q: Signature-Agent %q", directory, r.Header.Get(agentName))
		}
	}
	for name, spoil := range map[string]func(r *http.Request){
		"another host":  func(r *http.Request) { r.Host = "b.test" },
		"another agent": func(r *http.Request) { r.Header.Set(agentName, `"https://other.test"`) },
		"none":          func(r *http.Request) { r.Header.Del("Signature") },
		"no host signed": func(r *http.Request) {
			r.Header.Set("Signature-Input", `sig1=("signature-agent");created=1000000000;expires=1000000001;tag="web-bot-auth"`)
		},
	} {
		r, key := signed(t, "https://bot.test", "http://a.test/", at)
		spoil(r)
		if _, err := verify(r, key.Directory(), at); !errors.Is(err, errSignature) {
			t.Errorf("%s: %v", name, err)
		}
	}
	r, key := signed(t, "", "http://a.test/", at)
	if _, err := verify(r, key.Directory(), at.Add(time.Hour)); !errors.Is(err, errSignature) {
		t.Errorf("an hour later: %v", err)
	}
	if _, err := verify(r, `{"keys":[]}`, at); !errors.Is(err, errSignature) {
		t.Errorf("a key that nobody published: %v", err)
	}
}

func TestKeysThatAreNone(t *testing.T) {
	for _, text := range []string{"", "x", "{}", `{"kty":"OKP","crv":"Ed25519","d":"AA"}`, "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----",
		`{"kty":"OKP","crv":"Ed25519","d":"n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU","x":"other"}`} {
		if _, err := ReadKey([]byte(text)); !errors.Is(err, ErrKey) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzReadKey(f *testing.F) {
	f.Add([]byte(rfcKey))
	f.Add([]byte(rfcPEM))
	f.Fuzz(func(t *testing.T, text []byte) {
		if key, err := ReadKey(text); err == nil {
			NewSigner(key, "https://a.test", time.Now).Sign(http.Header{}, &url.URL{Host: "a.test"})
		}
	})
}

// A request is signed with the sender's key, and verified with the published key.
func Example() {
	key, err := ReadKey([]byte(rfcPEM))
	if err != nil {
		fmt.Println(err)
		return
	}
	r := &http.Request{Header: http.Header{}, Host: "a.test"}
	NewSigner(key, "https://bot.test", time.Now).Sign(r.Header, &url.URL{Scheme: "https", Host: "a.test"})
	_, err = verify(r, key.Directory(), time.Now())
	fmt.Println(r.Header.Get("Signature-Agent"), err)
	// Output: "https://bot.test" <nil>
}

// errSignature reports an invalid signature.
var errSignature = errors.New("the signature is not valid")

var (
	inputRE     = regexp.MustCompile(`^sig1=(\(([^()]*)\);.*)$`)
	signatureRE = regexp.MustCompile(`^sig1=:([A-Za-z0-9+/=]+):$`)
	paramRE     = regexp.MustCompile(`;([a-z]+)=("[^"]*"|\d+)`)
)

// verify checks that a key of a directory signed a request and that the signature is valid
// now. It returns the nonce, unique to each request.
func verify(r *http.Request, directory string, now time.Time) (nonce string, err error) {
	input := inputRE.FindStringSubmatch(r.Header.Get("Signature-Input"))
	signed := signatureRE.FindStringSubmatch(r.Header.Get("Signature"))
	if input == nil || signed == nil {
		return "", fmt.Errorf("%w: it is missing, or not in the form sig1=…", errSignature)
	}
	params := map[string]string{}
	for _, m := range paramRE.FindAllStringSubmatch(input[1], -1) {
		params[m[1]] = strings.Trim(m[2], `"`)
	}
	created, err1 := strconv.ParseInt(params["created"], 10, 64)
	expires, err2 := strconv.ParseInt(params["expires"], 10, 64)
	switch {
	case errors.Join(err1, err2) != nil, params["tag"] != tag:
		return "", fmt.Errorf("%w: parameters %v", errSignature, params)
	case now.Unix() < created-1 || now.Unix() > expires:
		return "", fmt.Errorf("%w: it has expired or is not yet valid", errSignature)
	}
	var fields []field
	for _, name := range strings.Fields(strings.ReplaceAll(input[2], `"`, " ")) {
		value := strings.ToLower(r.Host)
		if name != "@authority" {
			value = r.Header.Get(name)
		}
		fields = append(fields, field{name, value})
	}
	if len(fields) == 0 || fields[0].name != "@authority" {
		return "", fmt.Errorf("%w: it names no host", errSignature)
	}
	public, err := find(directory, params["keyid"])
	if err != nil {
		return "", err
	}
	signature, err := base64.StdEncoding.DecodeString(signed[1])
	if err != nil || !ed25519.Verify(public, base(fields, input[1]), signature) {
		return "", errSignature
	}
	return params["nonce"], nil
}

// find looks a key up by its thumbprint.
func find(directory, name string) (ed25519.PublicKey, error) {
	var keys struct{ Keys []jwk }
	if err := json.Unmarshal([]byte(directory), &keys); err != nil {
		return nil, err
	}
	for _, k := range keys.Keys {
		x, err := base64.RawURLEncoding.DecodeString(k.X)
		if err != nil || len(x) != ed25519.PublicKeySize {
			continue
		}
		if k.thumbprint() == name {
			return x, nil
		}
	}
	return nil, fmt.Errorf("%w: no key %s is published", errSignature, name)
}
