package datasets

// Web is how a corpus behaves as a web, beyond its pages.
type Web struct {
	Redirects map[string]Redirect // by URL
	Status    map[string]int      // URLs that are answered with this status and no page
	Robots    map[string]string   // robots.txt by host name; a host without one allows all
	Traps     []Trap
	Starts    map[string][]string // start pages to try, by label
	Copies    map[string]string   // URLs at which the page of another one stands, too
}

// Redirect is an answer that sends the client elsewhere.
type Redirect struct {
	To     string
	Status int // 301, 302, 303, 307 or 308
}

// Trap is an endless space of URLs, made up as they are asked for.
type Trap struct {
	Prefix string // of the URLs in it
	// Page returns the page at a URL that begins with Prefix, false for 404. It
	// gives the same URL the same page, and may be called by several goroutines.
	Page func(url string) (html string, ok bool)
}
