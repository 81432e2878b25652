package fetch

import (
	"net/netip"
	"strings"
	"testing"
	"time"
)

func TestParseRetryAfter(t *testing.T) {
	now := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		value string
		want  time.Duration
	}{
		{"", 0},
		{"0", 0},
		{"120", 2 * time.Minute},
		{" 7 ", 7 * time.Second},
		{"-5", 0},
		{"1.5", 0},
		{"soon", 0},
		{"99999999999", maxRetryAfter},
		{"99999999999999999999999999", maxRetryAfter},
		{"Tue, 01 Jan 2030 12:05:00 GMT", 5 * time.Minute},
		{"Tuesday, 01-Jan-30 12:05:00 GMT", 5 * time.Minute},
		{"Tue Jan  1 12:05:00 2030", 5 * time.Minute},
		{"Tue, 01 Jan 2030 11:00:00 GMT", 0},
		{"Tue, 01 Jan 2999 11:00:00 GMT", maxRetryAfter},
	} {
		if got := parseRetryAfter(c.value, now); got != c.want {
			t.Errorf("ParseRetryAfter(%q) = %v, want %v", c.value, got, c.want)
		}
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"", "120", "Tue, 01 Jan 2030 12:05:00 GMT", "99999999999999999999"} {
		f.Add(s)
	}
	now := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, s string) {
		if d := parseRetryAfter(s, now); d < 0 || d > maxRetryAfter {
			t.Errorf("ParseRetryAfter(%q) = %v", s, d)
		}
	})
}

func TestParseHosts(t *testing.T) {
	hosts, err := ParseHosts(strings.NewReader(
		"# where the test web stands\r\nA.example\t127.0.0.1:8080\r\n\nb.example. 127.0.0.2 # no port\nc.example\t[::1]:443\nd.example\t2001:db8::1\n"), "f")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"a.example": "127.0.0.1:8080",
		"b.example": "127.0.0.2:0",
		"c.example": "[::1]:443",
		"d.example": "[2001:db8::1]:0",
	}
	if len(hosts) != len(want) {
		t.Errorf("got %v, want %v", hosts, want)
	}
	for name, target := range want {
		if hosts[name] != netip.MustParseAddrPort(target) {
			t.Errorf("%s: got %v, want %s", name, hosts[name], target)
		}
	}
	for _, c := range []struct{ file, want string }{
		{"a.example\n", "f:1"},
		{"\na.example 1 2\n", "f:2"},
		{"a.example\tb.example\n", `"b.example" is not an address`},
		{"a.example\t127.0.0.1:99999\n", "ip or ip:port"},
		{"x\t1.2.3.4\n" + strings.Repeat("y", 1<<17), "f:2"},
	} {
		if _, err := ParseHosts(strings.NewReader(c.file), "f"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("ParseHosts(%.40q): %v, want it to say %q", c.file, err, c.want)
		}
	}
}

func FuzzParseHosts(f *testing.F) {
	f.Add("a.example\t127.0.0.1:80\n# c\n")
	f.Add("b ::1\nc [::1]:5")
	f.Fuzz(func(t *testing.T, s string) {
		hosts, err := ParseHosts(strings.NewReader(s), "f")
		if err != nil {
			return
		}
		var again strings.Builder
		for name, ap := range hosts {
			if !ap.Addr().IsValid() {
				t.Errorf("%q: no address", name)
			}
			again.WriteString(name + "\t" + ap.String() + "\n")
		}
		second, err := ParseHosts(strings.NewReader(again.String()), "f")
		for name, ap := range hosts {
			if name = strings.TrimSuffix(name, "."); err == nil && second[name] != ap && hosts[name] == ap {
				t.Errorf("%q: %v when read again, was %v", name, second[name], ap)
			}
		}
	})
}

func TestUserAgent(t *testing.T) {
	for _, c := range [][4]string{
		{"fossick", "1.2", "mailto:a@b.example", "fossick/1.2 (+mailto:a@b.example)"},
		{"fossick", "1.2", "", "fossick/1.2"},
		{"fossick", "", "", "fossick"},
	} {
		if got := UserAgent(c[0], c[1], c[2]); got != c[3] {
			t.Errorf("UserAgent%q = %q", c, got)
		}
	}
}
