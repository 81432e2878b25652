package plan

import (
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"fossick/internal/cli"
)

// defaults are what reports tell where nothing was given.
var defaults = map[string]string{
	"links": "all", "types": "all", "max-bytes": "4MiB, pdf and office 25MiB", "order": "relevance", "max-pages": "1000", "traps": "cut",
	"near-duplicates": "drop", "sitemaps": "no", "workers": "32", "delay": "auto", "timeout": "1m", "cookies": "no",
	"seed": "the topic's", "min-harvest": "0", "patience": "auto", "drop-params": "the built-in list",
}

// TestAppliedSettings: a report tells what held, and never a zero that means the
// default.
func TestAppliedSettings(t *testing.T) {
	share := 0.05
	yes := true
	for _, tc := range []struct {
		name string
		s    Settings
		want map[string]string // of them all, these differ from the defaults
	}{
		{"nothing given", Settings{}, nil},
		{"given", Settings{
			Budget:  Budget{MaxTime: 2 * time.Hour, MinHarvest: &share},
			scope:   scope{MaxDepth: 3, TLD: []string{"de", "at"}},
			Manners: Manners{Workers: 1, Timeout: 90 * time.Second, Sitemaps: &yes, Delay: "0"},
		}, map[string]string{"workers": "1", "timeout": "1m30s", "max-time": "2h", "min-harvest": "0.05", "sitemaps": "yes", "max-depth": "3", "tld": "de, at", "delay": "0"}},
		{"as the paper scores", Settings{Scoring: Scoring{Score: "paper"}}, map[string]string{"score": "paper", "rho": "0.3", "threshold": "0.2"}},
		{"no threshold in another order", Settings{Scoring: Scoring{Score: "paper", Order: "bfs", Rho: &share}}, map[string]string{"score": "paper", "rho": "0.05", "order": "bfs"}},
		{"as learned scores", Settings{Scoring: Scoring{Score: "learned"}}, map[string]string{"score": "learned"}},
		{"a limit taken away", Settings{Budget: Budget{MaxPages: NoLimit}}, map[string]string{"max-pages": "none"}},
		{"parameters", Settings{scope: scope{Dropped: []string{"sid", "utm_*"}}}, map[string]string{"drop-params": "sid, utm_*"}},
		{"no parameters", Settings{scope: scope{Dropped: []string{}}}, map[string]string{"drop-params": "none"}},
		{"start pages in a file", Settings{Goal: Goal{Seed: []string{"http://a.test/"}, Seeds: "seeds.txt"}}, map[string]string{"seed": "http://a.test/"}},
	} {
		want := maps.Clone(defaults)
		maps.Copy(want, tc.want)
		if got := tc.s.Applied(); !maps.Equal(got, want) {
			t.Errorf("%s:\n got %v\nwant %v", tc.name, got, want)
		}
	}
}

// TestDefaultsAreTheHelps: the defaults that reports tell are those that the help tells.
func TestDefaultsAreTheHelps(t *testing.T) {
	var s Settings
	s.each(&s, func(f reflect.StructField, _, _ reflect.Value) {
		_, help, inHelp := strings.Cut(f.Tag.Get("help"), "[")
		if help = strings.TrimSuffix(help[max(0, strings.LastIndex(help, "[")+1):], "]."); !inHelp || f.Name == "Seed" {
			return
		}
		if d, err := time.ParseDuration(help); err == nil && d > 0 {
			help = cli.Brief(d)
		}
		if without := f.Tag.Get("without"); without != "" && help != without {
			t.Errorf("--%s: reports tell the default %q, the help %q", flagName(f), without, help)
		}
	})
}

// TestInherit: a resumed crawl takes over every setting that is not given, and reports tell it.
func TestInherit(t *testing.T) {
	var s, saved Settings
	saved.each(&saved, func(_ reflect.StructField, own, _ reflect.Value) { setField(own) })
	if s.inherit(&saved); !reflect.DeepEqual(s, saved) {
		t.Errorf("taken over: %+v, want %+v", s, saved)
	}
	facts := s.Applied()
	s.each(&s, func(f reflect.StructField, _, _ reflect.Value) {
		if name := flagName(f); facts[name] == "" && name != "seeds" && name != "dropped" && name != "patience" {
			t.Errorf("--%s is not told", name)
		}
	})
	other := Settings{Manners: Manners{Workers: 7}, Goal: Goal{Seed: []string{"x"}}}
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

func TestContact(t *testing.T) {
	tests := []struct {
		text        string
		wrong       string // part of the error, "" when it is taken
		standsForNo bool
	}{
		{text: "you@example.org", standsForNo: true},
		{text: "crawl+news@uni-x.de"},
		{text: "https://uni-x.de/crawler"},
		{text: "http://wiki/crawler"},
		{text: "https://www.example.com/bot", standsForNo: true},
		{text: "me@lab.test", standsForNo: true},
		{text: "me@notexample.org"},
		{text: "bob", wrong: "give a mail address"},
		{text: "bob@host", wrong: "give a mail address"},
		{text: "@uni-x.de", wrong: "give a mail address"},
		{text: "Bob <bob@uni-x.de>", wrong: "give a mail address"},
		{text: "bob@uni-x.de, eve@uni-x.de", wrong: "give a mail address"},
		{text: "https://", wrong: "give a mail address"},
		{text: "ftp://uni-x.de/", wrong: "give a mail address"},
		{text: "https://me:secret@uni-x.de/", wrong: "give a mail address"},
		{text: "www.uni-x.de/crawler", wrong: "did you mean https://www.uni-x.de/crawler?"},
		{text: "a@b.de)\r\nX: y", wrong: "give a mail address"},
		{text: "", wrong: "give a mail address"},
	}
	for _, tt := range tests {
		err := CheckContact(tt.text)
		if (err == nil) != (tt.wrong == "") || err != nil && !strings.Contains(err.Error(), tt.wrong) {
			t.Errorf("%q: %v; want %q", tt.text, err, tt.wrong)
		}
		if err == nil && standsForNone(tt.text) != tt.standsForNo {
			t.Errorf("%q: stands for none is %v", tt.text, !tt.standsForNo)
		}
	}
}

// FuzzContact: what is taken cannot break out of a user agent's parentheses.
func FuzzContact(f *testing.F) {
	for _, s := range []string{"you@example.org", "https://a.de/x?y=(", "a@b.c\n", "\"a b\"@c.de", "http://[::1]/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if CheckContact(text) == nil && strings.ContainsAny(text, "()\r\n\x00 ") {
			t.Errorf("%q was taken", text)
		}
		standsForNone(text)
	})
}

// TestTypesAndSizes: --types and --max-bytes together give each wanted type its limit.
func TestTypesAndSizes(t *testing.T) {
	for _, c := range []struct {
		types, sizes string
		want         map[string]int64 // nil for an error
	}{
		{"", "", map[string]int64{"html": 0, "pdf": 0, "office": 0, "text": 0, "feed": 0}},
		{"html,PDF", "", map[string]int64{"html": 0, "pdf": 0}},
		{"all", "5MiB", map[string]int64{"html": 5 << 20, "pdf": 5 << 20, "office": 5 << 20, "text": 5 << 20, "feed": 5 << 20}},
		{"html,pdf", "5MiB,pdf=25MB", map[string]int64{"html": 5 << 20, "pdf": 25 << 20}},
		{"html", "pdf=25MiB,html=100", map[string]int64{"html": 100}},
		{"image", "", nil}, {"html,", "", nil}, {"", "pdf", nil}, {"", "pdf=", nil}, {"", "=5MB", nil}, {"", "0", nil}, {"", "-1", nil}, {"", "65MiB", nil},
	} {
		var m Manners
		if c.types != "" {
			m.Types = strings.Split(c.types, ",")
		}
		if c.sizes != "" {
			m.MaxBytes = strings.Split(c.sizes, ",")
		}
		if got, err := m.limits(); (err != nil) != (c.want == nil) || !maps.Equal(got, c.want) {
			t.Errorf("--types %s --max-bytes %s: %v, %v; want %v", c.types, c.sizes, got, err, c.want)
		}
	}
}
