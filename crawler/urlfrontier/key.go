package urlfrontier

import "strings"

// defaultCrawl is what a crawl without an id is called.
const defaultCrawl = "DEFAULT"

// crawlOf is the id of a crawl as it is kept.
func crawlOf(id string) string {
	if strings.TrimSpace(id) == "" {
		return defaultCrawl
	}
	return id
}

// keyOf is the queue of a URL whose client names none: its host in lower case, without
// port or user; "" when it has none.
func keyOf(url string) string {
	host := url
	if _, rest, ok := strings.Cut(url, "://"); ok {
		host = rest
	}
	if end := strings.IndexAny(host, "/?#&\\"); end >= 0 {
		host = host[:end]
	}
	host = strings.TrimSpace(host[strings.LastIndexByte(host, '@')+1:])
	if strings.HasPrefix(host, "[") { // an IPv6 address keeps its colons
		if end := strings.IndexByte(host, ']'); end > 0 {
			return strings.ToLower(host[:end+1])
		}
		return ""
	}
	host, _, _ = strings.Cut(host, ":")
	return strings.ToLower(strings.TrimSpace(host))
}
