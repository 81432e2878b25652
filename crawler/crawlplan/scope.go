package crawlplan

import (
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/text/language"

	"fossick/crawler"
	"fossick/crawler/fetch"
	"fossick/datasets"
	"fossick/internal/page"
	"fossick/internal/printable"
	"fossick/internal/usage"
)

// scope is what a crawl keeps to.
type scope struct {
	Links             string   `enum:",all,external,site,host" default:"" placeholder:"WHICH" help:"Which links to follow: all, external (to other hosts), site, host (within either) [all]." group:"scope" expert:""`
	MaxDepth          int      `placeholder:"N" help:"Largest distance from a start page, in links." group:"scope" expert:""`
	MaxPagesPerHost   uint64   `placeholder:"N" help:"Most pages of one host." group:"scope" expert:""`
	MaxPagesPerSite   uint64   `placeholder:"N" help:"Most pages of one site." group:"scope" expert:""`
	Include           string   `placeholder:"REGEX" help:"Visit only URLs that match." group:"scope" expert:""`
	Exclude           string   `placeholder:"REGEX" help:"Do not visit URLs that match." group:"scope" expert:""`
	TLD               []string `name:"tld" placeholder:"TLDS" help:"Visit only these top-level domains, by comma." group:"scope" expert:""`
	Lang              []string `placeholder:"LANGS" help:"Keep only pages in these languages, as en,de, and those of a language that cannot be told." group:"what"`
	CIDR              string   `name:"cidr" placeholder:"FILE" help:"File of networks, 192.0.2.0/24 or 2001:db8::/32 a line, # comments: crawl only hosts with an address in them. Not through a proxy." group:"scope" expert:""`
	OneSitePerAddress *bool    `negatable:"" help:"Of several sites at one address crawl the first one found, and drop the others. They are often one site under several names, but not with shared hosting or a content network. Not through a proxy." group:"scope" expert:""`
	DropParams        string   `kong:"-"`
	Dropped           []string `kong:"-"` // what --drop-params came to
	Parties           bool     `kong:"-"` // it goes party by party: it is a survey
	Traps             string   `kong:"-"`
	NearDuplicates    string   `kong:"-"`
}

func (s *scope) settings(saved *scope) []setting {
	return []setting{
		of("links", "all", &s.Links, &saved.Links, itself),
		of("max-depth", "", &s.MaxDepth, &saved.MaxDepth, strconv.Itoa),
		of("max-pages-per-host", "", &s.MaxPagesPerHost, &saved.MaxPagesPerHost, decimal),
		of("max-pages-per-site", "", &s.MaxPagesPerSite, &saved.MaxPagesPerSite, decimal),
		of("include", "", &s.Include, &saved.Include, itself),
		of("exclude", "", &s.Exclude, &saved.Exclude, itself),
		listOf("tld", &s.TLD, &saved.TLD),
		listOf("lang", &s.Lang, &saved.Lang),
		of("cidr", "", &s.CIDR, &saved.CIDR, itself),
		of("one-site-per-address", "", &s.OneSitePerAddress, &saved.OneSitePerAddress, pointed(yesNo)),
		of("drop-params", s.dropped(), &s.DropParams, &saved.DropParams, func(string) string { return s.dropped() }),
		listOf("", &s.Dropped, &saved.Dropped),
		of("parties", "", &s.Parties, &saved.Parties, yesNo),
		of("traps", "cut", &s.Traps, &saved.Traps, itself),
		of("near-duplicates", "drop", &s.NearDuplicates, &saved.NearDuplicates, itself),
	}
}

func (s *scope) check() error {
	if s.MaxDepth < 0 {
		return usage.Errorf("--max-depth %d: give a number of links, 1 or more", s.MaxDepth)
	}
	for _, tld := range s.TLD {
		if name := strings.TrimPrefix(tld, "."); name == "" || strings.ContainsAny(name, "/: \t") {
			return usage.Errorf("--tld %q: give top-level domains by comma, as org,de", tld)
		}
	}
	return nil
}

// apply sets what the crawl keeps to, but for nets, which the fetcher heeds.
func (s *scope) apply(opt *crawler.Options) (err error) {
	opt.URLs = page.NewNormalizer(s.Dropped)
	opt.MaxPerHost, opt.MaxPerSite = s.MaxPagesPerHost, s.MaxPagesPerSite
	opt.OneSitePerAddress = isOn(s.OneSitePerAddress)
	opt.FollowTraps, opt.KeepNear = s.Traps == "follow", s.NearDuplicates == "keep"
	opt.Scope = crawler.Scope{Links: crawler.LinkPolicy(s.Links), MaxDepth: s.MaxDepth}
	for _, tld := range s.TLD {
		opt.Scope.TLD = append(opt.Scope.TLD, strings.ToLower(strings.TrimPrefix(tld, ".")))
	}
	for _, tag := range s.Lang {
		code := page.LangCode(tag)
		if _, err := language.ParseBase(code); code == "" || err != nil {
			return usage.Errorf("--lang %s: no such language; give ISO 639-1 codes by comma, as en,de", tag)
		}
		opt.Scope.Langs = append(opt.Scope.Langs, code)
	}
	if opt.Scope.Include, err = pattern("--include", s.Include); err != nil {
		return err
	}
	opt.Scope.Exclude, err = pattern("--exclude", s.Exclude)
	return err
}

func pattern(flag, text string) (*regexp.Regexp, error) {
	if text == "" {
		return nil, nil
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, usage.Errorf("%s: %w; give a regular expression in Go's syntax", flag, err)
	}
	return re, nil
}

// nets reads the file of --cidr, nil without one.
func (s *scope) nets(byProxy bool) (*fetch.Nets, error) {
	if byProxy && isOn(s.OneSitePerAddress) {
		return nil, usage.Errorf("--one-site-per-address needs the addresses of hosts, which only the proxy knows with --proxy; leave one of the two out")
	}
	if s.CIDR == "" {
		return nil, nil
	}
	if byProxy {
		return nil, usage.Errorf("--cidr needs the addresses of hosts, which only the proxy knows with --proxy; leave one of the two out")
	}
	file, err := datasets.OpenList(s.CIDR)
	if err != nil {
		return nil, usage.Errorf("--cidr: %w; give a file with one network a line, as 192.0.2.0/24", err)
	}
	defer file.Close() // opened for reading: nothing can be lost
	nets, err := fetch.ParseNets(file, s.CIDR)
	return nets, usage.Of(err)
}

// seedsInScope refuses start pages that the crawl's own scope keeps out.
func seedsInScope(opt *crawler.Options) error {
	for _, seed := range opt.Seeds {
		if why := opt.Scope.Excludes(seed); why != "" {
			return usage.Errorf("start page %s: %s; change the flag, or give another start page", printable.Cut(seed, 200), why)
		}
	}
	return nil
}
