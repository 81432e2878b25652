package main

import (
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"
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
			help = briefly(d)
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
