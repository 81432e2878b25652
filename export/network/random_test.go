package network

import (
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"fossick/export"
	"fossick/export/collection"
	"fossick/export/exporttest"
)

// random is a web of n pages and some more records of them, on 6 hosts of 3 sites.
func random(n int, seed uint64) (all []*collection.Page) {
	r := rand.New(rand.NewPCG(seed, 1))
	from := &collection.Source{Name: "crawl"}
	had := map[[2]uint32]bool{}
	add := func(node int, again bool) {
		site := fmt.Sprintf("s%d.test", node%3)
		host := fmt.Sprintf("h%d.%s", node%2, site)
		p := &collection.Page{
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

// TestHostsAndSitesAgree counts links of hosts and sites one by one.
func TestHostsAndSitesAgree(t *testing.T) {
	for seed := range uint64(10) {
		all := random(50, seed)
		page := map[uint32]*collection.Page{}
		for _, p := range all {
			page[p.Node] = p
		}
		files := exporttest.Shelf{}
		s, err := NewSites(files, "")
		exporttest.Write(t, s, err, all)
		for name, of := range map[string]func(*collection.Page) string{
			"hosts.csv": func(p *collection.Page) string { return p.Host },
			"sites.csv": func(p *collection.Page) string { return p.Site },
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

// TestListsJoin finds each record, each node and each edge once in the lists, and nodes and
// edges in the networks.
func TestListsJoin(t *testing.T) {
	for seed := range uint64(10) {
		all := random(50, seed)
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
		files := exporttest.Shelf{}
		s, err := NewEdges(files, "")
		exporttest.Write(t, s, err, all)
		for name, want := range map[string][]string{"links.edges.tsv": edges, "links.nodes.tsv": nodes, "links.urls.tsv": urls} {
			if got := strings.Split(strings.TrimSuffix(files[name].String(), "\n"), "\n"); !slices.Equal(got, want) {
				t.Errorf("seed %d, %s: %q, want %q", seed, name, got, want)
			}
		}
		for name, open := range map[string]func(export.Place, string) (*XML, error){"gexf": NewGEXF, "graphml": NewGraphML} {
			x, err := open(files, name)
			exporttest.Write(t, x, err, all)
			text := files[name].String()
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
