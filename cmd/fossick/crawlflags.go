package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/netip"
	"path/filepath"
	"strings"
	"time"

	"fossick/crawler"
	"fossick/fetch"
	"fossick/graph/orders"
	"fossick/internal/lists"
	"fossick/internal/reading"
	"fossick/internal/values"
	"fossick/page"
	"fossick/policy"
	"fossick/store"
)

// crawlSettings are the flags of a crawl. A zero value means "not given": then
// a resumed crawl takes what the store remembers, and a new one the default.
type crawlSettings struct {
	Seed     []string `placeholder:"URL" sep:"none" help:"Start page; may be repeated." group:"what"`
	Seeds    string   `placeholder:"FILE" help:"File of start pages, one a line, # comments." group:"what"`
	Keywords []string `placeholder:"WORDS" help:"Words and phrases of the topic, by comma [its own]." group:"what"`
	Model    string   `placeholder:"M" help:"Model that labels the pages, a file or a topic's name [its own]." group:"what" complete:"models"`

	Score     string   `placeholder:"HOW" help:"How links are scored: ${scores}; what they are is told above [learned with a model, else paper]." group:"score" expert:"" complete:"policies"`
	Rho       *float64 `placeholder:"ρ" help:"Share of R that a page inherits from the page that led to it [0.3]." group:"score" expert:""`
	Explore   *float64 `placeholder:"SHARE" help:"Share of fetches that learned spends on URLs of which little is known, hosts never fetched first [${explore}]." group:"score" expert:""`
	Threshold *float64 `placeholder:"R" help:"Drop links that score less [0.2 in the order of relevance; other orders never drop]." group:"score" expert:""`
	Links     string   `enum:",all,external,site" default:"" placeholder:"WHICH" help:"Which links to follow: all, external (to other hosts), site [all]." group:"scope" expert:""`
	Order     string   `placeholder:"ORDER" help:"Order of the crawl: ${orders} [relevance]." group:"score" expert:"" complete:"orders"`
	Alike     bool     `help:"With --order mcs, mns, lexbfs or lexdfs: count all links alike. Without it links that stay on a site without a start page only discover pages." group:"score" expert:""`

	MaxPages        uint64         `placeholder:"N" help:"Pages to store, over all resumptions [1000]." group:"run"`
	MaxTime         time.Duration  `placeholder:"D" help:"Stop this session after so long, as 90s, 2h or 1d." group:"run"`
	MinHarvest      *float64       `placeholder:"X" help:"Stop when the next pages will surely have less than this share on topic, by the last 200 to 1,000 pages; X in (0,1], 0 never stops [0]." group:"run" expert:""`
	MaxWait         *time.Duration `placeholder:"D" help:"When all that is queued rests longer than this, at the wish of its hosts (Retry-After, Crawl-delay), stop; the URLs stay queued for --resume [15m]." group:"run" expert:""`
	MaxDepth        int            `placeholder:"N" help:"Links from a start page, at most." group:"scope" expert:""`
	MaxPagesPerHost uint64         `placeholder:"N" help:"Pages of one host, at most." group:"scope" expert:""`
	MaxPagesPerSite uint64         `placeholder:"N" help:"Pages of one site, at most." group:"scope" expert:""`
	Include         string         `placeholder:"REGEX" help:"Visit only URLs that match." group:"scope" expert:""`
	Exclude         string         `placeholder:"REGEX" help:"Do not visit URLs that match." group:"scope" expert:""`
	TLD             []string       `name:"tld" placeholder:"TLDS" help:"Visit only these top-level domains, by comma." group:"scope" expert:""`

	Lang       []string `placeholder:"LANGS" help:"Keep only pages in these languages, as en,de, and those of a language that cannot be told." group:"what"`
	CIDR       string   `name:"cidr" placeholder:"FILE" help:"Crawl only hosts whose address lies in these nets: 192.0.2.0/24 or 2001:db8::/32 a line, # comments. Not through a proxy." group:"scope" expert:""`
	DropParams string   `placeholder:"FILE|none" help:"Parameters that URLs lose, beside the built-in list of sessions and campaigns: a name a line, * for any characters, !NAME keeps one, # comments; none drops none. For the whole crawl." group:"scope" expert:"" complete:"files,none"`
	Dropped    []string `kong:"-"` // what --drop-params came to

	Traps string `enum:",cut,follow" default:"" placeholder:"WHAT" help:"What to do with calendars, sessions in URLs, farms of hosts and other spaces without end: cut, or follow, which a resumed crawl also does with those cut before [cut]." group:"scope" expert:""`

	NearDuplicates string `enum:",drop,keep" default:"" placeholder:"WHAT" help:"What to do with pages whose content is nearly that of a stored one, as printer versions and mirrors: drop, their links are followed all the same, or keep, which a resumed crawl also does with those dropped before [drop]." group:"scope" expert:""`

	Sitemaps    *bool `negatable:"" help:"Read the sitemaps that a host's robots.txt names, before and between its pages." group:"manners" expert:""`
	SitemapURLs int   `name:"sitemap-urls" placeholder:"N" help:"URLs that the sitemaps of one host may add [10000]." group:"manners" expert:""`

	Workers   int           `placeholder:"N" help:"Exchanges at a time, never two with one host [32]." group:"manners" expert:""`
	Delay     string        `type:"delay" placeholder:"D" help:"Rest of a host after each fetch: auto, or a time; 0 for your own servers [auto]." group:"run" complete:"auto,0"`
	Timeout   time.Duration `placeholder:"D" help:"Longest exchange [60s]." group:"manners" expert:""`
	Proxy     string        `placeholder:"URL" help:"Send all requests through a proxy: http, https, socks5 or socks5h://[USER:PASSWORD@]HOST:PORT; a password is not kept in the store." group:"net" expert:""`
	Hosts     string        `placeholder:"FILE" help:"Addresses of names: name TAB ip[:port] a line." group:"net" expert:""`
	Cookies   *bool         `negatable:"" help:"Keep cookies, a jar a site, in memory for this session; without, none are kept or sent. A resumed crawl does as before unless told otherwise." group:"manners" expert:""`
	CA        string        `name:"ca" placeholder:"FILE" help:"Further certificate authorities (PEM), as fossick serve prints." group:"net" expert:""`
	AllowNet  []string      `placeholder:"CIDRS" help:"Nets that the guard would refuse, such as 127.0.0.0/8." group:"net" expert:""`
	UserAgent string        `placeholder:"NAME" help:"Name/version sent to servers and looked for in robots.txt [fossick/VERSION]." group:"manners" expert:""`
	Listen    string        `placeholder:"ADDR" help:"Show the running crawl at http://ADDR/status (JSON) and /metrics (Prometheus); :PORT is loopback. Ask by address, by localhost or by the name in ADDR." group:"net" expert:""`
	Contact   string        `type:"contact" placeholder:"MAIL|URL" help:"How a site's owner can reach you." group:"run"`
}

// settingsOf returns the settings that a store's crawl began with, none in a store without.
func settingsOf(s *store.Store) (saved crawlSettings, err error) {
	if text := s.Info().Settings; len(text) > 0 {
		if err := json.Unmarshal(text, &saved); err != nil {
			return saved, fmt.Errorf("%s: settings: %w", s.Dir(), err)
		}
	}
	return saved, nil
}

// isOn says whether a switch is on; one that was not given is off.
func isOn(given *bool) bool { return given != nil && *given }

// options turns the flags into the crawler's options; the plan adds the rest.
func (s *crawlSettings) options(score string) (crawler.Options, error) {
	opt := crawler.Options{
		MaxPages: s.MaxPages, MaxTime: s.MaxTime, MaxPerHost: s.MaxPagesPerHost, MaxPerSite: s.MaxPagesPerSite,
		Workers: s.Workers, Agent: productToken(s.userAgentName()),
		FollowTraps: s.Traps == "follow", Sitemaps: isOn(s.Sitemaps), MaxSitemapURLs: s.SitemapURLs,
		KeepNear: s.NearDuplicates == "keep", URLs: page.NewNormalizer(s.Dropped),
	}
	if opt.MaxPages == 0 {
		opt.MaxPages = 1000
	}
	opt.MaxWait = maxWait(s.MaxWait)
	var err error
	if opt.Scope, err = s.scope(); err != nil {
		return opt, err
	}
	if opt.MinHarvest, err = s.minHarvest(); err != nil {
		return opt, err
	}
	if opt.Delay, err = parseDelay(s.Delay); err != nil {
		return opt, err
	}
	order := s.Order
	if order == "" {
		order = "relevance"
	}
	if opt.Ordering, err = orders.OrderingByName(order); err != nil {
		return opt, usagef("--order: %w", err)
	}
	if s.Alike {
		var tells bool
		if opt.Ordering, tells = orders.CountAlike(opt.Ordering); !tells {
			return opt, usagef("--alike: --order %s counts all links alike anyhow; take the flag away, or choose mcs, mns, lexbfs or lexdfs", order)
		}
	}
	if order != "relevance" {
		if s.Threshold != nil {
			return opt, usagef("--threshold drops links in the order of relevance only; --order %s drops none", order)
		}
		return opt, nil
	}
	switch {
	case s.Threshold != nil:
		opt.Threshold = *s.Threshold
	default:
		p, err := policy.Named(score)
		if err != nil {
			return opt, err
		}
		opt.Threshold = p.Threshold()
	}
	return opt, nil
}

// byPolicy says whether the policy of --score orders the crawl, as it does unless
// --order takes over.
func (s *crawlSettings) byPolicy() bool { return s.Order == "" || s.Order == "relevance" }

func parseDelay(text string) (crawler.Delay, error) {
	if text == "" || text == "auto" {
		return crawler.Delay{}, nil
	}
	d, err := values.Duration(text)
	if err != nil {
		return crawler.Delay{}, usagef("%q: want auto, 0, or a time such as 500ms, 2s or 1m", text)
	}
	return crawler.Delay{Fixed: true, Rest: d}, nil
}

func (s *crawlSettings) userAgentName() string {
	if s.UserAgent != "" {
		return s.UserAgent
	}
	return "fossick/" + version
}

// productToken is what robots.txt calls a user agent: its name without version.
func productToken(userAgent string) string {
	token, _, _ := strings.Cut(userAgent, "/")
	token, _, _ = strings.Cut(token, " ")
	return token
}

// fetchOptions turns the flags into the fetcher's options.
func (s *crawlSettings) fetchOptions(a *app) (fetch.Options, error) {
	name, number, _ := strings.Cut(s.userAgentName(), "/")
	opt := fetch.Options{
		UserAgent: fetch.UserAgent(name, number, s.Contact), Timeout: s.Timeout, Logger: a.log, Cookies: isOn(s.Cookies),
		ConnsPerHost: 1,
	}
	var err error
	if s.Proxy != "" {
		if opt.Proxy, err = parseProxy(s.Proxy); err != nil {
			return opt, err
		}
	}
	for _, text := range s.AllowNet {
		net, err := netip.ParsePrefix(text)
		if err != nil {
			return opt, usagef("--allow-net %s: give nets as 127.0.0.0/8 or ::1/128", text)
		}
		opt.AllowNet = append(opt.AllowNet, net)
	}
	if s.Hosts != "" {
		file, err := lists.Open(s.Hosts)
		if err != nil {
			return opt, fmt.Errorf("--hosts: %w", err)
		}
		defer file.Close()
		if opt.Hosts, err = fetch.ParseHosts(file, s.Hosts); err != nil {
			return opt, err
		}
	}
	if opt.Only, err = s.nets(); err != nil {
		return opt, err
	}
	if s.CA != "" {
		file, err := reading.OpenNamed(s.CA)
		if err != nil {
			return opt, fmt.Errorf("--ca: %w", err)
		}
		defer file.Close()
		if opt.RootCAs, err = fetch.ReadCAs(io.LimitReader(file, maxCABytes), s.CA); err != nil {
			return opt, err
		}
	}
	return opt, nil
}

// maxCABytes bounds a file of --ca; the system's own authorities have a quarter of a MiB.
const maxCABytes = 16 << 20

// storedModel is where a store keeps the model of its crawl.
func storedModel(dir string) string { return filepath.Join(dir, "model.fossick") }

// safeName makes a file name of a topic's name.
func safeName(topic string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>| `, r) {
			return '-'
		}
		return r
	}, filepath.Base(topic)), "-.")
}

// maxWait turns --max-wait into the crawler's option: not given is its default,
// 0 no wait at all.
func maxWait(d *time.Duration) time.Duration {
	switch {
	case d == nil:
		return 0
	case *d == 0:
		return -1
	}
	return *d
}
