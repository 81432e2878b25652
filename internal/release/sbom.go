package main

import (
	"encoding/json"
	"net/url"
	"slices"
	"time"
)

// The part of CycloneDX 1.6 (ECMA-424) about linked components.
type (
	bom struct {
		Format       string       `json:"bomFormat"`
		Spec         string       `json:"specVersion"`
		Version      int          `json:"version"`
		Metadata     metadata     `json:"metadata"`
		Components   []component  `json:"components"`
		Dependencies []dependency `json:"dependencies"`
	}
	metadata struct {
		Timestamp time.Time `json:"timestamp"`
		Component component `json:"component"`
	}
	component struct {
		Type     string     `json:"type"`
		Ref      string     `json:"bom-ref"`
		Name     string     `json:"name"`
		Version  string     `json:"version"`
		Hashes   []hash     `json:"hashes,omitempty"`
		Licences []licensed `json:"licenses"`
		URL      string     `json:"purl,omitempty"`
	}
	hash struct {
		Algorithm string `json:"alg"`
		Content   string `json:"content"`
	}
	licensed struct {
		Licence spdxID `json:"license"`
	}
	spdxID struct {
		ID string `json:"id"`
	}
	dependency struct {
		Ref string   `json:"ref"`
		On  []string `json:"dependsOn"`
	}
)

func (b *binary) sbom() ([]byte, error) {
	self := component{Type: "application", Ref: "fossick", Name: "fossick", Version: b.version,
		Hashes: []hash{{"SHA-256", b.sha256}}, Licences: []licensed{{spdxID{"Apache-2.0"}}}}
	doc := bom{Format: "CycloneDX", Spec: "1.6", Version: 1, Metadata: metadata{b.time, self}}
	all := dependency{Ref: self.Ref}
	for _, m := range b.modules {
		c := component{Type: "library", Name: m.path, Version: m.version, URL: "pkg:golang/" + m.path + "@" + url.QueryEscape(m.version)}
		c.Ref = c.URL
		for _, l := range m.licences {
			if entry := (licensed{spdxID{l.id}}); l.id != "" && !slices.Contains(c.Licences, entry) {
				c.Licences = append(c.Licences, entry)
			}
		}
		doc.Components = append(doc.Components, c)
		all.On = append(all.On, c.Ref)
	}
	doc.Dependencies = []dependency{all}
	text, err := json.MarshalIndent(doc, "", "  ")
	return append(text, '\n'), err
}
