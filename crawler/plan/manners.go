package plan

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/mail"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"fossick/crawler"
	"fossick/crawler/fetch"
	"fossick/crawler/render"
	"fossick/datasets"
	"fossick/internal/cli"
	"fossick/internal/document"
	"fossick/internal/fileio"
	"fossick/internal/page"
)

// Manners are a crawl's treatment of hosts, and its identity.
type Manners struct {
	Sitemaps  *bool         `kong:"-" without:"no"`
	Workers   int           `without:"32" placeholder:"N" help:"Requests at a time, never two to one host [32]." group:"manners" expert:""`
	Agents    int           `placeholder:"N" help:"Crawl with N agents in this process, each with its own sites and its own store, DIR/agent-0 and so on; limits and --workers apply to all together [1]." group:"manners" expert:""`
	Delay     string        `without:"auto" type:"delay" placeholder:"D" help:"Rest after each fetch from a host: auto, or a time; 0 for your own servers [auto]." group:"run" predictor:"auto,0"`
	Timeout   time.Duration `without:"1m" placeholder:"D" help:"Longest time of one request [60s]." group:"manners" expert:""`
	Types     []string      `without:"all" placeholder:"TYPES" help:"Types of documents to fetch, by comma: html, pdf, office (also OpenDocument, EPUB and RTF), text (also Markdown), feed (also other XML) or all [all]." group:"scope" expert:"" predictor:"html,pdf,office,text,feed,all"`
	MaxBytes  []string      `without:"4MiB, pdf and office 25MiB" placeholder:"SIZES" help:"Largest body, for all types or by type, as 5MiB or pdf=50MiB,html=10MiB [4MiB, pdf and office 25MiB]." group:"scope" expert:""`
	Cookies   *bool         `kong:"-" without:"no"`
	UserAgent string        `placeholder:"NAME" help:"Name/version sent to servers and looked for in robots.txt [fossick/VERSION]." group:"manners" expert:""`
	Purpose   string        `type:"purpose" placeholder:"WHAT" help:"Purpose of the pages: search, answer, training, research or archive. Pages whose owners refuse it are not fetched, and export leaves them out." group:"manners" expert:"" predictor:"search,answer,training,research,archive"`
	Sign      string        `type:"path" placeholder:"KEY" help:"Sign each request with the key in this file, which fossick identity init makes (Web Bot Auth)." group:"manners" expert:"" predictor:"files"`
	Contact   string        `type:"contact" placeholder:"MAIL|URL" help:"How a site's owner can reach you." group:"run"`
	Rendering
}

// Rendering says whether scripts run.
type Rendering struct {
	Render         string `enum:",auto,always,never" default:"" placeholder:"WHEN" help:"Run the scripts of pages in Chromium: always where a page has some, never, or auto, where that is worth its seconds [auto with --browser, else never]." group:"manners" expert:"" predictor:"auto,always,never"`
	Browser        string `placeholder:"PATH|URL" help:"The Chromium to run for --render, or the ws:// or http:// address at which one listens with --remote-debugging-port [chromium-headless-shell, which takes a seventh of the time, else chromium]. A path is not kept in the store." group:"manners" expert:"" predictor:"files"`
	RenderRequests int    `placeholder:"N" help:"With --render, most requests of a page's scripts [20]." group:"manners" expert:""`
}

// maxRenderRequests bounds --render-requests.
const maxRenderRequests = 1000

func (r *Rendering) check() error {
	switch {
	case r.RenderRequests < 0 || r.RenderRequests > maxRenderRequests:
		return cli.Usagef("--render-requests %d: give a number from 1 to %d", r.RenderRequests, maxRenderRequests)
	case r.Render == "" && r.Browser != "":
		r.Render = renderPriced
	case !r.renders() && r.Browser != "":
		return cli.Usagef("--browser renders pages, and --render never does not; leave one out")
	}
	if !r.renders() && r.RenderRequests > 0 {
		return cli.Usagef("--render-requests bounds what rendering asks for; give --render auto or always with it")
	}
	return nil
}

// renderPriced renders where that is worth its seconds.
const renderPriced = "auto"

func (r *Rendering) renders() bool { return r.Render == "always" || r.Render == renderPriced }

// remote returns the address of a browser that runs, "" for a program.
func (r *Rendering) remote() string {
	if render.Remote(r.Browser) {
		return r.Browser
	}
	return ""
}

// maxWorkers bounds --workers: each may hold a body of 4 MiB and a connection, and further
// ones only wait for hosts.
const maxWorkers = 4096

// maxAgents bounds --agents: each takes about 60 MiB.
const maxAgents = 64

func (m *Manners) check() error {
	switch {
	case m.Workers < 0 || m.Workers > maxWorkers:
		return cli.Usagef("--workers %d: give a number from 1 to %d", m.Workers, maxWorkers)
	case m.Agents < 0 || m.Agents > maxAgents:
		return cli.Usagef("--agents %d: give a number from 1 to %d", m.Agents, maxAgents)
	}
	return m.Rendering.check()
}

// apply sets the options of crawler and fetcher; version is fossick's own.
func (m *Manners) apply(opt *crawler.Options, net *fetch.Options, version string) (err error) {
	name, number, _ := strings.Cut(cmp.Or(m.UserAgent, "fossick/"+version), "/")
	net.UserAgent, net.Timeout = fetch.UserAgent(name, number, m.whoAndWhat()), m.Timeout
	net.Cookies, net.ConnsPerHost = isOn(m.Cookies), 1
	opt.Agent, _, _ = strings.Cut(name, " ") // robots.txt addresses the name without a version
	opt.RenderRequests, opt.RenderPriced = m.RenderRequests, m.Render == renderPriced
	opt.Workers, opt.Sitemaps = m.Workers, isOn(m.Sitemaps)
	if net.Types, err = m.limits(); err != nil {
		return err
	}
	opt.Purpose = page.Purpose(strings.ToLower(m.Purpose))
	if opt.Delay, err = ParseDelay(m.Delay); err != nil || m.Sign == "" {
		return err
	}
	key, err := m.key()
	if err != nil {
		return err
	}
	if net.Signer, err = fetch.NewSigner(key, m.Contact, time.Now); err != nil {
		return cli.Usagef("--sign %s: %v", m.Sign, err)
	}
	return nil
}

// mostBytes bounds --max-bytes: the bodies of all slow answers together may take so much memory.
const mostBytes = 64 << 20

// limits reads --types and --max-bytes: the wanted types, each with the most bytes of a body; 0
// is the default.
func (m *Manners) limits() (map[string]int64, error) {
	known, limits := document.Types(), map[string]int64{}
	for _, kind := range m.Types {
		switch kind = strings.ToLower(strings.TrimSpace(kind)); {
		case slices.Contains(known, kind):
			limits[kind] = 0
		case kind != "all":
			return nil, cli.Usagef("--types %s: want one or more of %s, by comma, or all%s", cli.Cut(kind, 100), strings.Join(known, ", "), cli.DidYouMean(kind, known))
		}
	}
	if len(m.Types) == 0 || slices.ContainsFunc(m.Types, func(kind string) bool { return strings.EqualFold(strings.TrimSpace(kind), "all") }) {
		for _, kind := range known {
			limits[kind] = 0
		}
	}
	sizes := slices.Clone(m.MaxBytes)
	slices.SortStableFunc(sizes, func(a, b string) int { // a size for all comes before that of one type
		return strings.Count(a, "=") - strings.Count(b, "=")
	})
	for _, text := range sizes {
		kinds, size := known, text
		if kind, of, one := strings.Cut(text, "="); one {
			kinds, size = []string{strings.ToLower(strings.TrimSpace(kind))}, of
		}
		n, err := cli.Bytes(size)
		if !slices.Contains(known, kinds[0]) || err != nil || n <= 0 || n > mostBytes {
			return nil, cli.Usagef("--max-bytes %s: want a size up to %dMiB, such as 5MiB, or sizes of %s, such as pdf=25MiB,html=10MiB", cli.Cut(text, 100), mostBytes>>20, strings.Join(known, ", "))
		}
		for _, kind := range kinds {
			if _, wanted := limits[kind]; wanted {
				limits[kind] = n
			}
		}
	}
	return limits, nil
}

// whoAndWhat is the user agent's comment: contact and purpose.
func (m *Manners) whoAndWhat() string {
	if m.Purpose == "" || m.Contact == "" { // a crawl of the public web has a contact
		return m.Contact
	}
	return m.Contact + "; for " + strings.ToLower(m.Purpose)
}

// key reads the signing key.
func (m *Manners) key() (*fetch.Key, error) {
	text, err := fileio.Secret(m.Sign, 64<<10)
	if errors.Is(err, fileio.ErrShared) {
		return nil, cli.Usagef("--sign: %v", err)
	}
	if err != nil {
		return nil, cli.Usagef("--sign: %v; `fossick identity init` makes a key", err)
	}
	key, err := fetch.ReadKey(text)
	if err != nil {
		return nil, cli.Usagef("--sign %s: %v", m.Sign, err)
	}
	return key, nil
}

// isOn reports whether a switch is given and on.
func isOn(given *bool) bool { return given != nil && *given }

// ParseDelay reads --delay.
func ParseDelay(text string) (crawler.Delay, error) {
	if text == "" || text == "auto" {
		return crawler.Delay{}, nil
	}
	d, err := cli.Duration(text)
	if err != nil {
		return crawler.Delay{}, cli.Usagef("%q: want auto, 0, or a time such as 500ms, 2s or 1m", text)
	}
	return crawler.Delay{Fixed: true, Rest: d}, nil
}

// parsePatience reads --patience: how many times as long a crawl may take; 0 for auto.
func parsePatience(text string) (float64, error) {
	switch text {
	case "", "auto":
		return 0, nil
	case "none":
		return 1, nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x >= 1 && x <= maxPatience) {
		return 0, cli.Usagef("--patience %q: want auto, none, or how many times as long the crawl may take for better pages, from 1 to %d", text, maxPatience)
	}
	return x, nil
}

// maxPatience bounds --patience.
const maxPatience = 1000

// checkReachable refuses a crawl of the public web without a contact for site owners. note is
// a warning about an accepted contact.
func (m *Manners) checkReachable(seeds []string) (note string, err error) {
	switch {
	case len(seeds) > 0 && !slices.ContainsFunc(seeds, isPublic):
	case m.Contact == "":
		err = cli.Usagef("a crawl of the public web needs --contact MAIL or URL, which goes into the user agent, so that site owners can reach you instead of blocking you")
	case standsForNone(m.Contact):
		note = "--contact " + m.Contact + ": this address is only an example; give your own"
	}
	return note, err
}

func isPublic(u string) bool {
	parsed, err := url.Parse(u)
	if err != nil {
		return true
	}
	addr, err := netip.ParseAddr(parsed.Hostname())
	return err != nil || !addr.IsLoopback()
}

var errContact = errors.New("give a mail address, such as you@example.org, or the http or https URL of a page that says how to reach you")

// CheckContact checks that a text can be a contact. It goes into the user agent, in
// parentheses.
func CheckContact(text string) error {
	bad := strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`()<>"\,`, r) })
	if full, assumed := page.WithScheme(text); assumed && !bad {
		return fmt.Errorf("%q: %w; did you mean %s?", text, errContact, full)
	}
	if bad || contactHost(text) == "" {
		return fmt.Errorf("%q: %w", cli.Cut(text, 100), errContact)
	}
	return nil
}

// contactHost returns the host of a contact's URL or mail address; "" when it is neither.
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

// standsForNone reports whether a contact's domain is reserved for examples and tests (RFC
// 2606, RFC 6761).
func standsForNone(contact string) bool {
	labels := strings.Split(strings.ToLower(strings.TrimSuffix(contactHost(contact), ".")), ".")
	last := labels[len(labels)-1]
	if slices.Contains([]string{"example", "test", "invalid", "localhost"}, last) {
		return true
	}
	return len(labels) > 1 && labels[len(labels)-2] == "example" && slices.Contains([]string{"com", "net", "org"}, last)
}

// Network is a crawl's way into the network, and its monitor there.
type Network struct {
	Ways
	Listen string `placeholder:"ADDR" help:"Show the running crawl at http://ADDR/status (JSON) and /metrics (Prometheus); :PORT is on loopback. It answers requests by address, by localhost and by the name in ADDR only. With --verbose also Go's profiles at /debug/pprof, for this machine." group:"net" expert:""`
}

// Ways are how requests reach the network.
type Ways struct {
	Proxy    string   `placeholder:"URL" help:"Send all requests through a proxy: http, https, socks5 or socks5h://[USER:PASSWORD@]HOST:PORT; a password is not kept in the store." group:"net" expert:""`
	Hosts    string   `placeholder:"FILE" help:"File with the addresses of hosts: name TAB ip[:port] a line." group:"net" expert:""`
	CA       string   `name:"ca" placeholder:"FILE" help:"File of further certificate authorities (PEM), such as the one that fossick serve names." group:"net" expert:""`
	AllowNet []string `placeholder:"CIDRS" help:"Networks to allow although the guard would refuse them, such as 127.0.0.0/8." group:"net" expert:""`
}

// maxCABytes bounds a file of --ca.
const maxCABytes = 16 << 20

// apply sets how a fetcher reaches the network, within the nets of a scope.
func (n *Network) apply(opt *fetch.Options, scope *scope) (err error) {
	if n.Proxy != "" {
		if opt.Proxy, err = ParseProxy(n.Proxy); err != nil {
			return err
		}
	}
	if opt.AllowNet, err = Nets(n.AllowNet); err != nil {
		return err
	}
	if n.Hosts != "" {
		file, err := datasets.OpenList(n.Hosts)
		if err != nil {
			return fmt.Errorf("--hosts: %w", err)
		}
		defer file.Close() // opened for reading: closing loses nothing
		if opt.Hosts, err = fetch.ParseHosts(file, n.Hosts); err != nil {
			return err
		}
	}
	if opt.Only, err = scope.nets(n.Proxy != ""); err != nil {
		return err
	}
	return n.authorities(opt)
}

// authorities reads the file of --ca.
func (n *Network) authorities(opt *fetch.Options) error {
	if n.CA == "" {
		return nil
	}
	file, err := fileio.OpenNamed(n.CA)
	if err != nil {
		return fmt.Errorf("--ca: %w", err)
	}
	defer file.Close() // opened for reading: closing loses nothing
	opt.RootCAs, err = fetch.ReadCAs(io.LimitReader(file, maxCABytes), n.CA)
	return err
}

// Nets reads --allow-net.
func Nets(texts []string) (nets []netip.Prefix, err error) {
	for _, text := range texts {
		net, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, cli.Usagef("--allow-net %s: give networks such as 127.0.0.0/8 or ::1/128", text)
		}
		nets = append(nets, net)
	}
	return nets, nil
}

// noPassword replaces a proxy's password in a store, as url.URL.Redacted does.
const noPassword = "xxxxx"

// ParseProxy reads --proxy. Its errors do not quote the text, which may have a password.
func ParseProxy(text string) (*url.URL, error) {
	proxy, err := url.Parse(text)
	if err != nil {
		var parse *url.Error
		if errors.As(err, &parse) {
			err = parse.Err // the whole error has the URL
		}
		var escape url.EscapeError
		if errors.As(err, &escape) {
			err = errors.New("a % that does not begin an escape; write it as %25")
		}
		return nil, cli.Usagef("--proxy: not a URL: %w; give it as http://USER:PASSWORD@HOST:PORT, special characters escaped by %%", err)
	}
	if password, _ := proxy.User.Password(); password == noPassword {
		return nil, cli.Usagef("--proxy %s: the password is not kept in a store; give --proxy (or FOSSICK_PROXY) again with it", proxy)
	}
	return proxy, nil
}

// RedactProxy returns a proxy's URL without its password.
func RedactProxy(text string) string {
	proxy, err := url.Parse(text)
	if err != nil {
		return "" // cannot happen: ParseProxy accepted it
	}
	return proxy.Redacted()
}

// opened names a store's settings that open the guard or a listener, redirect requests or sign
// them, and that the command line did not give: the store may be a stranger's. It returns ""
// for none.
func (saved *Settings) opened(given *Settings) string {
	var opened []string
	tell := func(flag, given, saved string) {
		if given == "" && saved != "" {
			opened = append(opened, "--"+flag+" "+saved)
		}
	}
	tell("browser", given.Browser, saved.Browser)
	tell("allow-net", strings.Join(given.AllowNet, ","), strings.Join(saved.AllowNet, ","))
	tell("ca", given.CA, saved.CA)
	tell("hosts", given.Hosts, saved.Hosts)
	tell("listen", given.Listen, saved.Listen)
	tell("proxy", given.Proxy, RedactProxy(saved.Proxy))
	tell("sign", given.Sign, saved.Sign)
	return strings.Join(opened, ", ")
}
