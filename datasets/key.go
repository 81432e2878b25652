package datasets

import "fossick/internal/page"

// Key returns the form of an http or https URL by which a page of a corpus is
// looked up. It is the normal form, but with all parameters, as pages may
// differ only in one that a crawler drops. Errors are those of page.Normalize.
func Key(raw string) (string, error) {
	var n page.Normalizer // drops nothing
	return n.Normalize(raw)
}

// URLKey returns the form in which a truth's and a crawl's URLs are compared.
// It is the normal form or, for what has none, the URL as it stands: real
// corpora have ftp:, file: and worse.
func URLKey(raw string) string {
	if n, err := page.Normalize(raw); err == nil {
		return n
	}
	return raw
}
