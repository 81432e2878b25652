package main

import (
	"regexp"
	"strings"

	"golang.org/x/text/language"

	"fossick/crawler"
	"fossick/fetch"
	"fossick/internal/lists"
	"fossick/internal/usage"
	"fossick/page"
)

// scope turns the flags that say what a crawl keeps to into the crawler's scope.
func (s *crawlSettings) scope() (crawler.Scope, error) {
	scope := crawler.Scope{Links: crawler.LinkPolicy(s.Links), MaxDepth: s.MaxDepth}
	for _, tld := range s.TLD {
		scope.TLD = append(scope.TLD, strings.ToLower(strings.TrimPrefix(tld, ".")))
	}
	var err error
	if scope.Langs, err = languageCodes(s.Lang); err != nil {
		return scope, err
	}
	if scope.Include, err = pattern("--include", s.Include); err != nil {
		return scope, err
	}
	scope.Exclude, err = pattern("--exclude", s.Exclude)
	return scope, err
}

func pattern(flag, text string) (*regexp.Regexp, error) {
	if text == "" {
		return nil, nil
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, usagef("%s: %w; it takes a regular expression in Go's syntax", flag, err)
	}
	return re, nil
}

// languageCodes turns --lang into ISO 639-1 codes.
func languageCodes(tags []string) ([]string, error) {
	var codes []string
	for _, tag := range tags {
		code := page.LangCode(tag)
		if _, err := language.ParseBase(code); code == "" || err != nil {
			return nil, usagef("--lang %s: no such language; give ISO 639-1 codes by comma, as en,de", tag)
		}
		codes = append(codes, code)
	}
	return codes, nil
}

// minHarvest reads --min-harvest; 0 is no limit.
func (s *crawlSettings) minHarvest() (float64, error) {
	if s.MinHarvest == nil {
		return 0, nil
	}
	if !(*s.MinHarvest >= 0 && *s.MinHarvest <= 1) {
		return 0, usagef("--min-harvest %g: give a share from 0 to 1, such as 0.05", *s.MinHarvest)
	}
	return *s.MinHarvest, nil
}

// nets reads the file of --cidr, nil without one.
func (s *crawlSettings) nets() (*fetch.Nets, error) {
	if s.CIDR == "" {
		return nil, nil
	}
	if s.Proxy != "" {
		return nil, usagef("--cidr goes by the addresses of hosts, and with --proxy only the proxy knows them; leave one of the two out")
	}
	file, err := lists.Open(s.CIDR)
	if err != nil {
		return nil, usagef("--cidr: %w; give a file with a net a line, as 192.0.2.0/24", err)
	}
	defer file.Close()
	nets, err := fetch.ParseNets(file, s.CIDR)
	if err != nil {
		return nil, usage.Of(err)
	}
	return nets, nil
}
