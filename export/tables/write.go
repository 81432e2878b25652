package tables

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"fossick/export"
	"fossick/internal/fileio"
)

// The SQL that creates the tables without keys, and a psql script that runs it, loads the files and adds
// keys, in one transaction: keys are faster after loading, and sites and pages refer to each other.
var (
	//go:embed schema.sql
	schemaSQL string
	//go:embed load.sql
	loadSQL string
)

// Files of the output.
const (
	pagesFile       = "pages.copy"
	urlsFile        = "links.urls.tsv"
	sitesFile       = "sites.copy"
	domainsFile     = "domains.copy"
	communitiesFile = "communities.copy"
	linksTable      = "links.copy"
	linkFile        = "links.bin"
)

// table is a file in the binary format of PostgreSQL's COPY.
type table struct {
	to  *output
	buf *bufio.Writer
	row []byte
}

// signature starts each file; two zero words follow, for flags and extension.
const signature = "PGCOPY\n\xff\r\n\x00"

// epoch is PostgreSQL's origin of time.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func (m *manifest) table(name string) (*table, error) {
	to, err := m.create(name)
	if err != nil {
		return nil, err
	}
	t := &table{to: to, buf: bufio.NewWriterSize(to, 64<<10)}
	_, err = t.buf.WriteString(signature + strings.Repeat("\x00", 8))
	return t, err
}

// add adds a row of int, float64, time.Time and string values. nil and "" are NULL.
func (t *table) add(values ...any) error {
	row := binary.BigEndian.AppendUint16(t.row[:0], uint16(len(values)))
	for _, v := range values {
		var eight int
		switch v := v.(type) {
		case int:
			eight = v
		case float64:
			eight = int(math.Float64bits(v))
		case time.Time:
			eight = int(v.UnixMicro() - epoch.UnixMicro())
		default:
			text, _ := v.(string)
			if text = clean(text); text == "" {
				row = binary.BigEndian.AppendUint32(row, math.MaxUint32) // NULL
				continue
			}
			row = append(binary.BigEndian.AppendUint32(row, uint32(len(text))), text...)
			continue
		}
		row = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(row, 8), uint64(eight))
	}
	t.row = row
	_, err := t.buf.Write(row)
	return err
}

func (t *table) Close() error {
	_, err := t.buf.Write([]byte{0xff, 0xff})
	return errors.Join(err, t.buf.Flush(), t.to.Close())
}

// clean removes what PostgreSQL refuses in a text.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
}

func (m *manifest) tables(ctx context.Context, o *owners, opt *Options) error {
	s := &sites{byHost: map[string]uint32{}, byDomain: map[string]uint32{}, byLabel: map[string]uint32{}}
	if err := m.writePages(ctx, o, s, opt.Did); err != nil {
		return err
	}
	s.settle()
	err := errors.Join(m.writeSites(s), m.writeGroups(domainsFile, s.domains), m.writeGroups(communitiesFile, s.communities),
		m.writeText("schema.sql", schemaSQL), m.writeText("load.sql", loadSQL))
	if err != nil {
		return err
	}
	if err := m.finished(pagesFile, urlsFile, sitesFile, domainsFile, communitiesFile, "schema.sql", "load.sql"); err != nil {
		return err
	}
	m.Counts = Counts{
		Pages: o.total, Repeated: o.again, Sites: uint64(len(s.all)), Domains: uint64(len(s.domains)), Communities: uint64(len(s.communities)),
	}
	return m.save()
}

func (m *manifest) writeText(name, text string) error {
	to, err := m.create(name)
	if err != nil {
		return err
	}
	_, err = to.WriteString(text)
	return errors.Join(err, to.Close())
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
	rows, err := m.table(pagesFile)
	if err != nil {
		return err
	}
	urls, err := m.create(urlsFile)
	if err != nil {
		return errors.Join(err, rows.Close())
	}
	lines := bufio.NewWriterSize(urls, 64<<10)
	err = m.eachOwned(ctx, o, func(id uint32, r *record) error {
		did(1)
		if _, err := fmt.Fprintf(lines, "%d\t%s\n", id, r.URL); err != nil {
			return err
		}
		return rows.add(int(id), int(s.add(id, r)), r.URL, r.Title, r.Description, r.Language, r.Label,
			r.Score, time.UnixMilli(r.Fetched), int(r.Bytes))
	})
	return errors.Join(err, lines.Flush(), urls.Close(), rows.Close())
}

func (m *manifest) writeSites(s *sites) error {
	rows, err := m.table(sitesFile)
	if err != nil {
		return err
	}
	for i := range s.all {
		one := &s.all[i]
		var community any
		if one.community != none {
			community = int(one.community)
		}
		err = errors.Join(err, rows.add(i, int(one.domain), community, one.host, int(one.index), one.title, one.description, int(one.pages)))
	}
	return errors.Join(err, rows.Close())
}

func (m *manifest) writeGroups(file string, groups []group) error {
	rows, err := m.table(file)
	if err != nil {
		return err
	}
	for i, g := range groups {
		err = errors.Join(err, rows.add(i, g.name, int(g.sites), int(g.pages)))
	}
	return errors.Join(err, rows.Close())
}

// site is a host, the paper's site, with what its pages tell of it.
type site struct {
	host      string
	domain    uint32
	pages     uint32
	votes     []vote
	community uint32 // set by settle; none without labelled pages

	index              uint32 // id of its index page
	depth              uint32 // depthOf its URL
	title, description string // of the index page
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
		s.all = append(s.all, site{host: strings.Clone(r.Host), domain: domain, depth: depth + 1, community: none})
	}
	one := &s.all[siteID]
	one.pages++
	s.domains[one.domain].pages++
	if depth < one.depth {
		one.index, one.depth = id, depth
		one.title, one.description = strings.Clone(r.Title), strings.Clone(r.Description)
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

// edgeSorter sorts distinct links by source, then target.
func edgeSorter(dir string, limit int) *fileio.Sorter[uint64] {
	return fileio.NewSorter(fileio.SortOptions[uint64]{
		Dir: dir, Limit: limit, Unique: true, Sort: slices.Sort[[]uint64],
		Compare: cmp.Compare[uint64],
		Append:  func(dst []byte, before, x uint64) []byte { return binary.AppendUvarint(dst, x-before) },
		Read: func(r *bufio.Reader, before uint64) (uint64, error) {
			gap, err := binary.ReadUvarint(r)
			return before + gap, err
		},
	})
}

func (m *manifest) links(ctx context.Context, o *owners, opt *Options) (err error) {
	edges := edgeSorter(m.scratch(), opt.limits.memory/8)
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
		return errors.Join(err, rows.Close())
	}
	n, err := m.writeLinks(ctx, o, edges, to, rows, opt.Did)
	if err := errors.Join(err, to.Close(), rows.Close()); err != nil {
		return err
	}
	if err := m.finished(linkFile, linksTable); err != nil {
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
		did(1)
		return rows.add(int(edge>>32), int(uint32(edge)))
	})
	if err == nil {
		err = w.Add(source, list)
	}
	if err != nil {
		return n, err
	}
	return w.Close()
}
