// Command release writes the documents shipped with a released binary: the licences of all that is
// linked into it, and its bill of materials.
//
// In: a binary of fossick, and the module cache. Out: THIRD_PARTY_NOTICES and an SBOM in
// CycloneDX's JSON. The binary names its modules and its platform; licences are in the folders of
// the linked packages and above. scripts/release.sh calls it.
//
// Files: main.go flags and the two outputs; modules.go linked modules; licences.go their terms.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run() error {
	notices := flag.String("notices", "", "file to write the licences to")
	sbom := flag.String("sbom", "", "file to write the bill of materials to")
	version := flag.String("version", "", "version of the release")
	epoch := flag.Int64("time", 0, "time of the release, in seconds since 1970")
	flag.Parse()
	if flag.NArg() != 1 {
		return fmt.Errorf("name one binary, not %d", flag.NArg())
	}
	b, err := readBinary(flag.Arg(0))
	if err != nil {
		return err
	}
	b.version, b.time = *version, time.Unix(*epoch, 0).UTC()
	for file, write := range map[string]func() ([]byte, error){*notices: b.notices, *sbom: b.sbom} {
		if file == "" {
			continue
		}
		text, err := write()
		if err != nil {
			return err
		}
		if err := os.WriteFile(file, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// notices returns the terms of all linked modules and of the page's packages; equal terms appear once.
func (b *binary) notices() ([]byte, error) {
	var out bytes.Buffer
	fmt.Fprintf(&out, "fossick %s is linked from the modules and packages below. Each is used under its own terms.\n", b.version)
	texts := map[string]string{} // text → first module that has it
	for _, m := range b.modules {
		name := m.path
		if m.path == stdlib {
			name = "Go's own library"
		}
		fmt.Fprintf(&out, "\n%s\n%s %s\n", strings.Repeat("=", 78), name, m.version)
		for _, l := range m.licences {
			text := strings.TrimRight(l.text, " \n")
			fmt.Fprintf(&out, "\n-- %s\n\n", l.file)
			if first, again := texts[text]; again {
				fmt.Fprintf(&out, "The same text as of %s.\n", first)
				continue
			}
			texts[text] = name
			fmt.Fprintln(&out, text)
		}
	}
	return out.Bytes(), nil
}

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
		c := component{Type: "library", Name: m.path, Version: m.version, URL: m.url()}
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
