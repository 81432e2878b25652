package datasets

import "fossick/page"

// Key returns the form of an http or https URL by which a page of a corpus is
// looked up: the normal form, but with all its parameters, as pages may differ
// only in one that a crawler drops. Errors are those of page.Normalize.
func Key(raw string) (string, error) {
	var n page.Normalizer // drops nothing
	return n.Normalize(raw)
}

// URLKey returns the form in which a truth's and a crawl's URLs are compared: the
// normal form or, for what has none (ftp:, file: and worse occur in real
// corpora), the URL as it stands.
func URLKey(raw string) string {
	if n, err := page.Normalize(raw); err == nil {
		return n
	}
	return raw
}
