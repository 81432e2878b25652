package fetch

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"unicode"
)

// maxPrice bounds the price that a reason repeats, in characters.
const maxPrice = 120

// priceOf says what an answer with status 402 asks for. It knows the header of pay per crawl,
// the Payment scheme of WWW-Authenticate, and the licence that a Link names (RSL). It also knows
// x402: version 2 is in a header, version 1 in the body.
func priceOf(h http.Header, body []byte) string {
	price := cmp.Or(
		h.Get("Crawler-Price"),
		offered(decoded(h.Get("Payment-Required"))),
		offered(body),
		charged(h.Values("Www-Authenticate")),
		licence(h.Values("Link")),
	)
	shown := []rune(strings.Join(strings.FieldsFunc(price, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsGraphic(r) }), " "))
	if len(shown) == 0 {
		return "payment and names no price"
	}
	return string(shown[:min(len(shown), maxPrice)])
}

// decoded reads base64 in either alphabet, padded or not; nil for anything else.
func decoded(text string) []byte {
	plain, err := base64.RawURLEncoding.DecodeString(strings.NewReplacer("+", "-", "/", "_").Replace(strings.TrimRight(text, "=")))
	if err != nil {
		return nil
	}
	return plain
}

// offered returns the first offer of an x402 message.
func offered(message []byte) string {
	var m struct {
		Accepts []struct {
			Amount  json.RawMessage // version 2
			Most    json.RawMessage `json:"maxAmountRequired"` // version 1
			Asset   string
			Network string
			Extra   struct{ Name string }
		}
	}
	if json.Unmarshal(message, &m) != nil || len(m.Accepts) == 0 {
		return ""
	}
	o := m.Accepts[0]
	amount := strings.Trim(string(cmp.Or(string(o.Amount), string(o.Most))), `"`)
	if amount == "" {
		return ""
	}
	price := amount + " base units of " + cmp.Or(o.Extra.Name, o.Asset, "an asset without a name")
	if o.Network != "" {
		price += " on " + o.Network
	}
	return price + " (x402)"
}

// charged returns the amount of a challenge of the Payment scheme.
func charged(challenges []string) string {
	for _, c := range challenges {
		scheme, params, _ := strings.Cut(c, " ")
		if !strings.EqualFold(scheme, "Payment") {
			continue
		}
		for item := range listItems(params) {
			name, value, _ := strings.Cut(item, "=")
			if !strings.EqualFold(strings.TrimSpace(name), "request") {
				continue
			}
			var asked struct {
				Amount   json.RawMessage
				Currency string
			}
			if json.Unmarshal(decoded(strings.Trim(value, `" `)), &asked) == nil && len(asked.Amount) > 0 {
				return strings.Trim(string(asked.Amount), `"`) + " minor units of " + cmp.Or(asked.Currency, "a currency without a name")
			}
		}
	}
	return ""
}

// licence returns the address of the licence that a Link header names.
func licence(links []string) string {
	for _, line := range links {
		for link := range listItems(line) {
			target, params, _ := strings.Cut(link, ">")
			params = strings.ToLower(strings.ReplaceAll(params, `"`, ""))
			if strings.HasPrefix(target, "<") && (strings.Contains(params, "rel=license") || strings.Contains(params, "application/rsl+xml")) {
				return "a licence: " + target[1:]
			}
		}
	}
	return ""
}
