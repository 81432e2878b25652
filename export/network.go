package export

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"fossick/graph"
	"fossick/internal/fileio"
)

func closeAll(files ...io.Closer) (err error) {
	for _, f := range files {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	return err
}

// linkLists writes links.edges.tsv (source TAB target) and links.urls.tsv (node TAB URL), which fossick graph
// reads. It also writes links.nodes.tsv (node TAB id TAB URL, one line per record), which joins them to rows.
type linkLists struct {
	edges, urls, nodes io.WriteCloser
	line               []byte
}

func newLinkLists(at interface {
	Create(name string) (io.WriteCloser, error)
}, folder string) (*linkLists, error) {
	s := &linkLists{}
	for _, list := range []struct {
		name string
		to   *io.WriteCloser
	}{{"edges", &s.edges}, {"urls", &s.urls}, {"nodes", &s.nodes}} {
		to, err := at.Create(folder + "links." + list.name + ".tsv")
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		*list.to = to
	}
	return s, nil
}

func (s *linkLists) Write(_ context.Context, p *Page) error {
	if err := s.put(s.nodes, p.Node, p.ID, "\t", p.URL); err != nil {
		return err
	}
	if !p.Again {
		if err := s.put(s.urls, p.Node, p.URL); err != nil {
			return err
		}
	}
	for _, to := range p.Links {
		if err := s.put(s.edges, p.Node, strconv.FormatUint(uint64(to), 10)); err != nil {
			return err
		}
	}
	return nil
}

func (s *linkLists) put(to io.Writer, node uint32, texts ...string) error {
	s.line = append(strconv.AppendUint(s.line[:0], uint64(node), 10), '\t')
	for _, t := range texts {
		s.line = append(s.line, t...)
	}
	s.line = append(s.line, '\n')
	_, err := to.Write(s.line)
	return err
}

func (s *linkLists) Finish(context.Context) error { return nil }
func (s *linkLists) Close() error                 { return closeAll(s.edges, s.urls, s.nodes) }

// graphFile writes a fossick graph file for simulate and rank. URLs name its nodes and order them.
type graphFile struct {
	*linkLists
	dir string // for the lists and temporary files
	to  io.WriteCloser
}

const buildMemory = 64 << 20

type plainFolder string

func (f plainFolder) Create(name string) (io.WriteCloser, error) {
	to, err := os.Create(filepath.Join(string(f), name))
	if err != nil {
		return nil, err
	}
	return &plainFile{bufio.NewWriterSize(to, 64<<10), to}, nil
}

type plainFile struct {
	*bufio.Writer
	f *os.File
}

func (f *plainFile) Close() error { return errors.Join(f.Flush(), f.f.Close()) }

func newGraphFile(at target, name string) (Sink, error) {
	dir, err := os.MkdirTemp("", "fossick-graph-")
	if err != nil {
		return nil, fmt.Errorf("scratch files of the graph: %w; set TMPDIR to a folder that can be written to", err)
	}
	s := &graphFile{dir: dir}
	if s.linkLists, err = newLinkLists(plainFolder(dir), ""); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if s.to, err = at.Create(name); err != nil {
		return nil, errors.Join(err, s.linkLists.Close(), os.RemoveAll(dir))
	}
	return s, nil
}

func (s *graphFile) Finish(ctx context.Context) error {
	err := s.linkLists.Close()
	s.linkLists = nil
	path := filepath.Join(s.dir, "graph")
	if err == nil {
		_, err = graph.BuildEdgeList(ctx, filepath.Join(s.dir, "links.edges.tsv"), path, graph.BuildOptions{Memory: buildMemory})
	}
	if err != nil {
		return err
	}
	f, err := fileio.Open(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(s.to, f)
	return errors.Join(err, f.Close())
}

func (s *graphFile) Close() (err error) {
	if s.linkLists != nil {
		err = s.linkLists.Close()
	}
	return errors.Join(err, s.to.Close(), os.RemoveAll(s.dir))
}

// edgeFile stores edges in a temporary file until all nodes are written.
type edgeFile struct {
	f  *os.File
	to *bufio.Writer
}

func newEdgeFile() (*edgeFile, error) {
	f, err := os.CreateTemp("", "fossick-edges-")
	if err != nil {
		return nil, fmt.Errorf("temporary file of links: %w; set TMPDIR to a folder that can be written to", err)
	}
	return &edgeFile{f: f, to: bufio.NewWriterSize(f, 64<<10)}, nil
}

func (s *edgeFile) add(p *Page) error {
	var pair [8]byte
	binary.LittleEndian.PutUint32(pair[:], p.Node)
	for _, to := range p.Links {
		binary.LittleEndian.PutUint32(pair[4:], to)
		if _, err := s.to.Write(pair[:]); err != nil {
			return err
		}
	}
	return nil
}

// each calls do with all edges, in the order added.
func (s *edgeFile) each(ctx context.Context, do func(from, to uint32) error) error {
	if err := s.to.Flush(); err != nil {
		return err
	}
	if _, err := s.f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	r := bufio.NewReaderSize(s.f, 64<<10)
	var pair [8]byte
	for n := 0; ; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if _, err := io.ReadFull(r, pair[:]); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := do(binary.LittleEndian.Uint32(pair[:]), binary.LittleEndian.Uint32(pair[4:])); err != nil {
			return err
		}
	}
}

func (s *edgeFile) Close() error { return errors.Join(s.f.Close(), os.Remove(s.f.Name())) }

// siteTables writes hosts.csv and sites.csv: pages and links of each. Memory: all hosts, plus 4 bytes a node.
type siteTables struct {
	hosts, sites io.WriteCloser
	edges        *edgeFile
	known        map[string]uint32 // index in all
	all          []hostCounts
	hostOf       []uint32 // by node
}

type hostCounts struct {
	name, site string
	siteCounts
}

type siteCounts struct {
	hosts, pages, relevant, kept int
	refined                      bool // refine saw at least one page
	bytes                        int64
	score                        float64 // sum over all pages
	first, last                  time.Time
	within, out, in              int64 // links
}

func newSiteTables(at target, folder string) (Sink, error) {
	hosts, err := at.Create(folder + "hosts.csv")
	if err != nil {
		return nil, err
	}
	sites, err := at.Create(folder + "sites.csv")
	if err != nil {
		return nil, errors.Join(err, hosts.Close())
	}
	edges, err := newEdgeFile()
	if err != nil {
		return nil, errors.Join(err, closeAll(hosts, sites))
	}
	return &siteTables{hosts: hosts, sites: sites, edges: edges, known: map[string]uint32{}}, nil
}

func (s *siteTables) Write(_ context.Context, p *Page) error {
	at, ok := s.known[p.Host]
	if !ok {
		at = uint32(len(s.all))
		s.known[p.Host] = at
		s.all = append(s.all, hostCounts{name: p.Host, site: p.Site, siteCounts: siteCounts{hosts: 1}})
	}
	if !p.Again {
		s.hostOf = append(s.hostOf, at)
	}
	one := siteCounts{pages: 1, bytes: p.Bytes, score: p.Score, first: p.Fetched, last: p.Fetched, refined: p.Kept != nil}
	if p.Relevant {
		one.relevant = 1
	}
	if p.Kept != nil && *p.Kept {
		one.kept = 1
	}
	s.all[at].add(&one)
	return s.edges.add(p)
}

func (c *siteCounts) add(o *siteCounts) {
	if c.pages == 0 || o.first.Before(c.first) {
		c.first = o.first
	}
	if o.last.After(c.last) {
		c.last = o.last
	}
	c.hosts += o.hosts
	c.pages += o.pages
	c.relevant += o.relevant
	c.kept += o.kept
	c.refined = c.refined || o.refined
	c.bytes += o.bytes
	c.score += o.score
}

func countLink(from, to *siteCounts) {
	if from == to {
		from.within++
		return
	}
	from.out++
	to.in++
}

func (s *siteTables) Finish(ctx context.Context) error {
	sites := map[string]*siteCounts{}
	for i := range s.all {
		h := &s.all[i]
		if sites[h.site] == nil {
			sites[h.site] = &siteCounts{}
		}
		sites[h.site].add(&h.siteCounts)
	}
	err := s.edges.each(ctx, func(source, target uint32) error {
		from, to := &s.all[s.hostOf[source]], &s.all[s.hostOf[target]]
		countLink(&from.siteCounts, &to.siteCounts)
		countLink(sites[from.site], sites[to.site])
		return nil
	})
	if err != nil {
		return err
	}
	w := csv.NewWriter(s.hosts)
	_ = w.Write(append([]string{"host", "site"}, countNames...))
	for _, name := range slices.Sorted(maps.Keys(s.known)) {
		h := &s.all[s.known[name]]
		_ = w.Write(append([]string{valid(h.name), valid(h.site)}, h.row()...))
	}
	w.Flush()
	if err := w.Error(); err != nil { // an error of any write
		return err
	}
	w = csv.NewWriter(s.sites)
	_ = w.Write(append([]string{"site", "hosts"}, countNames...))
	for _, name := range slices.Sorted(maps.Keys(sites)) {
		c := sites[name]
		_ = w.Write(append([]string{valid(name), strconv.Itoa(c.hosts)}, c.row()...))
	}
	w.Flush()
	return w.Error()
}

var countNames = []string{"pages", "relevant", "kept", "mean_score", "bytes", "first", "last", "links_within", "links_out", "links_in"}

func (c *siteCounts) row() []string {
	kept := "" // unknown
	if c.refined {
		kept = strconv.Itoa(c.kept)
	}
	return []string{
		strconv.Itoa(c.pages), strconv.Itoa(c.relevant), kept,
		strconv.FormatFloat(c.score/float64(c.pages), 'g', 6, 64), strconv.FormatInt(c.bytes, 10),
		c.first.Format(time.RFC3339), c.last.Format(time.RFC3339),
		strconv.FormatInt(c.within, 10), strconv.FormatInt(c.out, 10), strconv.FormatInt(c.in, 10),
	}
}

func (s *siteTables) Close() error { return closeAll(s.hosts, s.sites, s.edges) }

// attributes are a node's columns. label is called class, since GEXF readers would overwrite it with the title.
var attributes = []string{"id", "url", "host", "site", "title", "language", "label", "probability", "kept", "relevant", "score", "crawl_order", "depth", "rank"}

type dialect struct {
	head, declared, edges, tail string
	declare                     string // an attribute: number, name and type
	node, nodeEnd               string // its number and, in GEXF, its title or URL
	value                       string // of an attribute: number and text
	edge                        string // its number, source and target
}

// gexf is version 1.2, the latest that networkx 2.8 reads.
var gexf = dialect{
	head: `<?xml version="1.0" encoding="UTF-8"?>
<gexf xmlns="http://www.gexf.net/1.2draft" version="1.2">
<graph defaultedgetype="directed">
<attributes class="node">
`,
	declare:  "<attribute id=\"%d\" title=\"%s\" type=\"%s\"/>\n",
	declared: "</attributes>\n<nodes>\n",
	node:     "<node id=\"%d\" label=\"%s\"><attvalues>",
	value:    `<attvalue for="%d" value="%s"/>`,
	nodeEnd:  "</attvalues></node>\n",
	edges:    "</nodes>\n<edges>\n",
	edge:     "<edge id=\"%d\" source=\"%d\" target=\"%d\"/>\n",
	tail:     "</edges>\n</graph>\n</gexf>\n",
}

var graphML = dialect{
	head: `<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
`,
	declare:  "<key id=\"d%d\" for=\"node\" attr.name=\"%s\" attr.type=\"%s\"/>\n",
	declared: "<graph id=\"links\" edgedefault=\"directed\">\n",
	node:     "<node id=\"n%d\">",
	value:    `<data key="d%d">%s</data>`,
	nodeEnd:  "</node>\n",
	edge:     "<edge id=\"e%d\" source=\"n%d\" target=\"n%d\"/>\n",
	tail:     "</graph>\n</graphml>\n",
}

// xmlNetwork writes a network as XML: all nodes, then all edges, without unknown values.
type xmlNetwork struct {
	dialect
	to      io.WriteCloser
	columns []column
	edges   *edgeFile
}

func newXML(d dialect) func(at target, name string) (Sink, error) {
	return func(at target, name string) (Sink, error) {
		s := &xmlNetwork{dialect: d}
		types := [...]string{textual: "string", integer: "long", real: "double", boolean: "boolean"}
		head := d.head
		for _, name := range attributes {
			c := columns[slices.IndexFunc(columns, func(c column) bool { return c.name == name })]
			if name == "label" {
				name = "class"
			}
			head += fmt.Sprintf(d.declare, len(s.columns), name, types[c.kind])
			s.columns = append(s.columns, c)
		}
		var err error
		if s.edges, err = newEdgeFile(); err != nil {
			return nil, err
		}
		if s.to, err = at.Create(name); err != nil {
			return nil, errors.Join(err, s.edges.Close())
		}
		if _, err = io.WriteString(s.to, head+d.declared); err != nil {
			return nil, errors.Join(err, s.Close())
		}
		return s, nil
	}
}

func (s *xmlNetwork) Write(_ context.Context, p *Page) error {
	if err := s.edges.add(p); err != nil || p.Again {
		return err
	}
	var b strings.Builder
	if strings.Contains(s.node, "%s") {
		fmt.Fprintf(&b, s.node, p.Node, escapeXML(cmp.Or(p.Title, p.URL)))
	} else {
		fmt.Fprintf(&b, s.node, p.Node)
	}
	for i, c := range s.columns {
		if v := c.of(p); !v.null {
			fmt.Fprintf(&b, s.value, i, escapeXML(c.string(v)))
		}
	}
	b.WriteString(s.nodeEnd)
	_, err := io.WriteString(s.to, b.String())
	return err
}

// escapeXML replaces characters that XML forbids by U+FFFD.
func escapeXML(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder never fails
	return b.String()
}

func (s *xmlNetwork) Finish(ctx context.Context) error {
	if _, err := io.WriteString(s.to, s.dialect.edges); err != nil {
		return err
	}
	n := 0
	err := s.edges.each(ctx, func(from, to uint32) error {
		_, err := fmt.Fprintf(s.to, s.edge, n, from, to)
		n++
		return err
	})
	if err != nil {
		return err
	}
	_, err = io.WriteString(s.to, s.tail)
	return err
}

func (s *xmlNetwork) Close() error { return closeAll(s.to, s.edges) }
