package urlfrontier

import (
	"bytes"
	"strings"
	"testing"
)

func TestKeyOf(t *testing.T) {
	for url, want := range map[string]string{
		"http://a.test/b":             "a.test",
		"https://A.Test:8443/b":       "a.test",
		"http://user:pw@a.test:1/":    "a.test",
		"http://a.test?x=http://b":    "a.test",
		"http://a.test#b":             "a.test",
		"http://[2001:DB8::1]:8080/x": "[2001:db8::1]",
		"http://[2001:db8::1/x":       "",
		"a.test/b":                    "a.test",
		"http:///b":                   "",
		"/b":                          "",
		"":                            "",
	} {
		if got := keyOf(url); got != want {
			t.Errorf("%q: %q, want %q", url, got, want)
		}
	}
}

func FuzzKeyOf(f *testing.F) {
	for _, s := range []string{"http://user@A.test:80/x", "[", "://", "http://[::1]:1/", "@:", "\f[", " [::1] :1", "a :1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, url string) {
		key := keyOf(url)
		if strings.ContainsAny(key, "/?#@") {
			t.Errorf("%q: key %q", url, key)
		}
		if again := keyOf("http://" + key + "/"); again != key {
			t.Errorf("%q: key %q, whose own is %q", url, key, again)
		}
	})
}

func FuzzRecord(f *testing.F) {
	f.Add(header{1, 2, 3, 4, 0.5}.encode([]byte("info")))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		h, info, err := decode(b)
		if err == nil && !bytes.Equal(h.encode(info), b) {
			t.Errorf("%x is written as %x", b, h.encode(info))
		}
		if number, id, err := parseURLKey(b); err == nil && !bytes.Equal(urlKey(number, id), b) {
			t.Errorf("key %x is written as %x", b, urlKey(number, id))
		}
		_, _, _ = parse(b) // no panic
	})
}

func FuzzQueueRecord(f *testing.F) {
	f.Add(encodeQueue("crawl", "a.test", queueSettings{Blocked: 1, Delay: delayOfAll, Limit: 3}))
	f.Add(make([]byte, settingsBytes))
	f.Fuzz(func(t *testing.T, b []byte) {
		crawl, name, s, err := decodeQueue(b)
		if err != nil {
			return
		}
		c, n, again, err := decodeQueue(encodeQueue(crawl, name, s))
		if err != nil || c != crawl || n != name || again != s {
			t.Errorf("%x: %q %q %v, then %q %q %v, %v", b, crawl, name, s, c, n, again, err)
		}
	})
}
