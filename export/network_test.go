package export

import (
	"encoding/csv"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fossick/graph"
	"fossick/internal/testkit"
)

// network is three pages on two hosts, one of them with two records.
func network() []*Page {
	from, kept := &Source{Name: "crawl"}, true
	return []*Page{
		{ID: "urn:uuid:1", Node: 0, Source: from, URL: "http://b.test/", Host: "b.test:80", Site: "b.test", Title: "A & \"B\" \x01", Links: []uint32{2, 1}, Score: 0.5, Bytes: 3, Kept: &kept, Label: "moles"},
		{ID: "urn:uuid:2", Node: 1, Source: from, URL: "http://a.test/", Host: "a.test:80", Site: "a.test", Links: []uint32{0}, Relevant: true},
		{ID: "urn:uuid:3", Node: 2, Source: from, URL: "http://b.test/2", Host: "b.test:80", Site: "b.test"},
		{ID: "urn:uuid:4", Node: 1, Source: from, URL: "http://a.test/", Host: "a.test:80", Site: "a.test", Links: []uint32{2}, Again: true},
	}
}

var edgesOfWeb = []string{"0-1", "0-2", "1-0", "1-2"}

// TestXML reads both formats back with an XML parser.
func TestXML(t *testing.T) {
	for name, open := range networks {
		text := written(t, open, "links", network())["links"].String()
		golden(t, "web."+name, []byte(text))
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

var networks = map[string]func(target, string) (Sink, error){"gexf": newXML(gexf), "graphml": newXML(graphML)}

// TestCompressed matches the graph's nodes to the pages by URL.
func TestCompressed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "links.graph")
	testkit.Must(t, os.WriteFile(path, written(t, newGraphFile, "links.graph", network())["links.graph"].Bytes(), 0o644))
	g := testkit.Call(graph.Open(path)).Must(t)
	defer g.Close()
	nodeOf := map[string]uint32{}
	for _, p := range network() {
		nodeOf[p.URL] = p.Node
	}
	name := func(v uint32) uint32 {
		url := testkit.Call(g.Name(v)).Must(t)
		return nodeOf[url]
	}
	edges := map[string]bool{}
	testkit.Must(t, g.Scan(0, g.Nodes(), func(v uint32, to []uint32) error {
		for _, w := range to {
			edges[fmt.Sprintf("%d-%d", name(v), name(w))] = true
		}
		return nil
	}))
	if got := slices.Sorted(maps.Keys(edges)); g.Nodes() != 3 || !slices.Equal(got, edgesOfWeb) {
		t.Errorf("%d nodes, edges %v, want %v", g.Nodes(), got, edgesOfWeb)
	}
}

func TestSites(t *testing.T) {
	files := written(t, newSiteTables, "sites/", network())
	for name, want := range map[string]string{
		"sites/hosts.csv": "[[a.test:80 a.test 2 1  0 0 0001-01-01T00:00:00Z 0001-01-01T00:00:00Z 0 2 1] " +
			"[b.test:80 b.test 2 0 1 0.25 3 0001-01-01T00:00:00Z 0001-01-01T00:00:00Z 1 1 2]]",
		"sites/sites.csv": "[[a.test 1 2 1  0 0 0001-01-01T00:00:00Z 0001-01-01T00:00:00Z 0 2 1] " +
			"[b.test 1 2 0 1 0.25 3 0001-01-01T00:00:00Z 0001-01-01T00:00:00Z 1 1 2]]",
	} {
		rows := testkit.Call(csv.NewReader(files[name]).ReadAll()).Must(t)
		if got := fmt.Sprint(rows[1:]); got != want {
			t.Errorf("%s: got  %s\nwant %s", name, got, want)
		}
	}
}

func randomPages(n int, seed uint64) (all []*Page) {
	r := rand.New(rand.NewPCG(seed, 1))
	from := &Source{Name: "crawl"}
	had := map[[2]uint32]bool{}
	add := func(node int, again bool) {
		site := fmt.Sprintf("s%d.test", node%3)
		host := fmt.Sprintf("h%d.%s", node%2, site)
		p := &Page{
			ID: fmt.Sprintf("urn:uuid:%d", len(all)), Node: uint32(node), Again: again, Source: from,
			URL: fmt.Sprintf("http://%s/%d", host, node), Host: host + ":80", Site: site,
		}
		for range r.IntN(6) {
			to := uint32(r.IntN(n))
			if edge := [2]uint32{p.Node, to}; to != p.Node && !had[edge] {
				had[edge] = true
				p.Links = append(p.Links, to)
			}
		}
		all = append(all, p)
	}
	for i := range n {
		if add(i, false); r.IntN(6) == 0 {
			add(r.IntN(i+1), true)
		}
	}
	return all
}

// TestHostsAndSitesAgree compares with naive link counts of hosts and sites.
func TestHostsAndSitesAgree(t *testing.T) {
	for seed := range uint64(10) {
		all := randomPages(50, seed)
		page := map[uint32]*Page{}
		for _, p := range all {
			page[p.Node] = p
		}
		files := written(t, newSiteTables, "", all)
		for name, of := range map[string]func(*Page) string{
			"hosts.csv": func(p *Page) string { return p.Host },
			"sites.csv": func(p *Page) string { return p.Site },
		} {
			pages, within, out, in := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
			for _, p := range all {
				pages[of(p)]++
				for _, node := range p.Links {
					switch to := page[node]; of(p) == of(to) {
					case true:
						within[of(p)]++
					default:
						out[of(p)]++
						in[of(to)]++
					}
				}
			}
			rows, err := csv.NewReader(files[name]).ReadAll()
			if err != nil || len(rows) != len(pages)+1 {
				t.Fatalf("seed %d, %s: %d rows, want %d; %v", seed, name, len(rows)-1, len(pages), err)
			}
			for _, row := range rows[1:] {
				got := fmt.Sprint(row[2], row[9:])
				if want := fmt.Sprint(fmt.Sprint(pages[row[0]]), []int{within[row[0]], out[row[0]], in[row[0]]}); got != want {
					t.Errorf("seed %d, %s: %s has %s, want %s", seed, name, row[0], got, want)
				}
			}
		}
	}
}

// TestListsJoin: the lists hold each record, node and edge once; the networks each node and edge.
func TestListsJoin(t *testing.T) {
	for seed := range uint64(10) {
		all := randomPages(50, seed)
		var edges, nodes, urls []string
		for _, p := range all {
			nodes = append(nodes, fmt.Sprintf("%d\t%s\t%s", p.Node, p.ID, p.URL))
			if !p.Again {
				urls = append(urls, fmt.Sprintf("%d\t%s", p.Node, p.URL))
			}
			for _, to := range p.Links {
				edges = append(edges, fmt.Sprintf("%d\t%d", p.Node, to))
			}
		}
		files := written(t, newLinkLists, "", all)
		for name, want := range map[string][]string{"links.edges.tsv": edges, "links.nodes.tsv": nodes, "links.urls.tsv": urls} {
			if got := strings.Split(strings.TrimSuffix(files[name].String(), "\n"), "\n"); !slices.Equal(got, want) {
				t.Errorf("seed %d, %s: %q, want %q", seed, name, got, want)
			}
		}
		for name, open := range networks {
			text := written(t, open, name, all)[name].String()
			if got := strings.Count(text, "<node "); got != len(urls) {
				t.Errorf("seed %d, %s: %d nodes, want %d", seed, name, got, len(urls))
			}
			at := strings.Index(text, "<edge ")
			for i, edge := range edges {
				prefix := map[string]string{"gexf": "", "graphml": "n"}[name]
				from, to, _ := strings.Cut(edge, "\t")
				want := fmt.Sprintf(`source="%s%s" target="%s%s"/>`, prefix, from, prefix, to)
				line, rest, _ := strings.Cut(text[max(at, 0):], "\n")
				if !strings.HasSuffix(line, want) {
					t.Fatalf("seed %d, %s: edge %d is %s, want %s", seed, name, i, line, want)
				}
				at = len(text) - len(rest)
			}
		}
	}
}
