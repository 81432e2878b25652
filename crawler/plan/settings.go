package plan

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"fossick/crawler"
	"fossick/crawler/fetch"
	"fossick/datasets"
	"fossick/internal/cli"
	"fossick/internal/page"
	"fossick/models"
	"fossick/train/topics"

	"golang.org/x/text/language"
)

// Settings are a crawl's flags, in the groups and the order of help. A zero value means "not
// given": a resumed crawl then uses its store's value, and a new one the default.
type Settings struct {
	Goal
	Network
	Scoring
	Budget
	scope
	Manners
}

// A setting is one flag of two crawls: the new one and the one that it resumes.
type setting struct {
	name    string // of the flag; "" where another setting reports it
	without string // the default's text; "" when it does not apply
	text    string // as given; "" when it was not
	inherit func() // takes the saved value when the new one is open
}

// of makes a setting of a value whose zero means "not given".
func of[T comparable](name, without string, own, saved *T, text func(T) string) setting {
	s := setting{name: name, without: without, inherit: func() { *own = cmp.Or(*own, *saved) }}
	if *own != *new(T) {
		s.text = text(*own)
	}
	return s
}

// listOf makes a setting of a list whose nil means "not given".
func listOf(name string, own, saved *[]string) setting {
	return setting{name: name, text: strings.Join(*own, ", "), inherit: func() {
		if *own == nil {
			*own = *saved
		}
	}}
}

func (s *Settings) all(saved *Settings) (all []setting) {
	for _, kind := range [][]setting{
		s.Goal.settings(&saved.Goal), s.Network.settings(&saved.Network), s.Scoring.settings(&saved.Scoring),
		s.Budget.settings(&saved.Budget), s.scope.settings(&saved.scope), s.Manners.settings(&saved.Manners),
	} {
		all = append(all, kind...)
	}
	return all
}

// inherit copies from saved the settings that s leaves open.
func (s *Settings) inherit(saved *Settings) {
	for _, one := range s.all(saved) {
		one.inherit()
	}
}

// Applied returns the settings in force, given or by default, by the names of the flags.
func (s *Settings) Applied() map[string]string {
	facts := map[string]string{}
	for _, one := range s.all(s) {
		if text := cmp.Or(one.text, one.without); text != "" && one.name != "" {
			facts[one.name] = text
		}
	}
	if s.Parties {
		facts["order"] = surveyOrder
		delete(facts, "patience")
		if s.MaxPages == 0 {
			delete(facts, "max-pages")
		}
	}
	return facts
}

// Texts of values of several kinds.

func itself(text string) string { return text }

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func pointed[T any](text func(T) string) func(*T) string {
	return func(v *T) string { return text(*v) }
}

// Goal is the aim of a crawl, and its start.
type Goal struct {
	Seed     []string `placeholder:"URL" sep:"none" help:"Start page; may be repeated." group:"what"`
	Seeds    string   `placeholder:"FILE" help:"File of start pages, one a line, # comments." group:"what"`
	Keywords []string `placeholder:"WORDS" help:"Words and phrases of the topic, by comma [its own]." group:"what"`
	Model    string   `placeholder:"M" help:"Model that labels the pages, a file or a topic's name [its own]." group:"what" predictor:"models"`
}

func (g *Goal) settings(saved *Goal) []setting {
	seed, seeds := listOf("seed", &g.Seed, &saved.Seed), of("", "", &g.Seeds, &saved.Seeds, itself)
	seed.without = "the topic's"
	return []setting{seed, seeds, listOf("keywords", &g.Keywords, &saved.Keywords), of("model", "", &g.Model, &saved.Model, itself)}
}

// Find returns the named topic with the given model and keywords.
func (g *Goal) Find(name string) (*models.Topic, error) {
	t, err := topics.Find(name)
	if errors.Is(err, models.ErrNoTopic) {
		if g.Model == "" && len(g.Keywords) == 0 {
			return nil, cli.Usagef("%w; or give --model or --keywords", err)
		}
		t, err = &models.Topic{Name: name}, nil
	}
	if err != nil {
		return nil, err
	}
	if g.Model != "" {
		if t.Model, err = topics.Model(g.Model); err != nil {
			return nil, err
		}
		t.Keywords = nil // they belong to the topic's own model
	}
	if t.Model != nil && !slices.Contains(t.Model.Classes, t.Name) {
		return nil, cli.Usagef("--topic %s: the model has no such label; it knows %s", t.Name, cli.SomeNames(t.Name, t.Model.Classes))
	}
	if len(g.Keywords) > 0 {
		t.Keywords = g.Keywords
	}
	if len(t.Keywords) == 0 && t.Model != nil {
		t.Keywords = t.Model.Keywords[t.Name]
	}
	return t, nil
}

// startsAt returns the named start pages, else the topic's, and the file of further ones.
func (g *Goal) startsAt(t *models.Topic) (named []string, file string) {
	if len(g.Seed) == 0 && g.Seeds == "" {
		return t.Seeds, ""
	}
	return g.Seed, g.Seeds
}

// Budget sets the end of a crawl.
type Budget struct {
	MaxPages   uint64         `placeholder:"N" help:"Pages to store, over all resumptions [1000]." group:"run"`
	MaxTime    time.Duration  `placeholder:"D" help:"Stop this session after this time, as 90s, 2h or 1d." group:"run"`
	Patience   string         `placeholder:"X" help:"How many times as long the crawl may take for better pages, if many hosts have good links; none never waits, auto waits only if --max-pages is the limit [auto]." group:"run" expert:"" predictor:"auto,none"`
	MinHarvest *float64       `placeholder:"X" help:"Stop when the last 200 to 1,000 pages show that less than this share of the next pages will be on topic; X in (0,1], 0 never stops [0]." group:"run" expert:""`
	MaxWait    *time.Duration `kong:"-"`
}

func (b *Budget) settings(saved *Budget) []setting {
	return []setting{
		of("max-pages", fmt.Sprint(defaultPages), &b.MaxPages, &saved.MaxPages, decimal),
		of("max-time", "", &b.MaxTime, &saved.MaxTime, cli.Brief),
		of("patience", "auto", &b.Patience, &saved.Patience, itself),
		of("min-harvest", "0", &b.MinHarvest, &saved.MinHarvest, pointed(func(x float64) string { return fmt.Sprint(x) })),
		of("max-wait", "15m", &b.MaxWait, &saved.MaxWait, pointed(cli.Brief)),
	}
}

const defaultPages = 1000

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }

func (b *Budget) apply(opt *crawler.Options) error {
	opt.MaxPages, opt.MaxTime = cmp.Or(b.MaxPages, defaultPages), b.MaxTime
	var err error
	if opt.Patience, err = parsePatience(b.Patience); err != nil {
		return err
	}
	if opt.Patience == 0 && b.MaxPages == 0 && b.MaxTime > 0 {
		opt.Patience = 1 // the user does not pay with the default limit of pages
	}
	if b.MaxWait != nil {
		opt.MaxWait = cmp.Or(*b.MaxWait, -1) // none; 0 is the crawler's default
	}
	if x := b.MinHarvest; x != nil {
		if !(*x >= 0 && *x <= 1) {
			return cli.Usagef("--min-harvest %g: give a share from 0 to 1, such as 0.05", *x)
		}
		opt.MinHarvest = *x
	}
	return nil
}

// scope limits a crawl to a part of the web.
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
	Dropped           []string `kong:"-"` // the content of --drop-params
	Parties           bool     `kong:"-"` // the crawl is a survey
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
		return cli.Usagef("--max-depth %d: give a number of links, 1 or more", s.MaxDepth)
	}
	for _, tld := range s.TLD {
		if name := strings.TrimPrefix(tld, "."); name == "" || strings.ContainsAny(name, "/: \t") {
			return cli.Usagef("--tld %q: give top-level domains by comma, as org,de", tld)
		}
	}
	return nil
}

// apply sets the limits, except nets, which the fetcher enforces.
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
			return cli.Usagef("--lang %s: no such language; give ISO 639-1 codes by comma, as en,de", tag)
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
		return nil, cli.Usagef("%s: %w; give a regular expression in Go's syntax", flag, err)
	}
	return re, nil
}

// nets reads the file of --cidr; nil without one.
func (s *scope) nets(byProxy bool) (*fetch.Nets, error) {
	if byProxy && isOn(s.OneSitePerAddress) {
		return nil, cli.Usagef("--one-site-per-address needs the addresses of hosts, which only the proxy knows with --proxy; leave one of the two out")
	}
	if s.CIDR == "" {
		return nil, nil
	}
	if byProxy {
		return nil, cli.Usagef("--cidr needs the addresses of hosts, which only the proxy knows with --proxy; leave one of the two out")
	}
	file, err := datasets.OpenList(s.CIDR)
	if err != nil {
		return nil, cli.Usagef("--cidr: %w; give a file with one network a line, as 192.0.2.0/24", err)
	}
	defer file.Close() // opened for reading: closing loses nothing
	nets, err := fetch.ParseNets(file, s.CIDR)
	return nets, cli.Usage(err)
}

// seedsInScope refuses start pages outside the crawl's own scope.
func seedsInScope(opt *crawler.Options) error {
	for _, seed := range opt.Seeds {
		if why := opt.Scope.Excludes(seed); why != "" {
			return cli.Usagef("start page %s: %s; change the flag, or give another start page", cli.Cut(seed, 200), why)
		}
	}
	return nil
}

// dropped lists the parameters removed from URLs.
func (s *scope) dropped() string {
	switch {
	case s.Dropped == nil:
		return "the built-in list"
	case len(s.Dropped) == 0:
		return "none"
	}
	return strings.Join(s.Dropped, ", ")
}

// readDropParams sets Dropped: a resumed crawl's list, else that of --drop-params. A URL must
// keep one form throughout a crawl.
func (s *scope) readDropParams() error {
	list, err := dropList(s.DropParams)
	if err != nil {
		return err
	}
	switch {
	case s.Dropped == nil:
		s.Dropped = list
	case s.DropParams != "" && !slices.Equal(list, s.Dropped): // resumed
		return cli.Usagef("--also parameters: the crawl in the store began with another list of parameters, which shaped the URLs in it; leave the word out, or start a new store")
	}
	return nil
}

// dropList returns the list that --drop-params names: the built-in one, then the lines of the
// file.
func dropList(source string) ([]string, error) {
	switch source {
	case "":
		return page.DefaultDrop(), nil
	case "none":
		return []string{}, nil // not nil: see readDropParams
	}
	list := page.DefaultDrop()
	for line, err := range datasets.ReadList(source) {
		if err != nil {
			return nil, cli.Usagef("--drop-params: %w; give a file with a name a line, or none", err)
		}
		entry, _, _ := strings.Cut(line.Text, "#")
		entry = strings.TrimSpace(entry)
		if err := page.CheckDrop(entry); err != nil {
			return nil, cli.Usagef("--drop-params: %s:%d: %w", source, line.N, err)
		}
		list = append(list, entry)
	}
	return list, nil
}
