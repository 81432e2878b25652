package fetch

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"fossick/internal/testkit"
)

// The key and the signature are from RFC 9421, appendices B.1.4 and B.2.6.
const rfcKey = `{"kty":"OKP","crv":"Ed25519","kid":"test-key-ed25519","d":"n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU","x":"JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"}`

const rfcPEM = `-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF
-----END PRIVATE KEY-----`

const rfcName = "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U"

func keyOf(t testing.TB, text string) *Key {
	t.Helper()
	key := testkit.Call(ReadKey([]byte(text))).Must(t)
	return key
}

func TestRFC9421(t *testing.T) {
	for _, text := range []string{rfcKey, rfcPEM} {
		key := keyOf(t, text)
		if key.name != rfcName {
			t.Errorf("thumbprint %s, want %s", key.name, rfcName)
		}
		fields := []field{
			{"date", "", "Tue, 20 Apr 2021 02:07:55 GMT"}, {"@method", "", "POST"}, {"@path", "", "/foo"}, {"@authority", "", "example.com"},
			{"content-type", "", "application/json"}, {"content-length", "", "18"},
		}
		want := ":wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==:"
		if got := key.sign(fields, names(fields)+`;created=1618884473;keyid="test-key-ed25519"`); got != want {
			t.Errorf("signature %s, want %s", got, want)
		}
	}
}

// TestWebBotAuthVectors: the draft's signatures by the key of RFC 9421, of a request (E.2.1) and of a
// directory (E.2.3).
func TestWebBotAuthVectors(t *testing.T) {
	key := keyOf(t, rfcKey)
	fields := []field{{"@authority", "", "example.com"}, {"signature-agent", `;key="agent2"`, `"https://signature-agent.test"`}}
	params := names(fields) + `;created=1735689600;keyid="` + rfcName + `";alg="ed25519";expires=4889289600` +
		`;nonce="n9p433xm+NJ3ph3upfBIGmsuwHw387YV7Q/F+6BSpGCVjYCqQw6rznNA8PVVLySrAWsv0hQtFioQb6E1YsauiA==";tag="web-bot-auth"`
	if got, want := key.sign(fields, params), ":RdNFx5Bj6au3YgAMQL/RzmUlZE8QZLIaXGRpw985hWnwPfMxT228NMk6ehRS1PSl4e8PhbNZACSanGdhEwYCCg==:"; got != want {
		t.Errorf("request: signature %s, want %s", got, want)
	}
	_, header := Directory("signature-agent.test", []*Key{key}, time.Unix(1735689600, 0), time.Unix(4889289600, 0))
	for name, want := range map[string]string{
		"Content-Type":    "application/http-message-signatures-directory+json",
		"Content-Digest":  "sha-256=:CADMT2aBdV/rqQr/NIru64ERQkCobVvllA4V0fLFDu0=:",
		"Signature-Input": `binding=("@authority";req "content-digest");created=1735689600;expires=4889289600;keyid="` + rfcName + `";tag="http-message-signatures-directory"`,
		"Signature":       "binding=:l6P8R67tm3kujAxbHWio7ll01qrEZ0dKD/WWlGhNYEmTnFZM8Wt0VQ9zqGfvo7T/UMkBxsigzChM1Gpz7gOVBg==:",
	} {
		if got := header.Get(name); got != want {
			t.Errorf("directory: %s: %s, want %s", name, got, want)
		}
	}
}

// signed returns a request as a server receives it, and the directory of its key.
func signed(t testing.TB, key *Key, contact, address string, at time.Time) (*http.Request, []byte) {
	t.Helper()
	u := testkit.Call(url.Parse(address)).Must(t)
	s := testkit.Call(NewSigner(key, contact, func() time.Time { return at })).Must(t)
	r := &http.Request{Header: http.Header{}, Host: authority(u)}
	s.Sign(r.Header, u)
	directory, _ := Directory("", []*Key{key}, at, at)
	return r, directory
}

func TestSigned(t *testing.T) {
	at := time.Unix(1e9, 0)
	made, text := NewKey("maker.test")
	for name, c := range map[string]struct {
		key           *Key
		contact, from string
	}{
		"PEM":      {keyOf(t, rfcPEM), "https://bot.test/about", "https://bot.test" + directoryPath},
		"made":     {made, "mail@bot.test", "https://maker.test" + directoryPath},
		"read":     {keyOf(t, string(text)), "https://bot.test", "https://maker.test" + directoryPath},
		"any path": {keyOf(t, strings.Replace(rfcKey, "{", `{"jwks_uri":"https://k.test/jwks.json?a=1",`, 1)), "", "https://k.test/jwks.json?a=1"},
	} {
		r, directory := signed(t, c.key, c.contact, "https://A.test:443/x?y", at)
		from, nonce, err := testkit.VerifyBot(r, directory, at)
		if random, wrong := base64.StdEncoding.DecodeString(nonce); err != nil || wrong != nil || len(random) != 64 || from != c.from {
			t.Errorf("%s: from %s, nonce %q, %v", name, from, nonce, err)
		}
	}
	for name, spoil := range map[string]func(r *http.Request){
		"another host":    func(r *http.Request) { r.Host = "b.test" },
		"another agent":   func(r *http.Request) { r.Header.Set(agentName, `sig1="https://other.test"`) },
		"the bare string": func(r *http.Request) { r.Header.Set(agentName, `"https://bot.test`+directoryPath+`"`) },
		"another label": func(r *http.Request) {
			r.Header.Set(agentName, strings.Replace(r.Header.Get(agentName), "sig1", "sig2", 1))
		},
		"no signature":      func(r *http.Request) { r.Header.Del("Signature") },
		"another signature": func(r *http.Request) { r.Header.Set("Signature", "sig1=:"+strings.Repeat("A", 86)+"==:") },
		"another nonce": func(r *http.Request) {
			r.Header.Set("Signature-Input", strings.Replace(r.Header.Get("Signature-Input"), `nonce="`, `nonce="A`, 1))
		},
	} {
		r, directory := signed(t, keyOf(t, rfcKey), "https://bot.test", "http://a.test/", at)
		spoil(r)
		if _, _, err := testkit.VerifyBot(r, directory, at); err == nil {
			t.Errorf("%s: verified", name)
		}
	}
	r, directory := signed(t, made, "", "http://a.test/", at)
	if _, _, err := testkit.VerifyBot(r, directory, at.Add(time.Hour)); err == nil {
		t.Error("verified an hour later")
	}
	if _, _, err := testkit.VerifyBot(r, []byte(`{"keys":[]}`), at); err == nil {
		t.Error("verified by a key that nobody published")
	}
}

// TestNoDirectory: a request is not signed with a key that sites cannot find.
func TestNoDirectory(t *testing.T) {
	for _, contact := range []string{"", "mail@bot.test", "http://bot.test/", "https://", "https://b\"t.test/"} {
		if _, err := NewSigner(keyOf(t, rfcKey), contact, time.Now); err == nil || !strings.Contains(err.Error(), "fossick identity init") {
			t.Errorf("%q: %v", contact, err)
		}
	}
}

// TestDirectoryOfTwo: while keys change, the directory lists both, and each signs it.
func TestDirectoryOfTwo(t *testing.T) {
	second, _ := NewKey("bot.test")
	keys := []*Key{keyOf(t, rfcKey), second}
	document, header := Directory("bot.test", keys, time.Unix(1, 0), time.Unix(2, 0))
	for i, label := range []string{"binding", "binding1"} {
		input := fmt.Sprintf(`("@authority";req "content-digest");created=1;expires=2;keyid=%q;tag="http-message-signatures-directory"`, keys[i].name)
		base := "\"@authority\";req: bot.test\n\"content-digest\": " + header.Get("Content-Digest") + "\n\"@signature-params\": " + input
		signature := ":" + base64.StdEncoding.EncodeToString(ed25519.Sign(keys[i].private, []byte(base))) + ":"
		if !strings.Contains(header.Get("Signature-Input"), label+"="+input) || !strings.Contains(header.Get("Signature"), label+"="+signature) || !strings.Contains(string(document), keys[i].name) {
			t.Errorf("%s: %v\n%s", label, header, document)
		}
	}
}

func TestKeysThatAreNone(t *testing.T) {
	for _, text := range []string{"", "x", "{}", `{"kty":"OKP","crv":"Ed25519","d":"AA"}`, "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----",
		`{"kty":"OKP","crv":"Ed25519","d":"n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU","x":"other"}`,
		strings.Replace(rfcKey, "{", `{"jwks_uri":"http://k.test/",`, 1), strings.Replace(rfcKey, "{", `{"jwks_uri":"https://k.test/\"",`, 1),
		strings.Replace(rfcKey, "{", `{"jwks_uri":"https://k.test/ä\n",`, 1)} {
		if _, err := ReadKey([]byte(text)); !errors.Is(err, errKey) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestPeerVerifies: another implementation verifies a request and the directory of its key.
func TestPeerVerifies(t *testing.T) {
	testkit.NodeModule(t, "http-message-sig", "package.json")
	key, _ := NewKey("bot.test")
	r, _ := signed(t, key, "", "https://A.test:443/x?y", time.Now())
	document, header := Directory("bot.test", []*Key{key}, time.Now(), time.Now().Add(time.Hour))
	fields := func(h http.Header) map[string]string {
		all := map[string]string{}
		for name := range h {
			all[name] = h.Get(name)
		}
		return all
	}
	message := testkit.Call(json.Marshal(map[string]any{"url": "https://a.test/x?y", "fields": fields(r.Header), "directory": key.at, "answer": fields(header), "keys": json.RawMessage(document)})).Must(t)
	var said struct{ KeyID, Nonce, Tag, Proof string }
	testkit.Must(t, json.Unmarshal(testkit.Script(t, "botauth.mjs", string(message)), &said))
	if said.KeyID != key.name || said.Tag != tag || said.Proof != directoryTag || said.Nonce == "" || !strings.Contains(r.Header.Get("Signature-Input"), said.Nonce) {
		t.Errorf("%+v, want key %s", said, key.name)
	}
}

// FuzzReadKey: whatever file is a key, a request signed with it is verified.
func FuzzReadKey(f *testing.F) {
	f.Add([]byte(rfcKey), "https://a.test")
	f.Add([]byte(rfcPEM), "https://a.test:8443/x")
	f.Add([]byte(strings.Replace(rfcKey, "{", `{"jwks_uri":"https://k.test/a?b",`, 1)), "")
	f.Fuzz(func(t *testing.T, text []byte, contact string) {
		key, err := ReadKey(text)
		if err != nil {
			return
		}
		if _, err := NewSigner(key, contact, time.Now); err != nil {
			return
		}
		at := time.Unix(1e9, 0)
		r, directory := signed(t, key, contact, "http://a.test/", at)
		if _, _, err := testkit.VerifyBot(r, directory, at); err != nil {
			t.Errorf("%q, %q: %v", text, contact, err)
		}
	})
}

// A request is signed with the sender's key and says where its public half is.
func Example() {
	key, err := ReadKey([]byte(rfcPEM))
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := NewSigner(key, "https://bot.test", time.Now)
	if err != nil {
		fmt.Println(err)
		return
	}
	h := http.Header{}
	s.Sign(h, &url.URL{Scheme: "https", Host: "a.test"})
	fmt.Println(h.Get("Signature-Agent"))
	// Output: sig1="https://bot.test/.well-known/http-message-signatures-directory"
}
