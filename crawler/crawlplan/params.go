package crawlplan

import (
	"slices"
	"strings"

	"fossick/datasets"
	"fossick/internal/page"
	"fossick/internal/usage"
)

// dropped says which parameters URLs lose.
func (s *scope) dropped() string {
	switch {
	case s.Dropped == nil:
		return "the built-in list"
	case len(s.Dropped) == 0:
		return "none"
	}
	return strings.Join(s.Dropped, ", ")
}

// readDropParams sets Dropped to what URLs lose: a resumed crawl's own list, else what
// --drop-params says. A URL must have one form through all of a crawl.
func (s *scope) readDropParams() error {
	list, err := dropList(s.DropParams)
	if err != nil {
		return err
	}
	switch {
	case s.Dropped == nil:
		s.Dropped = list
	case s.DropParams != "" && !slices.Equal(list, s.Dropped): // resumed
		return usage.Errorf("--also parameters: the crawl in the store began with another list of parameters, which shaped the URLs in it; leave the word out, or start a new store")
	}
	return nil
}

// dropList returns the list that --drop-params names: the built-in one, and behind
// it the lines of the file.
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
			return nil, usage.Errorf("--drop-params: %w; give a file with a name a line, or none", err)
		}
		entry, _, _ := strings.Cut(line.Text, "#")
		entry = strings.TrimSpace(entry)
		if err := page.CheckDrop(entry); err != nil {
			return nil, usage.Errorf("--drop-params: %s:%d: %w", source, line.N, err)
		}
		list = append(list, entry)
	}
	return list, nil
}
