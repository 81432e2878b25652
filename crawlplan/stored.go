package crawlplan

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"fossick/internal/reading"
	"fossick/internal/usage"
	"fossick/page"
	"fossick/seeds"
	"fossick/store"
)

// ModelFile is where a store keeps the model of its crawl.
func ModelFile(dir string) string { return filepath.Join(dir, "model.fossick") }

// Stored returns the settings that a store's crawl began with, none in a store without.
func Stored(s *store.Store) (saved *Settings, err error) {
	saved = &Settings{}
	if text := s.Info().Settings; len(text) > 0 {
		if err := json.Unmarshal(text, saved); err != nil {
			return nil, fmt.Errorf("%s: settings: %w", s.Dir(), err)
		}
	}
	return saved, nil
}

// URLs returns the normal form that a store's crawl knows its URLs by.
func URLs(s *store.Store) (*page.Normalizer, error) {
	saved, err := Stored(s)
	if err != nil {
		return nil, err
	}
	if saved.Dropped == nil {
		saved.Dropped = page.DefaultDrop()
	}
	return page.NewNormalizer(saved.Dropped), nil
}

// Keep keeps the settings of a crawl that begins, and its model, in its store.
func (c *Crawl) Keep(s *store.Store, p *Plan) error {
	if p.model != nil {
		if err := p.model.WriteFile(ModelFile(c.Store)); err != nil {
			return err
		}
	}
	saved := c.Settings
	saved.DropParams = "" // Dropped has what it said
	saved.Proxy = RedactProxy(saved.Proxy)
	saved.Keywords = p.Keywords
	saved.Score = p.scored // which a resumed crawl would else find out from what it has now
	var err error
	if saved.Seed, err = seeds.Keep(c.Store, p.Crawl.Seeds); err != nil {
		return err
	}
	saved.Seeds = "" // the file may be gone when the crawl is resumed
	text, err := json.Marshal(saved)
	if err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	return s.SetSettings(text)
}

// Recall fills in from the store what c leaves open. It returns what the store's settings
// open of the network, for who resumes the crawl to know.
func (c *Crawl) Recall(s *store.Store) (opened string, err error) {
	info := s.Info()
	if c.Topic != "" && c.Topic != info.Topic {
		return "", usage.Errorf("the store's topic is %q, not %q; leave --topic out", info.Topic, c.Topic)
	}
	c.Topic = info.Topic
	saved, err := Stored(s)
	if err != nil {
		return "", err
	}
	if err := takeFile(&saved.Model, ModelFile(c.Store)); err != nil {
		return "", err
	}
	if err := takeFile(&saved.Seeds, seeds.Stored(c.Store)); err != nil {
		return "", err
	}
	opened = saved.opened(&c.Network)
	c.inherit(saved)
	return opened, nil
}

// takeFile names one of a store's own files, if it is there. It will be read as if somebody
// had named it, so nothing else may stand in its place.
func takeFile(name *string, path string) error {
	if _, err := os.Stat(path); err != nil {
		return nil
	}
	if !reading.Regular(path) {
		return fmt.Errorf("%s: %w; take away what stands there", path, reading.ErrKind)
	}
	*name = path
	return nil
}
