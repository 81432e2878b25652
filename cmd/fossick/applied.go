package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"fossick/internal/terminal"
	"fossick/policy"
)

// defaultSettings are what holds where a flag of a crawl is not given, by its name.
// What is not among them has no default: without the flag it does not apply.
var defaultSettings = map[string]string{
	"links": "all", "order": "relevance", "max-pages": "1000", "max-wait": "15m", "traps": "cut",
	"near-duplicates": "drop", "sitemaps": "no", "workers": "32", "delay": "auto", "timeout": "1m", "cookies": "no",
	"seed": "the topic's", "min-harvest": "0", "drop-params": "the built-in list",
}

// toldAnyhow are the settings that other settings tell already.
var toldAnyhow = []string{"dropped", "seeds"}

// applied returns the settings that held in a crawl, given or by default, by the names
// of the flags.
func (s *crawlSettings) applied() map[string]string {
	facts := map[string]string{}
	for _, f := range s.all() {
		text := cmp.Or(f.text(), defaultSettings[f.name])
		if text != "" && !slices.Contains(toldAnyhow, f.name) {
			facts[f.name] = text
		}
	}
	switch {
	case len(s.Dropped) > 0:
		facts["drop-params"] = strings.Join(s.Dropped, ", ")
	case s.Dropped != nil:
		facts["drop-params"] = "none"
	}
	if s.Score == "paper" || s.Score == "paper-mean" {
		setDefault(facts, "rho", "0.3")
		if s.byPolicy() {
			setDefault(facts, "threshold", fmt.Sprint(policy.DefaultThreshold))
		}
	}
	if s.Score == "learned" {
		setDefault(facts, "explore", fmt.Sprint(policy.DefaultExplore))
	}
	return facts
}

func setDefault(facts map[string]string, name, value string) {
	if facts[name] == "" {
		facts[name] = value
	}
}

// setting is a field of crawlSettings.
type setting struct {
	name string // of its flag
	at   any    // its address
}

// all lists the settings.
func (s *crawlSettings) all() []setting {
	return []setting{
		{"seed", &s.Seed},
		{"seeds", &s.Seeds},
		{"keywords", &s.Keywords},
		{"model", &s.Model},
		{"score", &s.Score},
		{"rho", &s.Rho},
		{"explore", &s.Explore},
		{"threshold", &s.Threshold},
		{"links", &s.Links},
		{"order", &s.Order},
		{"alike", &s.Alike},
		{"max-pages", &s.MaxPages},
		{"max-time", &s.MaxTime},
		{"min-harvest", &s.MinHarvest},
		{"max-wait", &s.MaxWait},
		{"max-depth", &s.MaxDepth},
		{"max-pages-per-host", &s.MaxPagesPerHost},
		{"max-pages-per-site", &s.MaxPagesPerSite},
		{"include", &s.Include},
		{"exclude", &s.Exclude},
		{"tld", &s.TLD},
		{"lang", &s.Lang},
		{"cidr", &s.CIDR},
		{"drop-params", &s.DropParams},
		{"dropped", &s.Dropped},
		{"traps", &s.Traps},
		{"near-duplicates", &s.NearDuplicates},
		{"sitemaps", &s.Sitemaps},
		{"sitemap-urls", &s.SitemapURLs},
		{"workers", &s.Workers},
		{"delay", &s.Delay},
		{"timeout", &s.Timeout},
		{"proxy", &s.Proxy},
		{"hosts", &s.Hosts},
		{"cookies", &s.Cookies},
		{"ca", &s.CA},
		{"allow-net", &s.AllowNet},
		{"user-agent", &s.UserAgent},
		{"listen", &s.Listen},
		{"contact", &s.Contact},
	}
}

// inherit takes over from saved what s leaves open.
func (s *crawlSettings) inherit(saved *crawlSettings) {
	old := saved.all()
	for i, f := range s.all() {
		switch own := f.at.(type) {
		case *[]string:
			if *own == nil {
				*own = *old[i].at.(*[]string)
			}
		case *string:
			inherit(own, old[i])
		case *bool:
			inherit(own, old[i])
		case *int:
			inherit(own, old[i])
		case *uint64:
			inherit(own, old[i])
		case *time.Duration:
			inherit(own, old[i])
		case **bool:
			inherit(own, old[i])
		case **float64:
			inherit(own, old[i])
		case **time.Duration:
			inherit(own, old[i])
		}
	}
}

func inherit[T comparable](own *T, old setting) { *own = cmp.Or(*own, *old.at.(*T)) }

// text prints a setting; "" for one that was not given.
func (f setting) text() string {
	switch v := f.at.(type) {
	case *[]string:
		return strings.Join(*v, ", ")
	case *string:
		return *v
	case *bool:
		return given(v, *v, yesNo)
	case *int:
		return given(v, *v != 0, strconv.Itoa)
	case *uint64:
		return given(v, *v != 0, func(n uint64) string { return strconv.FormatUint(n, 10) })
	case *time.Duration:
		return given(v, *v != 0, terminal.Brief)
	case **bool:
		return given(*v, *v != nil, yesNo)
	case **float64:
		return given(*v, *v != nil, func(x float64) string { return fmt.Sprint(x) })
	case **time.Duration:
		return given(*v, *v != nil, terminal.Brief)
	}
	return ""
}

func given[T any](v *T, is bool, text func(T) string) string {
	if !is {
		return ""
	}
	return text(*v)
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
