package network

import (
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"fossick/export"
	"fossick/export/collection"
	"fossick/export/table"
)

// attributes are the columns that a node of a network has besides its number. Label is
// called class: readers of GEXF put the node's own label, its title, in the place of it.
var attributes = []string{"id", "url", "host", "site", "title", "language", "label", "probability", "kept", "relevant", "score", "crawl_order", "depth", "rank"}

// dialect is how a language of networks says things.
type dialect struct {
	head, tail string
	declare    string    // an attribute: its number, name and type
	types      [4]string // by table.Kind
	edges      string    // between nodes and edges
	node       [2]string // begin, with number and title, or URL; end
	value      string    // of an attribute: its number and text
	edge       string    // its number, source and target
}

// gexf is that of version 1.2, since networkx 2.8 reads no later one.
var gexf = dialect{
	head: `<?xml version="1.0" encoding="UTF-8"?>
<gexf xmlns="http://www.gexf.net/1.2draft" version="1.2">
<graph defaultedgetype="directed">
<attributes class="node">
`,
	declare: "<attribute id=\"%d\" title=\"%s\" type=\"%s\"/>\n",
	types:   [4]string{table.Text: "string", table.Integer: "long", table.Real: "double", table.Truth: "boolean"},
	node:    [2]string{"<node id=\"%d\" label=\"%s\"><attvalues>", "</attvalues></node>\n"},
	value:   `<attvalue for="%d" value="%s"/>`,
	edges:   "</nodes>\n<edges>\n",
	edge:    "<edge id=\"%d\" source=\"%d\" target=\"%d\"/>\n",
	tail:    "</edges>\n</graph>\n</gexf>\n",
}

var graphML = dialect{
	head: `<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
`,
	declare: "<key id=\"d%d\" for=\"node\" attr.name=\"%s\" attr.type=\"%s\"/>\n",
	types:   [4]string{table.Text: "string", table.Integer: "long", table.Real: "double", table.Truth: "boolean"},
	node:    [2]string{"<node id=\"n%d\">", "</node>\n"},
	value:   `<data key="d%d">%s</data>`,
	edge:    "<edge id=\"e%d\" source=\"n%d\" target=\"n%d\"/>\n",
	tail:    "</graph>\n</graphml>\n",
}

// XML writes a network in a language of XML: all nodes, then all edges. What is not known
// of a node is left out.
type XML struct {
	dialect
	to      io.WriteCloser
	columns []table.Column
	edges   *scratch
}

// NewGEXF begins a file of GEXF 1.3.
func NewGEXF(at export.Place, name string) (*XML, error) {
	return newXML(at, name, gexf, "</attributes>\n<nodes>\n")
}

// NewGraphML begins a file of GraphML.
func NewGraphML(at export.Place, name string) (*XML, error) {
	return newXML(at, name, graphML, "<graph id=\"links\" edgedefault=\"directed\">\n")
}

func newXML(at export.Place, name string, d dialect, declared string) (*XML, error) {
	s := &XML{dialect: d}
	var head strings.Builder
	head.WriteString(d.head)
	for _, name := range attributes {
		for _, c := range table.Columns() {
			if c.Name == name {
				if c.Name == "label" {
					c.Name = "class"
				}
				fmt.Fprintf(&head, d.declare, len(s.columns), c.Name, d.types[c.Kind])
				s.columns = append(s.columns, c)
			}
		}
	}
	head.WriteString(declared)
	var err error
	if s.edges, err = newScratch(); err != nil {
		return nil, err
	}
	if s.to, err = at.Create(name); err != nil {
		return nil, errors.Join(err, s.edges.close())
	}
	if _, err = io.WriteString(s.to, head.String()); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Write implements export.Sink.
func (s *XML) Write(_ context.Context, p *collection.Page) error {
	if err := s.edges.add(p); err != nil || p.Again {
		return err
	}
	var b strings.Builder
	if strings.Contains(s.node[0], "%s") {
		fmt.Fprintf(&b, s.node[0], p.Node, escape(cmp.Or(p.Title, p.URL)))
	} else {
		fmt.Fprintf(&b, s.node[0], p.Node)
	}
	for i, c := range s.columns {
		if v := c.Of(p); !v.Null {
			fmt.Fprintf(&b, s.value, i, spell(c.Kind, v))
		}
	}
	b.WriteString(s.node[1])
	_, err := io.WriteString(s.to, b.String())
	return err
}

// spell writes a value as XML's own types have it.
func spell(kind table.Kind, v table.Value) string {
	switch kind {
	case table.Integer:
		return strconv.FormatInt(v.Int, 10)
	case table.Real:
		return strconv.FormatFloat(v.Real, 'g', -1, 64)
	case table.Truth:
		return strconv.FormatBool(v.Truth)
	}
	return escape(v.Text)
}

// escape makes text fit for XML; what XML cannot have becomes U+FFFD.
func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder takes all
	return b.String()
}

// Finish implements export.Sink.
func (s *XML) Finish(ctx context.Context) error {
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

// Close implements export.Sink.
func (s *XML) Close() error { return errors.Join(s.to.Close(), s.edges.close()) }
