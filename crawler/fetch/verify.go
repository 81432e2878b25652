package fetch

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// errSignature reports a request whose signature does not hold.
var errSignature = errors.New("the signature is not valid")

var (
	inputRE     = regexp.MustCompile(`^sig1=(\(([^()]*)\);.*)$`)
	signatureRE = regexp.MustCompile(`^sig1=:([A-Za-z0-9+/=]+):$`)
	paramRE     = regexp.MustCompile(`;([a-z]+)=("[^"]*"|\d+)`)
)

// Verify says whether a request that a server got is signed by a key of a directory, now. It
// returns the nonce, which no two requests share.
func Verify(r *http.Request, directory string, now time.Time) (nonce string, err error) {
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
