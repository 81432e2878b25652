package convert

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strconv"
	"time"

	"fossick/export/convert/bulk"
	"fossick/internal/extsort"
)

// urlsFile names the ids of links.bin, for graphs.
const urlsFile = "links.urls.tsv"

// table is a table that is being written.
type table struct {
	*bulk.Writer
	to *output
}

func (m *manifest) table(t bulk.Table) (*table, error) {
	to, err := m.create(t.File())
	if err != nil {
		return nil, err
	}
	return &table{bulk.NewWriter(to, t), to}, nil
}

func (t *table) end() error { return errors.Join(t.Close(), t.to.Close()) }

// tables writes all that is not links.
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
	for t, groups := range map[*bulk.Table][]group{&domainsTable: s.domains, &communitiesTable: s.communities} {
		if err := m.writeGroups(*t, groups); err != nil {
			return err
		}
	}
	files = append(files, domainsTable.File(), communitiesTable.File())
	for name, text := range map[string]string{"schema.sql": bulk.Schema(tables), "load.sql": bulk.Script(tables, schema)} {
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

// eachOwned calls do with the pages that have ids, in the order of these.
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

// writePages writes the pages, and names them; it enters them with their sites.
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

// front is what the index page of a site says.
type front struct {
	site               uint32
	title, description string
}

func frontSorter(dir string, limit int) *extsort.Sorter[front] {
	return extsort.New(extsort.Options[front]{
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

// writeSites writes the sites, each with what its index page says.
func (m *manifest) writeSites(ctx context.Context, o *owners, s *sites, opt *Options) (err error) {
	byIndex := make([]uint32, len(s.all)) // sites in the order of their index pages
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
	err = fronts.Each(ctx, func(x front) error { // each site has one
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

// writeGroups writes domains or communities.
func (m *manifest) writeGroups(t bulk.Table, groups []group) error {
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
