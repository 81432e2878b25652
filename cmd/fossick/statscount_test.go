package main

import (
	"bytes"
	"fmt"
	"math"
	"math/bits"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/publicsuffix"

	"fossick/datasets"
	"fossick/internal/page"
	"fossick/internal/testkit"
	"fossick/store"
)

// webCount computes the tables of stats from the server's log and the corpus, without the store. It
// follows a breadth-first crawl by one worker, request by request, and finds the links in the corpus's
// pages. Counts are by table, by the first column's value, by column.
type webCount struct {
	t      *testing.T
	corpus map[string]*datasets.Example
	depth  map[string]int    // of known URLs
	links  map[string]int    // number of stored pages that link to a URL
	out    map[string]int    // number of URLs that a stored page links to
	state  map[string]string // of requested URLs, after the last exchange
	bodies map[page.Checksum]bool
	bytes  map[string]bool // the bodies themselves
	got    map[string]bool
	labels map[string]string // of the corpus's pages, by a model
	pages  []countedPage
	seeds  []string
	hosts  map[string]bool // of the corpus

	unasked int             // number of URLs
	skipped map[string]bool // URLs that only nofollow links name

	want map[string]map[string]map[string]float64

	redirects map[string]datasets.Redirect
}

func newWebCount(t *testing.T, set *datasets.Set, seeds ...string) *webCount {
	w := &webCount{
		t: t, corpus: map[string]*datasets.Example{}, depth: map[string]int{}, links: map[string]int{}, out: map[string]int{}, state: map[string]string{},
		bodies: map[page.Checksum]bool{}, bytes: map[string]bool{}, got: map[string]bool{}, skipped: map[string]bool{}, hosts: map[string]bool{}, want: map[string]map[string]map[string]float64{},
	}
	for e := range testkit.All(t, set.Examples()) {
		if key, err := datasets.Key(e.URL); err == nil && w.corpus[key] == nil {
			w.corpus[key] = e
		}
		if u, err := url.Parse(e.URL); err == nil {
			w.hosts[u.Host] = true
		}
	}
	if web := set.Web(); web != nil {
		w.redirects = web.Redirects
	}
	w.seeds = seeds
	for _, seed := range seeds {
		w.depth[seed] = 0
	}
	return w
}

func (w *webCount) add(table string, row any, column string, n float64) {
	key := fmt.Sprint(row)
	if w.want[table] == nil {
		w.want[table] = map[string]map[string]float64{}
	}
	if w.want[table][key] == nil {
		w.want[table][key] = map[string]float64{}
	}
	w.want[table][key][column] += n
}

// ofFault is the state in which an exchange with a fault ends.
var ofFault = map[string]string{
	"status-403": "code", "status-410": "code", "redirect-nowhere": "redirect", "wrong-type": "wrong_type",
	"hang-up": "header_error", "short-body": "body_error", "reset": "header_error",
}

func (w *webCount) read(log []request) {
	hosts := map[string]bool{}
	for _, r := range log {
		if name, _, _ := strings.Cut(r.Host, ":"); !hosts[name] {
			hosts[name] = true
			if _, err := netip.ParseAddr(name); err == nil {
				w.add("host_labels", "(address)", "hosts", 1)
			} else {
				w.add("host_labels", strings.Count(name, ".")+1, "hosts", 1)
			}
		}
		if !ofPage(r) {
			continue
		}
		w.exchange(withoutDefaultPort(r), r)
	}
	w.settle()
}

// ofPage tells requests for pages from those for robots.txt and the like.
func ofPage(r request) bool {
	return r.Path != "/robots.txt" && !strings.HasPrefix(r.Path, "/.well-known/")
}

// withoutDefaultPort returns the URL of a request in normal form.
func withoutDefaultPort(r request) string {
	scheme, _, _ := strings.Cut(r.URL, "://")
	port := map[string]string{"http": ":80", "https": ":443"}[scheme]
	return scheme + "://" + strings.TrimSuffix(r.Host, port) + r.Path
}

func (w *webCount) exchange(url string, r request) {
	state, code := "code", r.Status
	switch {
	case r.Fault != "":
		state = ofFault[r.Fault]
		if r.Fault == "short-body" {
			code = 200 // the log has no code, because the fault took the connection over
		}
	case code == 200:
		state = "ok"
	case code >= 300 && code < 400:
		state = "redirect"
	}
	if _, known := w.depth[url]; !known {
		for known := range w.depth { // a request may escape more characters than the normal form
			if unescaped(known) == unescaped(url) {
				url = known
			}
		}
	}
	if _, known := w.depth[url]; !known {
		w.t.Errorf("%s was asked for, which nothing links to", url)
	}
	w.add("outcomes", state, "exchanges", 1)
	if code > 0 {
		w.add("codes", code, "answers", 1)
	}
	w.state[url] = state
	switch {
	case state == "ok":
		w.got[url] = true
		w.page(url)
	case state == "redirect" && r.Fault == "":
		w.moved(url)
	}
}

// row returns the corpus's row of a URL; both schemes are served.
func (w *webCount) row(url string) (*datasets.Example, error) {
	key, err := datasets.Key(url)
	if e := w.corpus[key]; e != nil {
		return e, err
	}
	return w.corpus[datasets.FlipScheme(key)], err
}

func unescaped(u string) string {
	plain, err := url.PathUnescape(u)
	if err != nil {
		return u
	}
	return plain
}

// moved follows a redirect as the server makes it: the corpus's own, else to the path with or without a
// final slash.
func (w *webCount) moved(url string) {
	to := url + "/"
	if e, err := w.row(to); err != nil || e == nil {
		to = strings.TrimSuffix(url, "/")
	}
	if key, err := datasets.Key(to); err == nil && w.corpus[key] == nil {
		to = datasets.FlipScheme(to) // in the corpus's scheme
	}
	if r, ok := w.redirects[url]; ok {
		to = r.To
	}
	if _, known := w.depth[to]; !known {
		w.depth[to] = w.depth[url]
	}
}

func (w *webCount) page(url string) {
	e, err := w.row(url)
	if err != nil || e == nil {
		w.t.Fatalf("%s is not in the corpus, %v", url, err)
	}
	body, media := e.HTML, "text/html"
	if body == "" {
		body, media = e.Text, "text/plain"
	}
	p, err := page.Parse([]byte(body), page.ParseOptions{URL: url, ContentType: media + "; charset=utf-8", Normalizer: page.NewNormalizer(page.DefaultDrop())})
	if err != nil {
		w.t.Fatal(err)
	}
	if w.bodies[p.Checksum] || w.bytes[body] {
		w.state[url] = "duplicate"
		w.header(url)
		w.discover(url, p) // links that only a mirror has
		return
	}
	to := w.discover(url, p)
	if p.NoIndex {
		w.state[url] = "robots_denied"
		return
	}
	w.bodies[p.Checksum], w.bytes[body] = true, true
	w.header(url)
	w.stored(url, p, media, int64(len(body)), to)
}

// discover enters a page's links and returns each once. A nofollow link makes a URL known; the first
// link that may be followed discovers it anew.
func (w *webCount) discover(url string, p *page.Page) []string {
	followed := map[string]bool{}
	for _, l := range p.Links {
		followed[l.URL] = followed[l.URL] || !l.NoFollow && !p.NoFollow
	}
	seen := map[string]bool{url: true}
	var to []string
	for _, l := range p.Links {
		if seen[l.URL] {
			continue
		}
		seen[l.URL] = true
		to = append(to, l.URL)
		if w.skipped[l.URL] && followed[l.URL] {
			w.add("depths", w.depth[l.URL]-1, "new_links", -1)
			delete(w.depth, l.URL)
			delete(w.skipped, l.URL)
		}
		if _, known := w.depth[l.URL]; !known {
			w.depth[l.URL] = w.depth[url] + 1
			w.add("depths", w.depth[url], "new_links", 1)
			if !followed[l.URL] {
				w.skipped[l.URL] = true
			}
		}
	}
	return to
}

func (w *webCount) stored(url string, p *page.Page, media string, size int64, to []string) {
	for _, l := range to {
		w.links[l]++
	}
	w.out[url] = len(to)
	kinds := []byte("000")
	for _, l := range p.Links {
		kinds[strings.IndexByte("haf", byte(l.Kind))] = byte(l.Kind)
		w.add("link_kinds", string(l.Kind), "links", 1)
	}
	if others := p.LinkKinds(); others != nil { // the URLs in scripts are not among the links
		if n := float64(others[2] - bytes.Count(kindsOf(p), []byte("h"))); n > 0 {
			kinds[0] = 'h'
			w.add("link_kinds", "h", "links", n)
		}
	}
	lang := p.Lang
	if lang == "" {
		lang = "not known"
	}
	w.pages = append(w.pages, countedPage{url: url, media: media, charset: p.Charset, lang: lang, kinds: string(kinds), bytes: size, unseen: int64(p.Unseen), links: int64(len(to))})
	w.add("depths", w.depth[url], "stored", 1)
}

func kindsOf(p *page.Page) (letters []byte) {
	for _, l := range p.Links {
		letters = append(letters, byte(l.Kind))
	}
	return letters
}

// settle counts what the last exchange of each URL decides.
func (w *webCount) settle() {
	for url, state := range w.state {
		w.add("outcomes", state, "urls", 1)
		w.add("depths", w.depth[url], "requested", 1)
		w.places(url, "requested")
		scheme, rest, _ := strings.Cut(url, "://")
		w.add("schemes", scheme, "requested", 1)
		_, path, _ := strings.Cut(rest, "/")
		w.add("path_lengths", min(len(path)/16*16, 256), "number", 1)
		if w.got[url] {
			w.add("path_lengths", min(len(path)/16*16, 256), "downloaded", 1)
			w.add("depths", w.depth[url], "downloaded", 1)
			w.add("schemes", scheme, "downloaded", 1)
			w.places(url, "downloaded")
		}
		switch state {
		case "ok":
			w.add("duplicates", "its own", "urls", 1)
		case "duplicate":
			w.add("duplicates", "equal to another's", "urls", 1)
		case "redirect":
			w.header(url)
		}
	}
	for url, depth := range w.depth {
		w.add("depths", depth, "known", 1)
		scheme, _, _ := strings.Cut(url, "://")
		w.add("schemes", scheme, "urls", 1)
		w.places(url, "urls")
		if w.state[url] == "" {
			w.unasked++
		}
		if host, _, _ := strings.Cut(url[len(scheme)+3:], "/"); scheme == "https" && !w.hosts[host] {
			delete(w.want, "host_labels") // the log lacks CONNECT attempts
		}
	}
	step := func(degree int) int {
		if degree == 0 {
			return 0
		}
		return 1 << (bits.Len(uint(degree)) - 1)
	}
	for url, out := range w.out {
		w.add("degrees", step(out), "out", 1)
		w.add("degrees", step(w.links[url]), "in", 1)
	}
	for _, n := range w.links {
		w.add("degrees", step(n), "in_urls", 1)
	}
}

func (w *webCount) places(url, column string) {
	tld, second, site := placesOf(url)
	w.add("tlds", tld, column, 1)
	w.add("second_levels", second, column, 1)
	w.add("sites", site, column, 1)
}

// placesOf returns a URL's last label, its last two, and its registrable domain.
func placesOf(url string) (tld, second, site string) {
	_, rest, _ := strings.Cut(url, "://")
	name, _, _ := strings.Cut(rest, "/")
	name, _, _ = strings.Cut(name, ":")
	if _, err := netip.ParseAddr(name); err == nil {
		return "(address)", "(address)", name
	}
	labels := strings.Split(name, ".")
	site, err := publicsuffix.EffectiveTLDPlusOne(name)
	if err != nil {
		site = name
	}
	return labels[len(labels)-1], strings.Join(labels[max(0, len(labels)-2):], "."), site
}

// tellUnknown logs URLs that only the store or only this count knows.
func (w *webCount) tellUnknown(dir string) {
	s, err := store.Open(dir)
	if err != nil {
		w.t.Fatal(err)
	}
	defer s.Close()
	depths := map[string]int{}
	for k, err := range s.URLs().Known() {
		if err != nil {
			w.t.Fatal(err)
		}
		if depths[k.URL] = k.Depth; w.depth[k.URL] != k.Depth {
			w.t.Logf("the store has %s at depth %d, via %s from %d; counted %d", k.URL, k.Depth, k.Via, k.From, w.depth[k.URL])
		}
	}
	for url, depth := range w.depth {
		if _, known := depths[url]; !known {
			w.t.Logf("the store has no %s, counted at depth %d", url, depth)
		}
	}
}

// countedPage is a stored page.
type countedPage struct {
	url, media, charset, lang, kinds string
	bytes, unseen, links             int64
}

// serverOf returns the server name that a host sends, with and without its version.
func serverOf(host string) (full, product string) {
	name, _, _ := strings.Cut(host, ":")
	full = []string{"nginx/1.24.0", "Apache/2.4.57 (Debian) OpenSSL/3.0", "Microsoft-IIS"}[len(name)%3]
	product, _, _ = strings.Cut(full, "/")
	return full, product
}

// header counts an answer whose header is stored. Answers over TLS bypass the handler that sends the
// server name.
func (w *webCount) header(address string) {
	w.add("http_versions", "http/1.1", "answers", 1)
	server := "not said"
	if u, err := url.Parse(address); err == nil && u.Scheme == "http" {
		_, server = serverOf(u.Host)
	}
	w.add("servers", server, "answers", 1)
}

// settlePages counts the stored pages, and then computes the means by name.
func (w *webCount) settlePages() {
	type sums struct{ pages, bytes, links int64 }
	means := map[[2]string]*sums{}
	for _, p := range w.pages {
		label := "none"
		if e, err := w.row(p.url); err == nil && w.labels[e.URL] != "" {
			label = w.labels[e.URL]
		}
		for table, row := range map[string]any{
			"page_kinds": p.kinds, "sizes": p.bytes / (256 << 10) * 256, "sizes_fine": max(256, int64(1)<<bits.Len64(uint64(p.bytes))),
		} {
			w.add(table, row, "pages", 1)
		}
		for _, class := range []string{"all", sizeClass(p.bytes)} {
			w.add("compression", class, "pages", 1)
			w.add("compression", class, "bytes", float64(p.bytes))
		}
		kind := "html" // the web has no documents
		if p.media == "text/plain" {
			kind = "text"
		}
		w.add("types", kind, "pages", 1)
		w.add("types", kind, "bytes", float64(p.bytes))
		scheme, _, _ := strings.Cut(p.url, "://")
		w.add("schemes", scheme, "stored", 1)
		w.places(p.url, "pages")
		tld, second, site := placesOf(p.url)
		for table, row := range map[string]string{
			"media_types": p.media, "charsets": p.charset, "languages": p.lang, "labels": label, "tlds": tld, "second_levels": second, "sites": site,
		} {
			if table == "labels" && w.labels == nil {
				continue
			}
			if table == "media_types" || table == "charsets" || table == "languages" || table == "labels" {
				w.add(table, row, "pages", 1)
			}
			of := means[[2]string{table, row}]
			if of == nil {
				of = &sums{}
				means[[2]string{table, row}] = of
			}
			of.pages, of.bytes, of.links = of.pages+1, of.bytes+p.bytes, of.links+p.links
		}
	}
	for at, of := range means {
		w.add(at[0], at[1], "bytes_per_page", math.Floor(float64(of.bytes)/float64(of.pages)+0.5))
		w.add(at[0], at[1], "links_per_page", float64(of.links)/float64(of.pages))
	}
}

// sizeClass returns the row of a page's size in the table of compression.
func sizeClass(bytes int64) string {
	for kib := int64(4); kib <= 256; kib *= 4 {
		if bytes < kib<<10 {
			return fmt.Sprintf("below %d KiB", kib)
		}
	}
	return "256 KiB and more"
}

func (w *webCount) settleSeeds() {
	for _, seed := range w.seeds {
		w.add("seed_outcomes", w.state[seed], "seeds", 1)
		w.add("seed_lengths", min(seedLength(seed)/5*5, 100), "number", 1)
		if u, err := url.Parse(seed); err == nil && w.want["host_labels"] != nil {
			w.add("host_labels", strings.Count(u.Hostname(), ".")+1, "seeds", 1)
		}
	}
}

// seedLength is a start page's length as in paper E: without the scheme and a slash that is all its path.
func seedLength(seed string) int64 {
	_, rest, _ := strings.Cut(seed, "://")
	if strings.Count(rest, "/") == 1 {
		rest = strings.TrimSuffix(rest, "/")
	}
	return int64(len(rest))
}

// lengths returns the numbers behind the table of means.
func (w *webCount) lengths(got statsTables) map[string][]int64 {
	all := map[string][]int64{}
	for _, seed := range w.seeds {
		all["seed length"] = append(all["seed length"], seedLength(seed))
	}
	for address := range w.state {
		_, rest, _ := strings.Cut(address, "://")
		_, path, _ := strings.Cut(rest, "/")
		all["path length"] = append(all["path length"], int64(len(path)))
		if w.got[address] {
			all["path, got"] = append(all["path, got"], int64(len(path)))
		}
	}
	if len(w.seeds) == 1 { // its party has every page
		all["pages a seed"] = []int64{int64(len(w.got))}
	}
	for _, p := range w.pages {
		all["page bytes"] = append(all["page bytes"], p.bytes)
		all["of it unseen"] = append(all["of it unseen"], min(p.unseen, p.bytes))
		all["page links"] = append(all["page links"], p.links)
	}
	if w.want["host_labels"] == nil {
		return all
	}
	for _, row := range got.rows(w.t, "host_labels") { // other code compares these numbers
		labels, hosts := row["labels"].(string), row["hosts"].(float64)
		if n, err := strconv.ParseInt(labels, 10, 64); err == nil { // an address has none
			all["host labels"] = append(all["host labels"], slices.Repeat([]int64{n}, int(hosts))...)
		}
	}
	return all
}

// compareMeans compares the rows of means with the numbers; quantiles above 4,096 may be 0.8 % too low.
func (w *webCount) compareMeans(got statsTables) {
	for name, all := range w.lengths(got) {
		slices.Sort(all)
		n, sum, squares := float64(len(all)), 0.0, 0.0
		for _, v := range all {
			sum += float64(v)
		}
		for _, v := range all {
			squares += (float64(v) - sum/n) * (float64(v) - sum/n)
		}
		at := func(share float64) float64 { return float64(all[max(0, int(math.Ceil(share*n))-1)]) }
		row := got.row(w.t, "means", name)
		for column, want := range map[string]float64{"n": n, "least": at(0), "mean": sum / n, "deviation": math.Sqrt(squares / n), "median": at(0.5), "p99": at(0.99), "most": at(1)} {
			low := want * (1 - 1e-9)
			if (column == "median" || column == "p99") && want > 4096 {
				low = math.Floor(want * (1 - 1./128))
			}
			if v, ok := row[column].(float64); !ok || v < low || v > want*(1+1e-9)+1e-9 {
				w.t.Errorf("means, %s: %s is %v, counted %v", name, column, row[column], want)
			}
		}
	}
}
