package network

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fossick/export"
	"fossick/export/collection"
	"fossick/export/exporttest"
	"fossick/graph"
)

var update = flag.Bool("update", false, "write the golden files anew")

// web is three pages of two hosts, one of them fetched twice.
func web() []*collection.Page {
	from, kept := &collection.Source{Name: "crawl"}, true
	return []*collection.Page{
		{ID: "urn:uuid:1", Node: 0, Source: from, URL: "http://b.test/", Host: "b.test:80", Site: "b.test", Title: "A & \"B\" \x01", Links: []uint32{2, 1}, Score: 0.5, Bytes: 3, Kept: &kept, Label: "moles"},
		{ID: "urn:uuid:2", Node: 1, Source: from, URL: "http://a.test/", Host: "a.test:80", Site: "a.test", Links: []uint32{0}, Relevant: true},
		{ID: "urn:uuid:3", Node: 2, Source: from, URL: "http://b.test/2", Host: "b.test:80", Site: "b.test"},
		{ID: "urn:uuid:4", Node: 1, Source: from, URL: "http://a.test/", Host: "a.test:80", Site: "a.test", Links: []uint32{2}, Again: true},
	}
}

var edgesOfWeb = []string{"0-1", "0-2", "1-0", "1-2"}

func write[S export.Sink](t *testing.T, open func(export.Place, string) (S, error), name string) exporttest.Shelf {
	t.Helper()
	files := exporttest.Shelf{}
	s, err := open(files, name)
	exporttest.Write(t, s, err, web())
	return files
}

func TestEdges(t *testing.T) {
	files := write(t, NewEdges, "links/")
	if got, want := files["links/links.edges.tsv"].String(), "0\t2\n0\t1\n1\t0\n1\t2\n"; got != want {
		t.Errorf("edges %q, want %q", got, want)
	}
	if got, want := files["links/links.urls.tsv"].String(), "0\thttp://b.test/\n1\thttp://a.test/\n2\thttp://b.test/2\n"; got != want {
		t.Errorf("nodes %q, want %q", got, want)
	}
}

// TestXML reads both languages back by a parser of XML.
func TestXML(t *testing.T) {
	for name, open := range map[string]func(export.Place, string) (*XML, error){"gexf": NewGEXF, "graphml": NewGraphML} {
		text := write(t, open, "links")["links"].String()
		var nodes, edges []string
		elements := map[string]int{}
		of := func(e xml.StartElement, name string) string {
			for _, a := range e.Attr {
				if a.Name.Local == name {
					return strings.TrimPrefix(a.Value, "n")
				}
			}
			return "none"
		}
		for d := xml.NewDecoder(strings.NewReader(text)); ; {
			token, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v in\n%s", name, err, text)
			}
			if e, ok := token.(xml.StartElement); ok {
				switch elements[e.Name.Local]++; e.Name.Local {
				case "node":
					nodes = append(nodes, of(e, "id"))
				case "edge":
					edges = append(edges, of(e, "source")+"-"+of(e, "target"))
				}
			}
		}
		slices.Sort(edges)
		if fmt.Sprint(nodes) != "[0 1 2]" || !slices.Equal(edges, edgesOfWeb) {
			t.Errorf("%s: nodes %v, edges %v in\n%s", name, nodes, edges, text)
		}
		if n := elements["attribute"] + elements["key"]; n != len(attributes) {
			t.Errorf("%s: %d attributes are declared, want %d", name, n, len(attributes))
		}
		if strings.Count(text, `"label"`) != 0 || strings.Count(text, `="class"`) != 1 || strings.Count(text, ">moles<")+strings.Count(text, `"moles"`) != 1 {
			t.Errorf("%s: the label of pages is not once in the class:\n%s", name, text)
		}
		if !strings.Contains(text, "A &amp; &#34;B&#34; \uFFFD") {
			t.Errorf("%s: the title is not there:\n%s", name, text)
		}
	}
}

// TestGolden keeps both languages as they are written.
func TestGolden(t *testing.T) {
	for name, open := range map[string]func(export.Place, string) (*XML, error){"web.gexf": NewGEXF, "web.graphml": NewGraphML} {
		got := write(t, open, name)[name].Bytes()
		golden := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(golden, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is\n%s\nwant\n%s", name, got, want)
		}
	}
}

// TestCompressed joins the graph to the pages by URL.
func TestCompressed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "links.graph")
	if err := os.WriteFile(path, write(t, NewCompressed, "links.graph")["links.graph"].Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	g, err := graph.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	nodeOf := map[string]uint32{}
	for _, p := range web() {
		nodeOf[p.URL] = p.Node
	}
	name := func(v uint32) uint32 {
		url, err := g.Name(v)
		if err != nil {
			t.Fatal(err)
		}
		return nodeOf[url]
	}
	edges := map[string]bool{}
	if err := g.Scan(0, g.Nodes(), func(v uint32, to []uint32) error {
		for _, w := range to {
			edges[fmt.Sprintf("%d-%d", name(v), name(w))] = true
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(edges)); g.Nodes() != 3 || !slices.Equal(got, edgesOfWeb) {
		t.Errorf("%d nodes, edges %v, want %v", g.Nodes(), got, edgesOfWeb)
	}
}

func TestSites(t *testing.T) {
	files := write(t, NewSites, "sites/")
	for name, want := range map[string]string{
		"sites/hosts.csv": "[[a.test:80 a.test 2 1  0 0 0001-01-01T00:00:00Z 0001-01-01T00:00:00Z 0 2 1] " +
			"[b.test:80 b.test 2 0 1 0.25 3 0001-01-01T00:00:00Z 0001-01-01T00:00:00Z 1 1 2]]",
		"sites/sites.csv": "[[a.test 1 2 1  0 0 0001-01-01T00:00:00Z 0001-01-01T00:00:00Z 0 2 1] " +
			"[b.test 1 2 0 1 0.25 3 0001-01-01T00:00:00Z 0001-01-01T00:00:00Z 1 1 2]]",
	} {
		rows, err := csv.NewReader(files[name]).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(rows[1:]); got != want {
			t.Errorf("%s: got  %s\nwant %s", name, got, want)
		}
	}
}
