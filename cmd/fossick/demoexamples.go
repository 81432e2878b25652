package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"fossick/datasets"
)

// demoExamples are five pages on astronomy of the built-in set, by the last part of
// their paths: enough for a topic of one's own (topic new --examples).
var demoExamples = []string{
	"comets-and-their-two-tails", "flat-rotation-curves-and-dark-matter", "the-message-in-a-spectrum",
	"three-laws-from-the-orbit-of-mars", "why-big-telescopes-use-mirrors",
}

// writeExamples saves them as a browser would.
func (c demoCmd) writeExamples(set *datasets.Set) error {
	want := map[string]bool{}
	for _, name := range demoExamples {
		want[name] = true
	}
	if err := os.Mkdir(c.path("examples"), 0o755); err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	for e, err := range set.Examples() {
		if err != nil {
			return err
		}
		name := strings.TrimSuffix(path.Base(e.URL), ".html")
		if !want[name] || e.Fields["kind"] != "article" {
			continue
		}
		if err := os.WriteFile(filepath.Join(c.path("examples"), name+".html"), []byte(e.HTML), 0o644); err != nil {
			return fmt.Errorf("demo: %w", err)
		}
	}
	return nil
}
