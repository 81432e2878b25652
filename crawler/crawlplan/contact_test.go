package crawlplan

import (
	"strings"
	"testing"
)

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
