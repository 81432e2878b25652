package main

import (
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fossick/datasets/web"
	"fossick/eval/monitor"
	"fossick/internal/fulltest"
)

// TestLabelAtTheOtherAgent: two agents make a crawl over NATS. A label of a page that one of them
// has is given at the other, and reaches it.
func TestLabelAtTheOtherAgent(t *testing.T) {
	fulltest.Only(t, "agents wait for each other's leases")
	t.Parallel()
	addr, stop, err := serve(t.Context(), "demo", web.Options{Latency: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
	_ = l.Close() // free again, and nobody else asks for it
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
	args := []string{"--topic", "science", "--proxy", "http://" + addr, "--delay", "500ms", "--max-pages", "100000",
		"--seed", "http://nightsky-almanac.test/links/science.html", "--seed", "http://openlab.test/"}
	agents := []*live{
		startVerb(t, "agent", one, append(args, "--local", port)...),
		startVerb(t, "agent", two, append(args, "--nats", "nats://127.0.0.1:"+port)...),
	}
	for _, a := range agents {
		defer a.stop(t)
		a.await(t, func(s monitor.Status) bool { return s.Fetched > 3 })
	}
	here, there := one, two
	url := storedAt(t, there)
	if _, text := said(t, "why", url, "--store", here); strings.Contains(text, "Fetched as page") { // it may not know it at all
		t.Fatalf("both have %s: %s", url, text)
	}
	fossick(t, "label", url, "no", "--store", here)
	for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		said := string(fossick(t, "why", url, "--store", there))
		if strings.Contains(said, "marked no by a person") {
			t.Logf("after %v: %s", time.Since(began).Round(100*time.Millisecond), strings.Split(said, "\n")[1])
			return
		}
		if time.Since(began) > time.Minute {
			t.Fatalf("the label has not come after a minute: %s", said)
		}
	}
}

// storedAt returns the URL of a page that a running crawl has stored.
func storedAt(t *testing.T, store string) string {
	for _, line := range strings.Split(string(fossick(t, "label", "--ask", "20", "--store", store)), "\n") {
		for _, word := range strings.Fields(line) {
			word = strings.TrimRight(word, ",") // the page of a link, in a sentence
			if strings.HasPrefix(word, "http://") && strings.Contains(string(fossick(t, "why", word, "--store", store)), "Fetched as page") {
				return word
			}
		}
	}
	t.Fatal("no page is asked about")
	return ""
}
