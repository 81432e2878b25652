package plan

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
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

// each calls do for every setting, in the order of help, with its value in s and in other.
func (s *Settings) each(other *Settings, do func(f reflect.StructField, own, others reflect.Value)) {
	own, others := reflect.ValueOf(s).Elem(), reflect.ValueOf(other).Elem()
	for _, f := range reflect.VisibleFields(own.Type()) {
		if !f.Anonymous {
			do(f, own.FieldByIndex(f.Index), others.FieldByIndex(f.Index))
		}
	}
}

// inherit copies from saved the settings that s leaves open.
func (s *Settings) inherit(saved *Settings) {
	s.each(saved, func(_ reflect.StructField, own, saved reflect.Value) {
		if own.IsZero() {
			own.Set(saved)
		}
	})
}

// Applied returns the settings in force, given or by default, by the names of the flags. A
// field's default is in its tag "without", where no other setting decides it.
func (s *Settings) Applied() map[string]string {
	facts := map[string]string{}
	s.each(s, func(f reflect.StructField, value, _ reflect.Value) {
		text := f.Tag.Get("without")
		if !value.IsZero() {
			text = cmp.Or(settingText(value), text)
		}
		if text != "" {
			facts[flagName(f)] = text
		}
	})
	delete(facts, "seeds") // the store keeps the pages, not the file
	delete(facts, "dropped")
	if s.MaxPages == NoLimit {
		facts["max-pages"] = "none"
	}
	facts["drop-params"] = s.dropped()
	if p, err := Named(s.Score); err == nil && p.ByDegree() { // "" for a crawl that was never planned
		if s.Rho == nil {
			facts["rho"] = fmt.Sprint(DefaultRho)
		}
		if s.Threshold == nil && s.byPolicy() {
			facts["threshold"] = fmt.Sprint(DefaultThreshold)
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

// settingText returns a given setting as reports show it.
func settingText(value reflect.Value) string {
	switch v := reflect.Indirect(value).Interface().(type) {
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case []string:
		return strings.Join(v, ", ")
	case time.Duration:
		return cli.Brief(v)
	default:
		return fmt.Sprint(v)
	}
}

var capital = regexp.MustCompile(`(.)([A-Z])`)

// flagName returns a field's name on the command line, as Kong makes it.
func flagName(f reflect.StructField) string {
	if name := f.Tag.Get("name"); name != "" {
		return name
	}
	return strings.ToLower(capital.ReplaceAllString(f.Name, "$1-$2"))
}

// Goal is the aim of a crawl, and its start.
type Goal struct {
	Seed     []string `without:"the topic's" placeholder:"URL" sep:"none" help:"Start page; may be repeated." group:"what"`
	Seeds    string   `placeholder:"FILE" help:"File of start pages, one a line, # comments." group:"what"`
	Keywords []string `placeholder:"WORDS" help:"Words and phrases of the topic, by comma [its own]." group:"what"`
	Model    string   `placeholder:"M" help:"Model that labels the pages, a file or a topic's name [its own]." group:"what" predictor:"models"`
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
	MaxPages   uint64        `without:"1000" placeholder:"N" help:"Pages to store, over all resumptions [1000]." group:"run"`
	MaxTime    time.Duration `placeholder:"D" help:"Stop this session after this time, as 90s, 2h or 1d." group:"run"`
	Patience   string        `without:"auto" placeholder:"X" help:"How many times as long the crawl may take for better pages, if many hosts have good links; none never waits, auto waits only if --max-pages is the limit [auto]." group:"run" expert:"" predictor:"auto,none"`
	MinHarvest *float64      `without:"0" placeholder:"X" help:"Stop when the last 200 to 1,000 pages show that less than this share of the next pages will be on topic; X in (0,1], 0 never stops [0]." group:"run" expert:""`
}

const defaultPages = 1000

// NoLimit is Budget.MaxPages after a person has taken the limit away.
const NoLimit = math.MaxUint64

// pages returns the limit as the crawler takes it, 0 for none; without is the one where none is given.
func (b *Budget) pages(without uint64) uint64 {
	if b.MaxPages == NoLimit {
		return 0
	}
	return cmp.Or(b.MaxPages, without)
}

func (b *Budget) apply(opt *crawler.Options) error {
	opt.MaxPages, opt.MaxTime = b.pages(defaultPages), b.MaxTime
	var err error
	if opt.Patience, err = parsePatience(b.Patience); err != nil {
		return err
	}
	if opt.Patience == 0 && b.MaxPages == 0 && b.MaxTime > 0 {
		opt.Patience = 1 // the user does not pay with the default limit of pages
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
	Links             string   `without:"all" enum:",all,external,site,host" default:"" placeholder:"WHICH" help:"Which links to follow: all, external (to other hosts), site, host (within either) [all]." group:"scope" expert:""`
	MaxDepth          int      `placeholder:"N" help:"Largest distance from a start page, in links." group:"scope" expert:""`
	MaxPagesPerHost   uint64   `placeholder:"N" help:"Most pages of one host." group:"scope" expert:""`
	MaxPagesPerSite   uint64   `placeholder:"N" help:"Most pages of one site." group:"scope" expert:""`
	Include           string   `placeholder:"REGEX" help:"Visit only URLs that match." group:"scope" expert:""`
	Exclude           string   `placeholder:"REGEX" help:"Do not visit URLs that match." group:"scope" expert:""`
	TLD               []string `name:"tld" placeholder:"TLDS" help:"Visit only these top-level domains, by comma." group:"scope" expert:""`
	Lang              []string `placeholder:"LANGS" help:"Keep only pages in these languages, as en,de, and those of a language that cannot be told." group:"what"`
	CIDR              string   `name:"cidr" placeholder:"FILE" help:"File of networks, 192.0.2.0/24 or 2001:db8::/32 a line, # comments: crawl only hosts with an address in them. Not through a proxy." group:"scope" expert:""`
	OneSitePerAddress *bool    `negatable:"" help:"Of several sites at one address crawl the first one found, and drop the others. They are often one site under several names, but not with shared hosting or a content network. Not through a proxy." group:"scope" expert:""`
	Dropped           []string `kong:"-"` // parameters to remove from URLs; nil: the built-in list
	Parties           bool     `kong:"-"` // the crawl is a survey
	Traps             string   `kong:"-" without:"cut"`
	NearDuplicates    string   `kong:"-" without:"drop"`
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

// taken are the words of --also.
var taken = []string{"sitemaps", "cookies", "traps", "near-duplicates", "parameters", "none"}

// readAlso sets what --also takes in. Given once, it decides about all of its words.
func (c *Crawl) readAlso() error {
	if c.Also == nil {
		return nil
	}
	has := func(what string) bool { return slices.Contains(c.Also, what) }
	for _, word := range c.Also {
		if !slices.Contains(taken, word) {
			return cli.Usagef("--also %s: want one or more of %s, by comma", word, strings.Join(taken, ", "))
		}
	}
	if has("none") && len(c.Also) > 1 {
		return cli.Usagef("--also none takes in none of the others; leave one or the other out")
	}
	sitemaps, cookies := has("sitemaps"), has("cookies")
	c.Sitemaps, c.Cookies = &sitemaps, &cookies
	c.Traps, c.NearDuplicates = "cut", "drop"
	if has("traps") {
		c.Traps = "follow"
	}
	if has("near-duplicates") {
		c.NearDuplicates = "keep"
	}
	if has("parameters") {
		c.Dropped = []string{} // not nil, which is the built-in list
	}
	return nil
}
