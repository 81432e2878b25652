package crawlplan

import (
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"slices"
	"strings"

	"fossick/internal/page"
	"fossick/internal/printable"
)

var errContact = errors.New("give a mail address, such as you@example.org, or the http or https URL of a page that says how to reach you")

// CheckContact says whether a text can be what --contact names. It goes into the user
// agent, in parentheses.
func CheckContact(text string) error {
	bad := strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`()<>"\,`, r) })
	if full, assumed := page.WithScheme(text); assumed && !bad {
		return fmt.Errorf("%q: %w; did you mean %s?", text, errContact, full)
	}
	if bad || contactHost(text) == "" {
		return fmt.Errorf("%q: %w", printable.Cut(text, 100), errContact)
	}
	return nil
}

// contactHost is the host of a contact's URL or the domain of its mail address, "" when
// it is neither.
func contactHost(text string) string {
	if strings.Contains(text, "://") {
		u, err := url.Parse(text)
		if err != nil || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
			return ""
		}
		return u.Hostname()
	}
	address, err := mail.ParseAddress(text)
	if err != nil || address.Address != text {
		return ""
	}
	_, domain, _ := strings.Cut(text, "@")
	if !strings.Contains(strings.Trim(domain, "."), ".") || strings.HasSuffix(domain, ".") {
		return ""
	}
	return domain
}

// standsForNone says whether a contact is of a domain that is kept for examples and
// tests (RFC 2606, RFC 6761): nobody can be reached there.
func standsForNone(contact string) bool {
	labels := strings.Split(strings.ToLower(strings.TrimSuffix(contactHost(contact), ".")), ".")
	last := labels[len(labels)-1]
	if slices.Contains([]string{"example", "test", "invalid", "localhost"}, last) {
		return true
	}
	return len(labels) > 1 && labels[len(labels)-2] == "example" && slices.Contains([]string{"com", "net", "org"}, last)
}
