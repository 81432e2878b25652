package datasets

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mirrored is a site as a mirroring program saves it.
var mirrored = map[string]string{
	"sitemap.xml": `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>http://a.test/</loc><lastmod>2026-03-01</lastmod></url>
<url><loc>http://a.test/bees/</loc></url>
<url><loc>http://a.test/bees/honey</loc></url>
<url><loc>http://a.test/wax.html#top</loc></url>
<url><loc>http://a.test/wax.html</loc></url>
<url><loc>http://a.test/find?q=hive&amp;n=2</loc></url>
<url><loc>http://b.test:8080/caf%C3%A9.php</loc></url>
<url><loc>http://a.test/gone.html</loc></url>
<url><loc>http://a.test/price.pdf</loc></url>
<url><loc>http://a.test/../../outside.html</loc></url>
<url><loc>ftp://a.test/wax.html</loc></url>
</urlset>`,
	"a.test/index.html":      "<html><p>home",
	"a.test/bees/index.html": "<html><p>bees",
	"a.test/bees/honey.html": "<html><p>honey",
	"a.test/wax.html":        "<html><p>wax",
	"a.test/find?q=hive&n=2": "<html><p>found",
	"b.test:8080/café.php":   "<html><p>café",
	"a.test/price.pdf":       "%PDF-1.4",
	"a.test/unnamed.html":    "<html><p>what the sitemap does not name",
	"labels.tsv":             "http://a.test/wax.html\twax\n",
}

func TestSitemap(t *testing.T) {
	dir := write(t, mirrored)
	for _, path := range []string{dir, filepath.Join(dir, "sitemap.xml")} {
		rows, errs, rep := all(t, path, Options{})
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		var got []string
		for _, e := range rows {
			got = append(got, strings.TrimPrefix(e.HTML, "<html><p>")+" "+e.URL+" "+e.Label)
		}
		want := []string{"home http://a.test/ ", "bees http://a.test/bees/ ", "honey http://a.test/bees/honey ", "wax http://a.test/wax.html wax",
			"found http://a.test/find?q=hive&n=2 ", "café http://b.test:8080/caf%C3%A9.php "}
		if !slices.Equal(got, want) {
			t.Errorf("%s:\ngot  %q\nwant %q", path, got, want)
		}
		if rows[0].Fields["lastmod"] != "2026-03-01T00:00:00Z" {
			t.Errorf("lastmod %q", rows[0].Fields["lastmod"])
		}
		if n := rep.Skipped[noFile]; n != 2 {
			t.Errorf("%d pages without a file, want 2: %v", n, rep.Notes())
		}
	}
}

// TestSitemapInSite checks that files may lie directly in the folder, without the host.
func TestSitemapInSite(t *testing.T) {
	dir := write(t, map[string]string{
		"sitemap.xml": "<urlset><url><loc>http://a.test/b/c</loc></url><url><loc>http://a.test/</loc></url></urlset>",
		"b/c.htm":     "<p>c",
		"index.html":  "<p>home",
	})
	rows, errs, _ := all(t, dir, Options{})
	if len(errs) > 0 || len(rows) != 2 || rows[0].HTML != "<p>c" || rows[1].HTML != "<p>home" {
		t.Errorf("rows %v, errors %v", rows, errs)
	}
}

// TestSitemapIndex checks that an index is followed one level deep.
func TestSitemapIndex(t *testing.T) {
	dir := write(t, map[string]string{
		"sitemap_index.xml": "<sitemapindex><sitemap><loc>http://a.test/maps/1.xml.gz</loc></sitemap><sitemap><loc>http://a.test/maps/2.xml</loc></sitemap>" +
			"<sitemap><loc>http://a.test/sitemap_index.xml</loc></sitemap><sitemap><loc>http://a.test/gone.xml</loc></sitemap></sitemapindex>",
		"maps/1.xml.gz": gz(t, "<urlset><url><loc>http://a.test/1</loc></url></urlset>"),
		"maps/2.xml":    "<urlset><url><loc>http://a.test/2</loc></url><url><loc>http://a.test/1</loc></url></urlset>",
		"1.html":        "<p>1",
		"2.html":        "<p>2",
	})
	rows, errs, rep := all(t, dir, Options{})
	if len(errs) > 0 || len(rows) != 2 {
		t.Errorf("rows %v, errors %v", rows, errs)
	}
	if rep.Skipped[noFile] != 1 || rep.Skipped[tooDeep] != 1 {
		t.Errorf("skipped %v, want one sitemap without a file and one in a sitemap that an index names", rep.Skipped)
	}
}

// TestSitemapAlone checks that a sitemap without pages fails with the paths that were tried.
func TestSitemapAlone(t *testing.T) {
	path := filepath.Join(write(t, map[string]string{"s.xml": "<urlset><url><loc>http://a.test/x</loc></url></urlset>"}), "s.xml")
	_, errs, _ := all(t, path, Options{})
	if len(errs) != 1 || !errors.Is(errs[0], ErrNoPages) || !strings.Contains(errs[0].Error(), "a.test/x") {
		t.Errorf("errors %v, want one that says what was looked for", errs)
	}
}

// TestSitemapBroken checks that entries before the damage count and the error names the line.
func TestSitemapBroken(t *testing.T) {
	dir := write(t, map[string]string{"sitemap.xml": "<urlset>\n<url><loc>http://a.test/x</loc></url>\n<url><loc", "x.html": "<p>x"})
	rows, errs, _ := all(t, dir, Options{})
	if len(rows) != 1 || len(errs) != 1 || !strings.Contains(errs[0].Error(), "sitemap: line 3") || !errors.Is(errs[0], ErrCut) {
		t.Errorf("rows %v, errors %v", rows, errs)
	}
}

// TestSitemapStaysInside checks that no sitemap entry or symbolic link leads outside the folder.
func TestSitemapStaysInside(t *testing.T) {
	outside := write(t, map[string]string{"secret.html": "<p>secret"})
	dir := write(t, map[string]string{
		"sitemap.xml": "<urlset><url><loc>http://a.test/in</loc></url><url><loc>http://a.test/link</loc></url>" +
			"<url><loc>http://a.test/%2e%2e/secret</loc></url><url><loc>http://a.test/..%2f" + filepath.Base(outside) + "%2fsecret</loc></url><url><loc>http://../secret</loc></url></urlset>",
		"in.html": "<p>in",
	})
	if err := os.Symlink(filepath.Join(outside, "secret.html"), filepath.Join(dir, "link.html")); err != nil {
		t.Skip(err)
	}
	rows, errs, _ := all(t, dir, Options{})
	if len(errs) > 0 || len(rows) != 1 || rows[0].HTML != "<p>in" {
		t.Errorf("rows %v, errors %v", rows, errs)
	}
}

// FuzzFiles checks that candidate files never leave the folder.
func FuzzFiles(f *testing.F) {
	for _, u := range []string{"http://a.test/", "http://a.test/b/c?d=e%2f..", "http://a.test:8080/%2e%2e/x", "http://[::1]/..", "http://a.test/%zz"} {
		f.Add(u)
	}
	f.Fuzz(func(t *testing.T, u string) {
		for _, name := range files(u) {
			if !filepath.IsLocal(filepath.FromSlash(name)) {
				t.Errorf("%q leads to %q", u, name)
			}
		}
	})
}
