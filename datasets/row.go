package datasets

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// parseRow reads one line of JSONL. Known fields are url, html, text, label,
// labels, title, site and split; other strings go into Fields, and what is
// neither string nor labels is passed over. A row needs a url, and html or text
// (which may be empty strings: that is counted, not refused).
func parseRow(line []byte) (*Example, error) {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(line, &raw); err != nil {
		return nil, rowSyntax(err)
	}
	e := &Example{}
	body := false
	for name, value := range raw {
		switch name {
		case "labels":
			if err := json.Unmarshal(value, &e.Labels); err != nil {
				return nil, fmt.Errorf("field \"labels\" is %s; want an array of strings", kind(value))
			}
			continue
		case "html", "text":
			body = body || value[0] == '"'
		}
		if string(value) == "null" {
			continue
		}
		dst := e.known(name)
		if value[0] != '"' {
			if dst != nil {
				return nil, fmt.Errorf("field %q is %s; want a string", name, kind(value))
			}
			continue
		}
		var s string
		if err := json.Unmarshal(value, &s); err != nil {
			return nil, rowSyntax(err)
		}
		if dst != nil {
			*dst = s
			continue
		}
		if e.Fields == nil {
			e.Fields = map[string]string{}
		}
		e.Fields[name] = s
	}
	if e.URL == "" {
		return nil, errors.New(`no "url"; each line needs one, as the page's name`)
	}
	if !body {
		return nil, fmt.Errorf(`page %s has neither "html" nor "text"`, e.URL)
	}
	e.tidyLabels()
	return e, nil
}

// known returns where a field of this name belongs, nil for the row's own.
func (e *Example) known(name string) *string {
	switch name {
	case "url":
		return &e.URL
	case "label":
		return &e.Label
	case "title":
		return &e.Title
	case "site":
		return &e.Site
	case "split":
		return &e.Split
	case "html":
		return &e.HTML
	case "text":
		return &e.Text
	}
	return nil
}

// tidyLabels makes Label the first of Labels, and Labels non-empty if there is a
// label at all.
func (e *Example) tidyLabels() {
	e.Labels = slices.DeleteFunc(e.Labels, func(l string) bool { return l == "" })
	switch {
	case e.Label == "" && len(e.Labels) > 0:
		e.Label = e.Labels[0]
	case e.Label != "" && (len(e.Labels) == 0 || e.Labels[0] != e.Label):
		others := slices.DeleteFunc(e.Labels, func(l string) bool { return l == e.Label })
		e.Labels = append([]string{e.Label}, others...)
	}
}

func rowSyntax(err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("column %d: %w; want one JSON object a line", syntax.Offset, err)
	}
	return fmt.Errorf("%w; want one JSON object a line", err)
}

// kind names what a JSON value is, for messages.
func kind(v json.RawMessage) string {
	switch v[0] {
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "an array"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}
