package web

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/html"

	"fossick/datasets"
)

// TestDemoWeb crawls the demo web breadth first through the proxy, a thousand
// requests long, and counts what it meets.
func TestDemoWeb(t *testing.T) {
	demo, err := datasets.Open("demo", datasets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, _, client := start(t, Options{}, demo)
	queue, seen := []string{"http://linkbook.test/"}, map[string]bool{"http://linkbook.test/": true}
	codes, charset := map[int]int{}, map[string]int{}
	trapped := 0
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if strings.Contains(at, "/calendar/") || strings.Contains(at, "/threads") {
			if trapped++; trapped > 50 {
				continue
			}
		}
		resp, body := get(t, client, at)
		codes[resp.StatusCode]++
		charset[resp.Header.Get("Content-Type")]++
		var links []string
		switch {
		case resp.StatusCode == http.StatusOK:
			links = hrefs(t, at, body)
		case resp.Header.Get("Location") != "":
			links = []string{resp.Header.Get("Location")}
		}
		for _, l := range links {
			if !seen[l] {
				seen[l] = true
				queue = append(queue, l)
			}
		}
	}
	t.Logf("codes %v, types %v", codes, charset)
	for code, least := range map[int]int{200: 600, 301: 2, 302: 4, 403: 1, 404: 5, 410: 1, 500: 1, 502: 1} {
		if codes[code] < least {
			t.Errorf("status %d came %d times, want %d at least", code, codes[code], least)
		}
	}
	if trapped < 100 {
		t.Errorf("the traps were met %d times; they must not end", trapped)
	}
	if _, robots := get(t, client, "http://northgate-bank.test/robots.txt"); !strings.Contains(robots, "Disallow: /private/") {
		t.Errorf("robots.txt of a host with a private part: %q", robots)
	}
}

func hrefs(t *testing.T, at, body string) []string {
	base, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	z := html.NewTokenizer(strings.NewReader(body))
	for z.Next() != html.ErrorToken {
		tok := z.Token()
		for _, a := range tok.Attr {
			if tok.Data == "a" && a.Key == "href" {
				if u, err := base.Parse(a.Val); err == nil {
					out = append(out, u.String())
				}
			}
		}
	}
	return out
}

// TestConcurrent asks for pages, traps, robots.txt and https from many clients at
// once; the race detector looks on.
func TestConcurrent(t *testing.T) {
	demo, err := datasets.Open("demo", datasets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var log syncBuffer
	_, _, client := start(t, Options{Log: &log, Disallow: 0.1}, demo)
	urls := []string{
		"http://javacorner.test/", "https://pitlane.test/", "http://townhall.test/calendar/2025/06",
		"http://board.test/threads?visit=7", "http://m31.test/robots.txt", "https://m31.test/robots.txt", "http://kiosk.test/none",
	}
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := range 4 * len(urls) {
				resp, err := client.Get(urls[(i+worker)%len(urls)])
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := io.Copy(io.Discard, resp.Body); err != nil {
					t.Error(err)
				}
				resp.Body.Close()
			}
		})
	}
	wg.Wait()
	want := 8 * 4 * len(urls)
	n := 0
	// A line is written once the answer is out, so the last ones may come after
	// the clients have read theirs.
	for end := time.Now().Add(10 * time.Second); n < want && time.Now().Before(end); time.Sleep(time.Millisecond) {
		n = strings.Count(log.String(), "\n")
	}
	if n != want {
		t.Errorf("%d lines in the log, want one for each of %d requests", n, want)
	}
}
