package page

import (
	"strings"
	"testing"
)

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
