package datasets

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// parseRow reads one line of JSONL. Known fields are url, html, text, label,
// labels (strings, numbers or booleans), title, site and split; other strings go into Fields, and what is
// neither string nor labels is passed over. A row needs a url, and html or text
// (which may be empty strings: that is counted, not refused).
func parseRow(line []byte) (*Example, error) {
	e := &Example{}
	var html, body bool // "html" and "text" are there, as strings
	err := eachMember(line, func(name string, value jsontext.Value) error {
		if value.Kind() != '"' {
			return e.other(name, value)
		}
		html, body = html || name == "html", body || name == "text"
		if name == "labels" {
			return errors.New(`field "labels" is a string; want an array of strings`)
		}
		v := text(value)
		if dst := e.known(name); dst != nil {
			*dst = v
			return nil
		}
		if e.Fields == nil {
			e.Fields = map[string]string{}
		}
		e.Fields[name] = v
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case e.URL == "":
		return nil, errors.New(`no "url"; each line needs one, as the page's name`)
	case !html && !body:
		return nil, fmt.Errorf(`page %s has neither "html" nor "text"`, e.URL)
	}
	e.tidyLabels()
	return e, nil
}

// other reads a member that is no string: labels; null, which is as good as none;
// or what is passed over.
func (e *Example) other(name string, v jsontext.Value) error {
	switch {
	case v.Kind() == 'n':
		return nil
	case name == "labels":
		var all []json.RawMessage
		if json.Unmarshal(v, &all) != nil {
			return fmt.Errorf("field \"labels\" is %s; want an array of strings", kind(v))
		}
		e.Labels = nil
		for _, one := range all {
			label, ok := labelOf(one)
			if !ok {
				return fmt.Errorf("field \"labels\" has %s in it; want an array of strings", kind(one))
			}
			e.Labels = append(e.Labels, label)
		}
	case name == "label":
		label, ok := labelOf(v)
		if !ok {
			return fmt.Errorf("field %q is %s; want a string, a number or a boolean", name, kind(v))
		}
		e.Label = label
	case e.known(name) != nil:
		return fmt.Errorf("field %q is %s; want a string", name, kind(v))
	}
	return nil
}

// labelOf returns a label: a string as it is, a number or a boolean as people write it: 1.0 is "1".
func labelOf(v []byte) (label string, ok bool) {
	switch kind(v) {
	case "a string":
		return label, json.Unmarshal(v, &label) == nil
	case "null":
		return "", true
	case "a boolean":
		return string(v), true
	case "a number":
		const exact = 1 << 53 // a float64 has every integer below
		if x, err := strconv.ParseFloat(string(v), 64); err == nil && math.Abs(x) < exact && x == math.Trunc(x) {
			return strconv.FormatInt(int64(x), 10), true
		}
		return string(v), true
	}
	return "", false
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

// kind names what a JSON value is, for messages.
func kind(v []byte) string {
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
