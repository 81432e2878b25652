package main

import (
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode"
)

// defaultSettings are what holds where a flag of a crawl is not given, by its name.
// What is not among them has no default: without the flag it does not apply.
var defaultSettings = map[string]string{
	"links": "all", "order": "relevance", "max-pages": "1000", "max-wait": "15m", "traps": "cut",
	"near-duplicates": "drop", "sitemaps": "no", "workers": "32", "delay": "auto", "timeout": "1m", "cookies": "no",
	"seed": "the topic's", "min-harvest": "0", "drop-params": "the built-in list",
}

// toldAnyhow are the settings that other settings tell already.
var toldAnyhow = []string{"dropped", "seeds"}

// applied returns the settings that held in a crawl, given or by default, by the names
// of the flags.
func (s *crawlSettings) applied() map[string]string {
	facts := map[string]string{}
	v := reflect.ValueOf(*s)
	for i := range v.NumField() {
		name := flagName(v.Type().Field(i))
		text := settingText(v.Field(i))
		if text == "" {
			text = defaultSettings[name]
		}
		if text != "" && name != toldAnyhow[0] && name != toldAnyhow[1] {
			facts[name] = text
		}
	}
	switch {
	case len(s.Dropped) > 0:
		facts["drop-params"] = strings.Join(s.Dropped, ", ")
	case s.Dropped != nil:
		facts["drop-params"] = "none"
	}
	if s.Score == "paper" || s.Score == "paper-mean" {
		setDefault(facts, "rho", "0.3")
		if s.byPolicy() {
			setDefault(facts, "threshold", fmt.Sprint(paperThreshold))
		}
	}
	if s.Score == "learned" {
		setDefault(facts, "explore", fmt.Sprint(defaultExplore))
	}
	return facts
}

func setDefault(facts map[string]string, name, value string) {
	if facts[name] == "" {
		facts[name] = value
	}
}

// flagName is a field's name on the command line.
func flagName(f reflect.StructField) string {
	if name := f.Tag.Get("name"); name != "" {
		return name
	}
	var b strings.Builder
	for i, r := range f.Name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// settingText prints a setting; "" for one that was not given.
func settingText(v reflect.Value) string {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return ""
		}
		switch v = v.Elem(); x := v.Interface().(type) {
		case bool:
			return yesNo(x)
		case time.Duration:
			return briefly(x)
		default:
			return fmt.Sprint(x)
		}
	}
	if v.IsZero() {
		return ""
	}
	switch x := v.Interface().(type) {
	case bool:
		return yesNo(x)
	case time.Duration:
		return briefly(x)
	case []string:
		return strings.Join(x, ", ")
	default:
		return fmt.Sprint(x)
	}
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// briefly writes a time without its empty parts: 1h, not 1h0m0s.
func briefly(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
