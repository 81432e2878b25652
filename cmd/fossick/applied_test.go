package main

import (
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"

	"fossick/internal/terminal"
)

// TestAppliedSettings: a report tells what held, and never a zero that means the
// default.
func TestAppliedSettings(t *testing.T) {
	year, share := 2*time.Hour, 0.05
	yes := true
	for _, tc := range []struct {
		name string
		s    crawlSettings
		want map[string]string // of them all, these differ from the defaults
	}{
		{"nothing given", crawlSettings{}, nil},
		{"given", crawlSettings{Workers: 1, Timeout: 90 * time.Second, MaxWait: &year, MinHarvest: &share, Sitemaps: &yes, MaxDepth: 3, TLD: []string{"de", "at"}, Delay: "0"},
			map[string]string{"workers": "1", "timeout": "1m30s", "max-wait": "2h", "min-harvest": "0.05", "sitemaps": "yes", "max-depth": "3", "tld": "de, at", "delay": "0"}},
		{"as the paper scores", crawlSettings{Score: "paper"}, map[string]string{"score": "paper", "rho": "0.3", "threshold": "0.2"}},
		{"no threshold in another order", crawlSettings{Score: "paper", Order: "bfs", Rho: &share}, map[string]string{"score": "paper", "rho": "0.05", "order": "bfs"}},
		{"parameters", crawlSettings{Dropped: []string{"sid", "utm_*"}}, map[string]string{"drop-params": "sid, utm_*"}},
	} {
		want := maps.Clone(defaultSettings)
		maps.Copy(want, tc.want)
		if got := tc.s.applied(); !maps.Equal(got, want) {
			t.Errorf("%s:\n got %v\nwant %v", tc.name, got, want)
		}
	}
}

// TestDefaultSettingsAreTheHelps: the defaults that reports tell are those that the
// help of the flags tells.
func TestDefaultSettingsAreTheHelps(t *testing.T) {
	fields := reflect.TypeFor[crawlSettings]()
	told := map[string]bool{}
	for i := range fields.NumField() {
		f := fields.Field(i)
		name := flagName(f)
		want, known := defaultSettings[name]
		if told[name] = known; !known {
			continue
		}
		_, help, inHelp := strings.Cut(f.Tag.Get("help"), "[")
		if help = strings.TrimSuffix(help[max(0, strings.LastIndex(help, "[")+1):], "]."); !inHelp {
			continue
		}
		if d, err := time.ParseDuration(help); err == nil && d > 0 {
			help = terminal.Brief(d)
		}
		if help != want {
			t.Errorf("--%s: reports tell the default %q, the help %q", name, want, help)
		}
	}
	for name := range defaultSettings {
		if _, known := told[name]; !known {
			t.Errorf("there is no --%s", name)
		}
	}
}

// TestAllSettings: each field is in the list of settings, by the name of its flag, and a
// resumed crawl takes it over.
func TestAllSettings(t *testing.T) {
	var s, saved crawlSettings
	own, old := reflect.ValueOf(&s).Elem(), reflect.ValueOf(&saved).Elem()
	all := s.all()
	if len(all) != own.NumField() {
		t.Fatalf("%d settings of %d fields", len(all), own.NumField())
	}
	for i, f := range all {
		if field := own.Type().Field(i); f.name != flagName(field) || f.at != own.Field(i).Addr().Interface() {
			t.Errorf("setting %d is %s, the field %s", i, f.name, field.Name)
		}
		if f.text() != "" {
			t.Errorf("--%s was not given, and is told as %q", f.name, f.text())
		}
		setField(old.Field(i))
	}
	s.inherit(&saved)
	for i, f := range all {
		if !reflect.DeepEqual(own.Field(i).Interface(), old.Field(i).Interface()) || f.text() == "" {
			t.Errorf("--%s is not taken over, or not told: %q", f.name, f.text())
		}
	}
	other := crawlSettings{Workers: 7, Seed: []string{"x"}}
	if other.inherit(&saved); other.Workers != 7 || other.Seed[0] != "x" {
		t.Errorf("what was given is gone: %d, %v", other.Workers, other.Seed)
	}
}

// setField gives a field a value.
func setField(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		setField(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		setField(v.Index(0))
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(1)
	case reflect.Uint64:
		v.SetUint(1)
	default:
		v.SetInt(1)
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
