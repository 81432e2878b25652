package control

import (
	"fmt"
	"io"
	"strings"

	"fossick/internal/printable"
	"fossick/internal/usage"
)

// ReadLabels reads url TAB yes|no a line; empty lines and comments are passed over.
func ReadLabels(r io.Reader, name string) ([]Label, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("--from %s: %w", name, err)
	}
	var labels []Label
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		url, label, _ := strings.Cut(line, "\t")
		if label = strings.TrimSpace(label); label != "yes" && label != "no" {
			return nil, usage.Errorf("--from %s, line %d: %q; want a URL, a tab, and yes or no", name, n, printable.Cut(line, 100))
		}
		labels = append(labels, Label{URL: strings.TrimSpace(url), Label: label})
	}
	if len(labels) == 0 {
		return nil, usage.Errorf("--from %s: no line has a URL, a tab, and yes or no", name)
	}
	return labels, nil
}
