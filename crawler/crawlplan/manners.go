package crawlplan

import (
	"cmp"
	"errors"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"fossick/crawler"
	"fossick/crawler/fetch"
	"fossick/internal/cli"
	"fossick/internal/reading"
	"fossick/internal/rights"
	"fossick/internal/terminal"
	"fossick/internal/usage"
)

// Manners are how a crawl treats hosts, and who it says it is.
type Manners struct {
	Sitemaps    *bool         `kong:"-"`
	SitemapURLs int           `kong:"-" name:"sitemap-urls"`
	Workers     int           `placeholder:"N" help:"Requests at a time, never two to one host [32]." group:"manners" expert:""`
	Agents      int           `placeholder:"N" help:"Crawl with N agents in this process, each with its own sites and its own store, DIR/agent-0 and so on; limits and --workers apply to all together [1]." group:"manners" expert:""`
	Delay       string        `type:"delay" placeholder:"D" help:"Rest after each fetch from a host: auto, or a time; 0 for your own servers [auto]." group:"run" predictor:"auto,0"`
	Timeout     time.Duration `placeholder:"D" help:"Longest time of one request [60s]." group:"manners" expert:""`
	Cookies     *bool         `kong:"-"`
	UserAgent   string        `placeholder:"NAME" help:"Name/version sent to servers and looked for in robots.txt [fossick/VERSION]." group:"manners" expert:""`
	Purpose     string        `type:"purpose" placeholder:"WHAT" help:"Purpose of the pages: search, training, research or archive. Pages whose owners refuse it are not fetched, and export leaves them out." group:"manners" expert:"" predictor:"search,training,research,archive"`
	Sign        string        `type:"path" placeholder:"KEY" help:"Sign each request with the Ed25519 private key in this file (Web Bot Auth)." group:"manners" expert:"" predictor:"files"`
	Contact     string        `type:"contact" placeholder:"MAIL|URL" help:"How a site's owner can reach you." group:"run"`
}

func (m *Manners) settings(saved *Manners) []setting {
	return []setting{
		of("sitemaps", "no", &m.Sitemaps, &saved.Sitemaps, pointed(yesNo)),
		of("sitemap-urls", "", &m.SitemapURLs, &saved.SitemapURLs, strconv.Itoa),
		of("workers", "32", &m.Workers, &saved.Workers, strconv.Itoa),
		of("agents", "", &m.Agents, &saved.Agents, strconv.Itoa),
		of("delay", "auto", &m.Delay, &saved.Delay, itself),
		of("timeout", "1m", &m.Timeout, &saved.Timeout, terminal.Brief),
		of("cookies", "no", &m.Cookies, &saved.Cookies, pointed(yesNo)),
		of("user-agent", "", &m.UserAgent, &saved.UserAgent, itself),
		of("purpose", "", &m.Purpose, &saved.Purpose, itself),
		of("sign", "", &m.Sign, &saved.Sign, itself),
		of("contact", "", &m.Contact, &saved.Contact, itself),
	}
}

// maxWorkers bounds --workers: each may hold a body of 4 MiB and a connection, and
// what more of them wait for is hosts.
const maxWorkers = 4096

// maxAgents bounds --agents: each has tables and buffers of its own, some 60 MiB.
const maxAgents = 64

func (m *Manners) check() error {
	switch {
	case m.Workers < 0 || m.Workers > maxWorkers:
		return usage.Errorf("--workers %d: give a number from 1 to %d", m.Workers, maxWorkers)
	case m.Agents < 0 || m.Agents > maxAgents:
		return usage.Errorf("--agents %d: give a number from 1 to %d", m.Agents, maxAgents)
	case m.SitemapURLs < 0:
		return usage.Errorf("--sitemap-urls %d: give a number of URLs, 1 or more", m.SitemapURLs)
	}
	return nil
}

// apply sets how crawler and fetcher behave; version is fossick's own.
func (m *Manners) apply(opt *crawler.Options, net *fetch.Options, version string) (err error) {
	name, number, _ := strings.Cut(cmp.Or(m.UserAgent, "fossick/"+version), "/")
	net.UserAgent, net.Timeout = fetch.UserAgent(name, number, m.whoAndWhat()), m.Timeout
	net.Cookies, net.ConnsPerHost = isOn(m.Cookies), 1
	opt.Agent, _, _ = strings.Cut(name, " ") // robots.txt calls it by name, without version
	opt.Workers, opt.Sitemaps, opt.MaxSitemapURLs = m.Workers, isOn(m.Sitemaps), m.SitemapURLs
	opt.Purpose = rights.Purpose(strings.ToLower(m.Purpose))
	if opt.Delay, err = ParseDelay(m.Delay); err != nil || m.Sign == "" {
		return err
	}
	key, err := m.key()
	if err != nil {
		return err
	}
	net.Signer = fetch.NewSigner(key, m.Contact, time.Now)
	return nil
}

// whoAndWhat is what the user agent says besides the name: how we are reached, and what for.
func (m *Manners) whoAndWhat() string {
	if m.Purpose == "" || m.Contact == "" { // of the public web nobody crawls without a contact
		return m.Contact
	}
	return m.Contact + "; for " + strings.ToLower(m.Purpose)
}

// key reads the key to sign with.
func (m *Manners) key() (*fetch.Key, error) {
	text, err := reading.Secret(m.Sign, 64<<10)
	if errors.Is(err, reading.ErrShared) {
		return nil, usage.Errorf("--sign: %v", err)
	}
	if err != nil {
		return nil, usage.Errorf("--sign: %v; %v", err, fetch.ErrKey)
	}
	key, err := fetch.ReadKey(text)
	if err != nil {
		return nil, usage.Errorf("--sign %s: %v", m.Sign, err)
	}
	return key, nil
}

// isOn says whether a switch is on; one that was not given is off.
func isOn(given *bool) bool { return given != nil && *given }

// ParseDelay reads --delay.
func ParseDelay(text string) (crawler.Delay, error) {
	if text == "" || text == "auto" {
		return crawler.Delay{}, nil
	}
	d, err := cli.Duration(text)
	if err != nil {
		return crawler.Delay{}, usage.Errorf("%q: want auto, 0, or a time such as 500ms, 2s or 1m", text)
	}
	return crawler.Delay{Fixed: true, Rest: d}, nil
}

// parsePatience reads --patience: how many times as long a crawl may take, 0 for auto.
func parsePatience(text string) (float64, error) {
	switch text {
	case "", "auto":
		return 0, nil
	case "none":
		return 1, nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x >= 1 && x <= maxPatience) {
		return 0, usage.Errorf("--patience %q: want auto, none, or how many times as long the crawl may take for better pages, from 1 to %d", text, maxPatience)
	}
	return x, nil
}

// maxPatience bounds --patience.
const maxPatience = 1000

// checkReachable refuses a crawl of the public web that its sites' owners could
// not complain about. note is what to say of a contact that is taken all the same.
func (m *Manners) checkReachable(seeds []string) (note string, err error) {
	switch {
	case len(seeds) > 0 && !slices.ContainsFunc(seeds, isPublic):
	case m.Contact == "":
		err = usage.Errorf("a crawl of the public web needs --contact MAIL or URL, which goes into the user agent, so that site owners can reach you instead of blocking you")
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
