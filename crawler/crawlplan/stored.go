package crawlplan

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"fossick/internal/page"
	"fossick/internal/reading"
	"fossick/internal/usage"
	"fossick/relevance/propose"
	"fossick/store"
)

// modelFile is where a store keeps the model of its crawl.
func modelFile(dir string) string { return filepath.Join(dir, "model.fossick") }

// kept is what a store keeps of a crawl.
type kept struct {
	Settings
	Shared []sharing `json:",omitempty"`
}

// Stored returns the settings that a store's crawl began with, none in a store without.
func Stored(s *store.Store) (saved *Settings, err error) {
	k, err := keptIn(s)
	return &k.Settings, err
}

func keptIn(s *store.Store) (*kept, error) {
	k := &kept{}
	if text := s.Info().Settings; len(text) > 0 {
		if err := json.Unmarshal(text, k); err != nil {
			return k, fmt.Errorf("%s: settings: %w", s.Dir(), err)
		}
	}
	return k, nil
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
	if err := c.keepModels(p.models); err != nil {
		return err
	}
	saved := c.Settings
	saved.DropParams = "" // Dropped has what it said
	saved.Proxy = RedactProxy(saved.Proxy)
	if len(c.Shared) > 0 {
		saved.Model = "" // each topic has a file of its own
	} else {
		saved.Keywords = p.Keywords
	}
	if !c.Parties {
		saved.Score = p.scored // which a resumed crawl would else find out from what it has now
	}
	var err error
	if saved.Seed, err = propose.Keep(c.Store, p.Crawl.Seeds); err != nil {
		return err
	}
	saved.Seeds = "" // the file may be gone when the crawl is resumed
	text, err := json.Marshal(kept{saved, c.Shared})
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
	saved, err := keptIn(s)
	if err != nil {
		return "", err
	}
	if len(info.Settings) > 0 { // else a kill came before Keep, and what c says begins the crawl
		c.Parties = saved.Parties
	}
	if len(saved.Shared) > 0 {
		if err := c.recallShared(saved.Shared); err != nil {
			return "", err
		}
	} else if err := takeFile(&saved.Model, modelFile(c.Store)); err != nil {
		return "", err
	}
	if err := takeFile(&saved.Seeds, propose.StoredSeeds(c.Store)); err != nil {
		return "", err
	}
	opened = saved.opened(&c.Settings)
	c.inherit(&saved.Settings)
	return opened, nil
}

// takeFile names one of a store's own files, if it is there. It will be read as if somebody
// had named it, so nothing else may stand in its place.
func takeFile(name *string, path string) error {
	if _, err := os.Stat(path); err != nil {
		return nil
	}
	if !reading.Regular(path) {
		return fmt.Errorf("%s: %w; remove the existing file or folder", path, reading.ErrKind)
	}
	*name = path
	return nil
}
