package main

import (
	"bytes"
	"fmt"
	"strings"
)

// notices returns the terms of all linked modules; equal terms appear once.
func (b *binary) notices() ([]byte, error) {
	var out bytes.Buffer
	fmt.Fprintf(&out, "fossick %s is linked from the modules below. Each is used under its own terms.\n", b.version)
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
