package crawler

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"fossick/internal/testkit"
	"fossick/store"
)

// childSitemaps makes the child crawl a web with sitemaps.
const childSitemaps = "FOSSICK_TEST_CRAWLER_SITEMAPS"

const (
	sitemapHosts = 4
	sitemapFiles = 2    // of each host, in an index
	sitemapEach  = 2500 // URLs of each file, excluded by --exclude: many more than fit between a worker and the disk
)

// partScorer reports each scored part of a sitemap, and waits for the parent before the owner
// gets it. Otherwise a slow parent would kill the child after all sitemaps.
type partScorer struct {
	wordScorer
	parts io.Writer
	leave io.Reader
	rated atomic.Int64
}

func (s *partScorer) ScoreUnlinked(string, float64) float64 {
	if s.rated.Add(1)%sitemapPart == 0 {
		fmt.Fprintln(s.parts, "part")
		_, _ = s.leave.Read(make([]byte, 1)) // EOF: the parent is gone
	}
	return 0.5
}

func sitemapOptions(opt Options, parts io.Writer, leave io.Reader) Options {
	pages := manyPages(sitemapHosts, 4)
	for h := range sitemapHosts {
		root := fmt.Sprintf("http://h%d.test/", h)
		pages[root+"robots.txt"] += "Sitemap: " + root + "index.xml\n"
		var files []string
		for f := range sitemapFiles {
			var urls []string
			for u := range sitemapEach {
				urls = append(urls, fmt.Sprintf("%saside/%d/%d", root, f, u))
			}
			file := fmt.Sprintf("%s%d.xml", root, f)
			files = append(files, file)
			pages[file] = sitemapXML(urls...)
		}
		pages[root+"index.xml"] = index(files...)
	}
	opt.Fetcher = &fakeWeb{pages: pages}
	opt.Seeds = []string{"http://h0.test/0", "http://h3.test/3"}
	opt.Sitemaps = true
	opt.Scorer = &partScorer{wordScorer: wordScorer{0.3}, parts: parts, leave: leave}
	opt.Scope.Exclude = regexp.MustCompile("/aside/")
	return opt
}

// TestKillInTheMiddleOfASitemap: after each kill the journal is sound and has the reading
// position. In the end every URL of every sitemap is known once.
func TestKillInTheMiddleOfASitemap(t *testing.T) {
	testkit.Only(t, "kills many processes")
	rng := rand.New(rand.NewPCG(3, 4))
	for range 4 {
		if checkKilledInSitemaps(t, rng) > 0 {
			return
		}
	}
	t.Error("no sitemap was cut in two: this test means nothing")
}

// checkKilledInSitemaps kills a crawl until it ends, and counts kills within a sitemap.
func checkKilledInSitemaps(t *testing.T, rng *rand.Rand) (halves int) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "s")
	s := testkit.Call(store.Create(dir, store.Info{})).Must(t)
	testkit.Must(t, s.Close())
	for kills := 0; kills <= 300; kills++ {
		killed := killAtSitemap(t, dir, 1+rng.IntN(20))
		known, half := checkSitemaps(t, dir, kills)
		if half {
			halves++
		}
		if killed {
			continue
		}
		if known != sitemapHosts*sitemapFiles*sitemapEach {
			t.Errorf("%d URLs of sitemaps are known in the end, want %d", known, sitemapHosts*sitemapFiles*sitemapEach)
		}
		t.Logf("%d kills, %d in the middle of a sitemap", kills, halves)
		return halves
	}
	t.Fatal("the crawl does not end")
	return 0
}

// killAtSitemap kills a child crawl after so many scored parts; false if it ended before.
func killAtSitemap(t *testing.T, dir string, parts int) bool {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^$")
	cmd.Env = append(os.Environ(), childDir+"="+dir, childSitemaps+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "error:") {
			t.Fatal(lines.Text())
		}
		if lines.Text() == "part" {
			if parts--; parts == 0 {
				_ = cmd.Process.Kill() // it waits
			}
			_, _ = in.Write([]byte{'\n'}) // it may be dead
		}
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() > 0) {
		t.Fatal(err)
	}
	return err != nil
}

// checkSitemaps verifies the store and compares hosts with discoveries.
func checkSitemaps(t *testing.T, dir string, kill int) (known int, half bool) {
	t.Helper()
	s := testkit.Call(store.Open(dir)).Must(t)
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	checkSound(t, s)
	born := map[string]int{}
	for e := range testkit.All(t, s.URLs().Ended("none")) {
		if e.Via == store.ViaSitemap {
			born[e.AtHost]++
			known++
		}
	}
	for h := range testkit.All(t, s.Hosts()) {
		if h.Sitemaps == nil {
			continue
		}
		if n := born[h.Name]; n != h.Sitemaps.URLs {
			t.Errorf("kill %d: %s says that its sitemaps added %d URLs; %d are known", kill, h.Name, h.Sitemaps.URLs, n)
		}
		half = half || born[h.Name]%sitemapEach != 0 && len(h.Sitemaps.Pending) > 0
	}
	return known, half
}
