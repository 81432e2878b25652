package convert

import "fossick/export/convert/bulk"

// The tables, in the order in which they may refer to each other.
var (
	communitiesTable = bulk.Table{Name: "communities", Key: []string{"community_id"}, Columns: []bulk.Column{
		{Name: "community_id", Kind: bulk.Int}, {Name: "label", Kind: bulk.Text}, {Name: "sites", Kind: bulk.Int}, {Name: "pages", Kind: bulk.Int},
	}}
	domainsTable = bulk.Table{Name: "domains", Key: []string{"domain_id"}, Columns: []bulk.Column{
		{Name: "domain_id", Kind: bulk.Int}, {Name: "domain", Kind: bulk.Text}, {Name: "sites", Kind: bulk.Int}, {Name: "pages", Kind: bulk.Int},
	}}
	sitesTable = bulk.Table{Name: "sites", Key: []string{"site_id"}, Index: []string{"domain_id", "community_id"}, Columns: []bulk.Column{
		{Name: "site_id", Kind: bulk.Int}, {Name: "domain_id", Kind: bulk.Int, Refs: "domains"},
		{Name: "community_id", Kind: bulk.Int, Null: true, Refs: "communities"}, {Name: "host", Kind: bulk.Text},
		{Name: "index_page", Kind: bulk.Int, Refs: "pages"}, {Name: "title", Kind: bulk.Text, Null: true},
		{Name: "description", Kind: bulk.Text, Null: true}, {Name: "pages", Kind: bulk.Int},
	}}
	pagesTable = bulk.Table{Name: "pages", Key: []string{"page_id"}, Index: []string{"site_id"}, Columns: []bulk.Column{
		{Name: "page_id", Kind: bulk.Int}, {Name: "site_id", Kind: bulk.Int, Refs: "sites"}, {Name: "url", Kind: bulk.Text},
		{Name: "title", Kind: bulk.Text, Null: true}, {Name: "description", Kind: bulk.Text, Null: true},
		{Name: "language", Kind: bulk.Text, Null: true}, {Name: "label", Kind: bulk.Text, Null: true},
		{Name: "score", Kind: bulk.Real}, {Name: "fetched", Kind: bulk.Time}, {Name: "bytes", Kind: bulk.Int},
	}}
	linksTable = bulk.Table{Name: "links", Key: []string{"source", "target"}, Index: []string{"target"}, Columns: []bulk.Column{
		{Name: "source", Kind: bulk.Int, Refs: "pages"}, {Name: "target", Kind: bulk.Int, Refs: "pages"},
	}}
	tables = []bulk.Table{communitiesTable, domainsTable, sitesTable, pagesTable, linksTable}
)

// schema is where load.sql makes the tables by default.
const schema = "converted"
