package convert_test

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"fossick/export/convert"
	"fossick/internal/fulltest"
	"fossick/internal/peers"
)

// TestPostgresLoads has psql load a conversion by its own script, twice, and reads the tables
// back.
func TestPostgresLoads(t *testing.T) {
	fulltest.Only(t, "starts a PostgreSQL; by default what is loaded is decoded")
	t.Parallel()
	psql, address := peers.Program(t, "psql"), peers.Postgres(t)
	crawls := world(rand.New(rand.NewPCG(8, 2)), 3, 200)
	want := expect(crawls)
	opt := options(written(t, crawls), filepath.Join(t.TempDir(), "out"))
	if _, err := convert.Run(t.Context(), opt); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), psql, append([]string{"-X", "-q", "-d", address}, args...)...)
		c.Dir = opt.Dir
		return strings.TrimSuffix(string(peers.Output(t, c)), "\n")
	}
	run("-f", "load.sql")
	run("-v", "schema=again", "-f", "load.sql")
	for _, schema := range []string{"converted", "again"} {
		for table, rows := range map[string][]string{
			"pages":   want.pages,
			"sites":   want.sites,
			"domains": want.domains, "communities": want.communities, "links": want.links,
		} {
			columns, order := "*", "1"
			switch table {
			case "pages":
				columns = "page_id, site_id, url, title, description, language, label, score, (extract(epoch FROM fetched) * 1000)::bigint, bytes"
			case "links":
				order = "1, 2"
			}
			got := run("-A", "-t", "-F", "\t", "-P", "null="+null, "-c", fmt.Sprintf("SELECT %s FROM %s.%s ORDER BY %s", columns, schema, table, order))
			if got != strings.Join(rows, "\n") {
				t.Errorf("%s.%s has\n%s\nwant\n%s", schema, table, got, strings.Join(rows, "\n"))
			}
		}
	}
	if got := run("-A", "-t", "-c", "SELECT count(*) FROM converted.links l JOIN converted.pages p ON p.page_id = l.target JOIN converted.sites USING (site_id)"); got != fmt.Sprint(len(want.links)) {
		t.Errorf("%s links lead to sites, want %d", got, len(want.links))
	}
}
