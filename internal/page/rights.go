package page

import (
	"bytes"
	"slices"
	"strings"
)

const (
	maxRights      = 16  // statements kept of a page
	maxRightsBytes = 300 // of one
	maxDataBytes   = 64 << 10
)

// says keeps a statement of the owner on the page's use, in the form that package rights
// reads: where it stands, a field, its value.
func (p *Page) says(where, name, value string) {
	value = strings.Join(strings.Fields(value), " ")
	s := where + ": " + name + " " + strings.ToValidUTF8(value[:min(len(value), maxRightsBytes)], "")
	if value != "" && len(p.Rights) < maxRights && !slices.Contains(p.Rights, s) {
		p.Rights = append(p.Rights, s)
	}
}

// onUse are the directives for robots that are about a page's use, not about the crawl.
var onUse = []string{"noai", "noimageai", "noarchive"}

// licenceLink keeps what <link rel=license> or <a rel=license> names.
func (p *parser) licenceLink(rel, href []byte) {
	if !hasWord(rel, "license") {
		return
	}
	if url, err := p.links.resolve(nil, cut(href, maxAttrBytes)); err == nil {
		p.page.says("link", "license", string(url))
	}
}

// linkedData looks for a licence in the data of a page for machines (JSON-LD). The first
// "license" with an address counts, as it stands there; the rest of it is not read.
func (p *parser) linkedData(data []byte) {
	data = data[:min(len(data), maxDataBytes)]
	for {
		_, rest, ok := bytes.Cut(data, []byte(`"license"`))
		if !ok {
			return
		}
		data = rest
		rest = bytes.TrimLeft(rest, ": \t\r\n{[")
		if !bytes.HasPrefix(rest, []byte(`"http`)) {
			if _, rest, ok = bytes.Cut(rest[:min(len(rest), 200)], []byte(`"@id"`)); !ok {
				continue
			}
			rest = bytes.TrimLeft(rest, ": \t\r\n")
		}
		url, _, ok := bytes.Cut(bytes.TrimPrefix(rest, []byte(`"`)), []byte(`"`))
		if ok && bytes.HasPrefix(url, []byte("http")) && len(url) <= maxRightsBytes {
			p.page.says("data", "license", strings.ReplaceAll(string(url), `\/`, "/"))
			return
		}
	}
}
