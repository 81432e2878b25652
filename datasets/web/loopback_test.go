package web

import (
	"net/http"
	"net/url"
	"testing"

	"fossick/datasets"
)

// TestOnLoopback: the set's pages are there through the proxy until it is stopped.
func TestOnLoopback(t *testing.T) {
	set, err := datasets.Open("demo", datasets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	proxy, stop, err := OnLoopback(t.Context(), Options{}, set)
	if err != nil {
		t.Fatal(err)
	}
	through, err := url.Parse(proxy)
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(through), DisableKeepAlives: true}}
	resp, err := client.Get("http://attic.test/")
	if err != nil {
		t.Fatal(err)
	}
	if resp.Body.Close(); resp.StatusCode != http.StatusOK {
		t.Errorf("a page of the set: %s", resp.Status)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if resp, err := client.Get("http://attic.test/"); err == nil {
		resp.Body.Close()
		t.Error("it still answers when it has been stopped")
	}
}
