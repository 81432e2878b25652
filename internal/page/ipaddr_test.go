package page

import (
	"net/netip"
	"strings"
	"testing"
)

func TestParseIPv4(t *testing.T) {
	for _, c := range []struct {
		name    string
		numeric bool
		want    string
	}{
		{"127.0.0.1", true, "127.0.0.1"},
		{"2130706433", true, "127.0.0.1"},
		{"0X7F.1", true, "127.0.0.1"},
		{"0177.0.0.01", true, "127.0.0.1"},
		{"1.2.0x304", true, "1.2.3.4"},
		{"0x", true, "0.0.0.0"},
		{"4294967295", true, "255.255.255.255"},
		{"4294967296", true, ""},
		{"0xfffffffffffffffffffff", true, ""},
		{"1.2.3.4.5", true, ""},
		{"1.2.3.256", true, ""},
		{"256.1", true, ""},
		{"1..2", true, ""},
		{"x.08", true, ""},
		{"1.2.+3", false, ""},
		{"1.2.3.4x", false, ""},
		{"1.0xg", false, ""},
		{"example", false, ""},
		{"1.", false, ""},
		{"", false, ""},
	} {
		if got := EndsInNumber(c.name); got != c.numeric || got != EndsInNumber([]byte(c.name)) {
			t.Errorf("EndsInNumber(%q) = %v, want %v", c.name, got, c.numeric)
		}
		if !c.numeric {
			continue
		}
		addr, ok := ParseIPv4(c.name)
		if ok != (c.want != "") || ok && addr.String() != c.want {
			t.Errorf("ParseIPv4(%q) = %v %v, want %q", c.name, addr, ok, c.want)
		}
	}
}

// TestSpecialTable: each row has a purpose and its network's first address, and none is hidden.
func TestSpecialTable(t *testing.T) {
	rows := 0
	for line := range strings.Lines(specialTSV) {
		if strings.TrimSpace(line) != "" && line[0] != '#' {
			rows++
		}
	}
	if all := SpecialNets(); len(all) != rows || rows < 30 {
		t.Fatalf("%d nets of %d rows: a row is net TAB what TAB source", len(all), rows)
	}
	for i, n := range SpecialNets() {
		if n.Prefix != n.Prefix.Masked() || n.What == "" || n.Source == "" {
			t.Errorf("row %+v is not in order", n)
		}
		for _, before := range SpecialNets()[:i] {
			if before.Prefix.Bits() <= n.Prefix.Bits() && before.Prefix.Contains(n.Prefix.Addr()) {
				t.Errorf("%v can never be reached: it is in %v", n.Prefix, before.Prefix)
			}
		}
	}
}

func TestInner(t *testing.T) {
	for in, want := range map[string]string{
		"::ffff:10.0.0.1": "10.0.0.1", "64:ff9b::8.8.8.8": "8.8.8.8", "8.8.8.8": "8.8.8.8",
		"fe80::1%eth0": "fe80::1", "64:ff9b:1::8.8.8.8": "64:ff9b:1::808:808", "2002:808:808::": "2002:808:808::",
	} {
		if got := InnerAddr(netip.MustParseAddr(in)); got != netip.MustParseAddr(want) {
			t.Errorf("Inner(%s) = %v, want %s", in, got, want)
		}
	}
}

// FuzzParseIPv4: no panic, agreement with Go's strict parser, and results parse to themselves.
func FuzzParseIPv4(f *testing.F) {
	for _, s := range []string{"127.0.0.1", "0x7f.1", "4294967295", "1..2", "0x.0X.00", "1.2.3.4.5"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		addr, ok := ParseIPv4(name)
		if ok && !EndsInNumber(name) {
			t.Errorf("%q is %v, but does not end in a number", name, addr)
		}
		if strict, err := netip.ParseAddr(name); err == nil && strict.Is4() && (!ok || strict != addr) {
			t.Errorf("%q is %v %v, want %v", name, addr, ok, strict)
		}
		if again, okAgain := ParseIPv4(addr.String()); ok && (!okAgain || again != addr) {
			t.Errorf("%v is read as %v", addr, again)
		}
	})
}

func TestTooLong(t *testing.T) {
	label := strings.Repeat("a", 63)
	for _, c := range []struct {
		name, host string
		want       bool
	}{
		{"empty", "", false},
		{"a common name", "www.example.org", false},
		{"the longest label of four bytes a character", strings.Repeat("𠀀", 63) + ".test", false},
		{"one character more", strings.Repeat("𠀀", 64) + ".test", true},
		{"the same, not the first", "a." + strings.Repeat("𠀀", 64), true},
		{"the longest name", strings.Repeat(label+".", 4)[:253], false},
		{"parts of the longest name by other dots", strings.Repeat(strings.Repeat("名", 60)+"。", 5), false},
		{"the same without", strings.Repeat("名", 300), true},
		{"many short labels", strings.Repeat("a.", 507), true},
		{"no UTF-8", strings.Repeat("\xff", 84), false},
		{"much that is no UTF-8", strings.Repeat("\xff", 1013), true},
	} {
		if got := NameTooLong(c.host); got != c.want || got != NameTooLong([]byte(c.host)) {
			t.Errorf("%s (%d bytes): NameTooLong = %v, want %v", c.name, len(c.host), got, c.want)
		}
	}
}
