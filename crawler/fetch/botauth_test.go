package fetch

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
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
		nonce, err := Verify(r, key.Directory(), at)
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
		if _, err := Verify(r, key.Directory(), at); !errors.Is(err, errSignature) {
			t.Errorf("%s: %v", name, err)
		}
	}
	r, key := signed(t, "", "http://a.test/", at)
	if _, err := Verify(r, key.Directory(), at.Add(time.Hour)); !errors.Is(err, errSignature) {
		t.Errorf("an hour later: %v", err)
	}
	if _, err := Verify(r, `{"keys":[]}`, at); !errors.Is(err, errSignature) {
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

// FuzzVerify: no signature makes Verify panic.
func FuzzVerify(f *testing.F) {
	f.Add(`sig1=("@authority");created=1;expires=2;keyid="x";tag="web-bot-auth"`, "sig1=:AAAA:")
	f.Fuzz(func(t *testing.T, input, signature string) {
		r := &http.Request{Header: http.Header{"Signature-Input": {input}, "Signature": {signature}}, Host: "a.test"}
		if _, err := Verify(r, `{"keys":[]}`, time.Unix(1, 0)); err == nil {
			t.Error("verified without a key")
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
	_, err = Verify(r, key.Directory(), time.Now())
	fmt.Println(r.Header.Get("Signature-Agent"), err)
	// Output: "https://bot.test" <nil>
}
