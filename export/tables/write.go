package tables

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"fossick/export"
	"fossick/internal/fileio"
)

// The tables. Sites and pages refer to each other, so foreign keys are added after loading.
var (
	communitiesTable = sqlTable{Name: "communities", Key: []string{"community_id"}, Columns: []sqlColumn{
		{Name: "community_id", Kind: sqlInt}, {Name: "label", Kind: sqlText}, {Name: "sites", Kind: sqlInt}, {Name: "pages", Kind: sqlInt},
	}}
	domainsTable = sqlTable{Name: "domains", Key: []string{"domain_id"}, Columns: []sqlColumn{
		{Name: "domain_id", Kind: sqlInt}, {Name: "domain", Kind: sqlText}, {Name: "sites", Kind: sqlInt}, {Name: "pages", Kind: sqlInt},
	}}
	sitesTable = sqlTable{Name: "sites", Key: []string{"site_id"}, Index: []string{"domain_id", "community_id"}, Columns: []sqlColumn{
		{Name: "site_id", Kind: sqlInt}, {Name: "domain_id", Kind: sqlInt, Refs: "domains"},
		{Name: "community_id", Kind: sqlInt, Null: true, Refs: "communities"}, {Name: "host", Kind: sqlText},
		{Name: "index_page", Kind: sqlInt, Refs: "pages"}, {Name: "title", Kind: sqlText, Null: true},
		{Name: "description", Kind: sqlText, Null: true}, {Name: "pages", Kind: sqlInt},
	}}
	pagesTable = sqlTable{Name: "pages", Key: []string{"page_id"}, Index: []string{"site_id"}, Columns: []sqlColumn{
		{Name: "page_id", Kind: sqlInt}, {Name: "site_id", Kind: sqlInt, Refs: "sites"}, {Name: "url", Kind: sqlText},
		{Name: "title", Kind: sqlText, Null: true}, {Name: "description", Kind: sqlText, Null: true},
		{Name: "language", Kind: sqlText, Null: true}, {Name: "label", Kind: sqlText, Null: true},
		{Name: "score", Kind: sqlReal}, {Name: "fetched", Kind: sqlTime}, {Name: "bytes", Kind: sqlInt},
	}}
	linksTable = sqlTable{Name: "links", Key: []string{"source", "target"}, Index: []string{"target"}, Columns: []sqlColumn{
		{Name: "source", Kind: sqlInt, Refs: "pages"}, {Name: "target", Kind: sqlInt, Refs: "pages"},
	}}
	tables = []sqlTable{communitiesTable, domainsTable, sitesTable, pagesTable, linksTable}
)

const schema = "converted"

const urlsFile = "links.urls.tsv"

type table struct {
	*copyWriter
	to *output
}

func (m *manifest) table(t sqlTable) (*table, error) {
	to, err := m.create(t.File())
	if err != nil {
		return nil, err
	}
	return &table{newCopyWriter(to, t), to}, nil
}

func (t *table) end() error { return errors.Join(t.Close(), t.to.Close()) }

func (m *manifest) tables(ctx context.Context, o *owners, opt *Options) error {
	s := newSites()
	if err := m.writePages(ctx, o, s, opt.Did); err != nil {
		return err
	}
	s.settle()
	if err := m.writeSites(ctx, o, s, opt); err != nil {
		return err
	}
	files := []string{pagesTable.File(), urlsFile, sitesTable.File()}
	for t, groups := range map[*sqlTable][]group{&domainsTable: s.domains, &communitiesTable: s.communities} {
		if err := m.writeGroups(*t, groups); err != nil {
			return err
		}
	}
	files = append(files, domainsTable.File(), communitiesTable.File())
	for name, text := range map[string]string{"schema.sql": schemaSQL(tables), "load.sql": loadSQL(tables, schema)} {
		to, err := m.create(name)
		if err != nil {
			return err
		}
		_, err = to.WriteString(text)
		if err := errors.Join(err, to.Close()); err != nil {
			return err
		}
	}
	if err := m.finished(append(files, "schema.sql", "load.sql")...); err != nil {
		return err
	}
	m.Counts = Counts{
		Pages: o.total, Repeated: o.again, Sites: uint64(len(s.all)), Domains: uint64(len(s.domains)), Communities: uint64(len(s.communities)),
	}
	return m.save()
}

// eachOwned calls do with the pages that have ids, in id order.
func (m *manifest) eachOwned(ctx context.Context, o *owners, do func(id uint32, r *record) error) error {
	for i := range m.Stores {
		err := m.eachRecord(ctx, i, func(r *record) error {
			if !o.owns(i, r.Number) {
				return nil
			}
			return do(o.ids[i][r.Number], r)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (m *manifest) writePages(ctx context.Context, o *owners, s *sites, did func(int)) error {
	rows, err := m.table(pagesTable)
	if err != nil {
		return err
	}
	urls, err := m.create(urlsFile)
	if err != nil {
		return errors.Join(err, rows.end())
	}
	lines := bufio.NewWriterSize(urls, 64<<10)
	var line []byte
	err = m.eachOwned(ctx, o, func(id uint32, r *record) error {
		rows.Int(int64(id))
		rows.Int(int64(s.add(id, r)))
		for _, text := range []string{r.URL, r.Title, r.Description, r.Language, r.Label} {
			rows.Text(text)
		}
		rows.Real(r.Score)
		rows.Time(time.UnixMilli(r.Fetched))
		rows.Int(r.Bytes)
		line = append(strconv.AppendUint(line[:0], uint64(id), 10), '\t')
		line = append(append(line, r.URL...), '\n')
		did(1)
		_, err := lines.Write(line)
		return err
	})
	return errors.Join(err, lines.Flush(), urls.Close(), rows.end())
}

type front struct {
	site               uint32
	title, description string
}

func frontSorter(dir string, limit int) *fileio.Sorter[front] {
	return fileio.NewSorter(fileio.SortOptions[front]{
		Dir: dir, Limit: limit,
		Compare: func(a, b front) int { return cmp.Compare(a.site, b.site) },
		Append: func(dst []byte, _, x front) []byte {
			dst = binary.AppendUvarint(dst, uint64(x.site))
			for _, text := range []string{x.title, x.description} {
				dst = append(binary.AppendUvarint(dst, uint64(len(text))), text...)
			}
			return dst
		},
		Read: func(r *bufio.Reader, _ front) (x front, err error) {
			site, err := binary.ReadUvarint(r)
			x.site = uint32(site)
			for _, text := range []*string{&x.title, &x.description} {
				var n uint64
				if err == nil {
					n, err = binary.ReadUvarint(r)
				}
				if err != nil {
					return x, err
				}
				b := make([]byte, n)
				_, err = io.ReadFull(r, b)
				*text = string(b)
			}
			return x, err
		},
	})
}

func (m *manifest) writeSites(ctx context.Context, o *owners, s *sites, opt *Options) (err error) {
	byIndex := make([]uint32, len(s.all)) // sites ordered by index page
	for i := range byIndex {
		byIndex[i] = uint32(i)
	}
	slices.SortFunc(byIndex, func(a, b uint32) int { return cmp.Compare(s.all[a].index, s.all[b].index) })
	fronts := frontSorter(m.scratch(), opt.limits.fronts)
	defer func() { err = errors.Join(err, fronts.Close()) }()
	err = m.eachOwned(ctx, o, func(id uint32, r *record) error {
		opt.Did(1)
		if len(byIndex) == 0 || s.all[byIndex[0]].index != id {
			return nil
		}
		x := front{byIndex[0], r.Title, r.Description}
		byIndex = byIndex[1:]
		return fronts.Add(x)
	})
	if err != nil {
		return err
	}
	rows, err := m.table(sitesTable)
	if err != nil {
		return err
	}
	err = fronts.Each(ctx, func(x front) error { // one per site
		one := &s.all[x.site]
		rows.Int(int64(x.site))
		rows.Int(int64(one.domain))
		if one.community == none {
			rows.Null()
		} else {
			rows.Int(int64(one.community))
		}
		rows.Text(one.host)
		rows.Int(int64(one.index))
		rows.Text(x.title)
		rows.Text(x.description)
		rows.Int(int64(one.pages))
		return nil
	})
	return errors.Join(err, rows.end())
}

func (m *manifest) writeGroups(t sqlTable, groups []group) error {
	rows, err := m.table(t)
	if err != nil {
		return err
	}
	for i, g := range groups {
		rows.Int(int64(i))
		rows.Text(g.name)
		rows.Int(int64(g.sites))
		rows.Int(int64(g.pages))
	}
	return rows.end()
}

// site is a host, the paper's site, with what its pages tell of it.
type site struct {
	host      string
	domain    uint32
	pages     uint32
	index     uint32 // id of its index page
	depth     uint32 // depthOf its URL
	votes     []vote
	community uint32 // set by settle; none without labelled pages
}

type vote struct{ label, pages uint32 }

type group struct {
	name         string
	sites, pages uint32
}

// sites holds all sites, their domains and, after settle, their communities; ids are indices.
type sites struct {
	all         []site
	domains     []group
	communities []group

	byHost, byDomain, byLabel map[string]uint32
	labels                    []string
}

func newSites() *sites {
	return &sites{byHost: map[string]uint32{}, byDomain: map[string]uint32{}, byLabel: map[string]uint32{}}
}

func placeOf(m map[string]uint32, name string) (at uint32, isNew bool) {
	at, ok := m[name]
	if !ok {
		at = uint32(len(m))
		m[strings.Clone(name)] = at
	}
	return at, !ok
}

// add adds a page and returns its site; pages must come in id order.
func (s *sites) add(id uint32, r *record) (siteID uint32) {
	siteID, isNew := placeOf(s.byHost, r.Host)
	depth := depthOf(r.URL)
	if isNew {
		domain, isNew := placeOf(s.byDomain, r.Domain)
		if isNew {
			s.domains = append(s.domains, group{name: strings.Clone(r.Domain)})
		}
		s.domains[domain].sites++
		s.all = append(s.all, site{host: strings.Clone(r.Host), domain: domain, index: id, depth: depth, community: none})
	}
	one := &s.all[siteID]
	one.pages++
	s.domains[one.domain].pages++
	if depth < one.depth {
		one.index, one.depth = id, depth
	}
	if r.Label != "" {
		one.vote(s.label(r.Label))
	}
	return siteID
}

func (s *sites) label(name string) uint32 {
	at, isNew := placeOf(s.byLabel, name)
	if isNew {
		s.labels = append(s.labels, strings.Clone(name))
	}
	return at
}

func (s *site) vote(label uint32) {
	for i := range s.votes {
		if s.votes[i].label == label {
			s.votes[i].pages++
			return
		}
	}
	s.votes = append(s.votes, vote{label, 1})
}

// depthOf returns a URL's distance from its host's root: two per path segment, plus one for a query.
func depthOf(url string) uint32 {
	_, rest, _ := strings.Cut(url, "://")
	rest, _, query := strings.Cut(rest, "?")
	_, path, _ := strings.Cut(rest, "/")
	segments := 0
	for part := range strings.SplitSeq(path, "/") {
		if part != "" {
			segments++
		}
	}
	depth := uint32(2 * segments)
	if query {
		depth++
	}
	return depth
}

// settle gives each site the community of its most frequent label; ties go to the first in byte order.
func (s *sites) settle() {
	chosen := make([]string, len(s.all)) // label by site; "" for none
	found := map[string]uint32{}
	for i := range s.all {
		if len(s.all[i].votes) == 0 {
			continue
		}
		best := slices.MinFunc(s.all[i].votes, func(a, b vote) int {
			return cmp.Or(cmp.Compare(b.pages, a.pages), strings.Compare(s.labels[a.label], s.labels[b.label]))
		})
		chosen[i] = s.labels[best.label]
		found[chosen[i]] = 0
	}
	for _, label := range slices.Sorted(maps.Keys(found)) {
		found[label] = uint32(len(s.communities))
		s.communities = append(s.communities, group{name: label})
	}
	for i, label := range chosen {
		if label == "" {
			continue
		}
		one := &s.all[i]
		one.community = found[label]
		s.communities[one.community].sites++
		s.communities[one.community].pages += one.pages
	}
}

const linkFile = "links.bin"

// edgeSorter sorts distinct links by source, then target.
func edgeSorter(dir string, limit int) *fileio.Sorter[uint64] {
	return fileio.NewSorter(fileio.SortOptions[uint64]{
		Dir: dir, Limit: limit, Unique: true, Sort: slices.Sort[[]uint64],
		Compare: func(a, b uint64) int {
			if a < b {
				return -1
			}
			return int(min(a-b, 1))
		},
		Append: func(dst []byte, before, x uint64) []byte { return binary.AppendUvarint(dst, x-before) },
		Read: func(r *bufio.Reader, before uint64) (uint64, error) {
			gap, err := binary.ReadUvarint(r)
			return before + gap, err
		},
	})
}

func (m *manifest) links(ctx context.Context, o *owners, opt *Options) (err error) {
	edges := edgeSorter(m.scratch(), opt.limits.edges)
	defer func() { err = errors.Join(err, edges.Close()) }()
	if err := m.join(ctx, o, edges.Add); err != nil {
		return err
	}
	rows, err := m.table(linksTable)
	if err != nil {
		return err
	}
	to, err := m.create(linkFile)
	if err != nil {
		return errors.Join(err, rows.end())
	}
	n, err := m.writeLinks(ctx, o, edges, to, rows, opt.Did)
	if err := errors.Join(err, to.Close(), rows.end()); err != nil {
		return err
	}
	if err := m.finished(linkFile, linksTable.File()); err != nil {
		return err
	}
	m.Counts.Links = n
	return m.save()
}

// join calls add with each link between pages with ids, as source << 32 | target, in order of the target's hash.
func (m *manifest) join(ctx context.Context, o *owners, add func(edge uint64) error) (err error) {
	var runs []*hashRun
	defer func() { err = errors.Join(err, closeAll(runs)) }()
	for i := range m.Stores {
		r, err := m.openRun(i, linksFile(i))
		if err != nil {
			return err
		}
		runs = append(runs, r)
	}
	targets, stop := iter.Pull2(o.targets(ctx))
	defer stop()
	at, err, more := targets()
	return fileio.Merge(ctx, runs, func(a, b *hashRun) bool { return bytes.Compare(a.item.hash[:], b.item.hash[:]) < 0 }, func(r *hashRun) error {
		for more && err == nil && bytes.Compare(at.hash[:], r.item.hash[:]) < 0 {
			at, err, more = targets()
		}
		if err != nil || !more || at.hash != r.item.hash || !o.owns(r.store, r.item.from) {
			return err
		}
		from, to := o.ids[r.store][r.item.from], o.ids[at.store][at.number]
		if from == to {
			return nil
		}
		return add(uint64(from)<<32 | uint64(to))
	})
}

// targets yields the first name of each URL, in hash order.
func (o *owners) targets(ctx context.Context) iter.Seq2[name, error] {
	return func(yield func(name, error) bool) {
		enough := errors.New("enough")
		var last name
		err := o.names.Each(ctx, func(n name) error {
			if n.hash == last.hash && last.number != 0 {
				return nil
			}
			if last = n; !yield(n, nil) {
				return enough
			}
			return nil
		})
		if err != nil && !errors.Is(err, enough) {
			yield(name{}, err)
		}
	}
}

func (m *manifest) writeLinks(ctx context.Context, o *owners, edges *fileio.Sorter[uint64], to *output, rows *table, did func(int)) (n uint64, err error) {
	w, err := export.NewLinkWriter(to, o.total)
	if err != nil {
		return n, err
	}
	var list []uint32
	source := uint32(0)
	err = edges.Each(ctx, func(edge uint64) error {
		if next := uint32(edge >> 32); next != source {
			if err := w.Add(source, list); err != nil {
				return err
			}
			source, list = next, list[:0]
		}
		list = append(list, uint32(edge))
		rows.Int(int64(edge >> 32))
		rows.Int(int64(uint32(edge)))
		did(1)
		return nil
	})
	if err == nil {
		err = w.Add(source, list)
	}
	if err != nil {
		return n, err
	}
	return w.Close()
}
