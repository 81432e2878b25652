package archive

import (
	"bufio"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"
	"golang.org/x/net/publicsuffix"
	"golang.org/x/text/language"

	"fossick/export"
	"fossick/internal/extsort"
)

// Columnar writes the index of the files that WARC writes of the same pages as a table with
// the columns of Common Crawl's, so that what queries that one queries this one. As with
// CDXJ the files themselves may be written now or another day.
type Columnar struct {
	*WARC
	folder  string // of the files, inside the export
	located *extsort.Sorter[located]
	w       *parquet.GenericWriter[row]
	to      io.WriteCloser
}

// located is a record and where it is: what rows are sorted and made of.
type located struct {
	Key, URL, File, ID, Digest, Type, Language, Crawl string
	Millis                                            int64
	Offset, Length                                    int32 // as the table has them; a file has 1 GB
}

// row has the columns in the order of Common Crawl's table, of the summer of 2026. A value
// of a column that is optional is null where it is "" or 0: not known, or not there.
type row struct {
	SurtKey          string `parquet:"url_surtkey"`
	URL              string `parquet:"url"`
	Host             string `parquet:"url_host_name,dict"`
	TLD              string `parquet:"url_host_tld,optional,dict"`
	Part2            string `parquet:"url_host_2nd_last_part,optional,dict"`
	Part3            string `parquet:"url_host_3rd_last_part,optional,dict"`
	Part4            string `parquet:"url_host_4th_last_part,optional,dict"`
	Part5            string `parquet:"url_host_5th_last_part,optional,dict"`
	RegistrySuffix   string `parquet:"url_host_registry_suffix,optional,dict"`
	RegisteredDomain string `parquet:"url_host_registered_domain,optional,dict"`
	PrivateSuffix    string `parquet:"url_host_private_suffix,optional,dict"`
	PrivateDomain    string `parquet:"url_host_private_domain,optional,dict"`
	Reversed         string `parquet:"url_host_name_reversed,optional,dict"`
	Protocol         string `parquet:"url_protocol,dict"`
	Port             int32  `parquet:"url_port,optional"`
	Path             string `parquet:"url_path"`
	Query            string `parquet:"url_query,optional"`
	Time             int64  `parquet:"fetch_time,timestamp(millisecond)"`
	Status           int16  `parquet:"fetch_status,dict"`
	Redirect         string `parquet:"fetch_redirect,optional"`
	Digest           string `parquet:"content_digest,optional"`
	MIME             string `parquet:"content_mime_type,optional,dict"`
	Detected         string `parquet:"content_mime_detected,optional,dict"`
	Charset          string `parquet:"content_charset,optional,dict"`
	Languages        string `parquet:"content_languages,optional,dict"`
	Truncated        string `parquet:"content_truncated,optional,dict"`
	RecordID         []byte `parquet:"warc_record_id"`
	File             string `parquet:"warc_filename,dict"`
	Offset           int32  `parquet:"warc_record_offset"`
	Length           int32  `parquet:"warc_record_length"`
	Segment          string `parquet:"warc_segment,dict"`
	Crawl            string `parquet:"crawl,dict"`
	Subset           string `parquet:"subset,dict"`
}

// columnarRows is how many rows are kept in memory as columns.
const columnarRows = 50_000

// NewColumnar begins a table of that name. The folder is that of the files in the export.
func NewColumnar(at export.Place, name, folder string) (*Columnar, error) {
	to, err := at.Create(name)
	if err != nil {
		return nil, err
	}
	s := &Columnar{folder: folder, to: to, located: extsort.New(extsort.Options[located]{
		Limit: 1 << 16, // some 30 MB
		Compare: func(a, b located) int {
			return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Millis, b.Millis), cmp.Compare(a.File, b.File), cmp.Compare(a.Offset, b.Offset))
		},
		Append: func(dst []byte, _, l located) []byte {
			line, _ := json.Marshal(l) // strings and numbers alone, so it cannot fail
			return append(append(dst, line...), '\n')
		},
		Read: func(r *bufio.Reader, _ located) (l located, err error) {
			line, err := r.ReadBytes('\n')
			if err != nil {
				return l, err
			}
			return l, json.Unmarshal(line, &l)
		},
	})}
	s.w = parquet.NewGenericWriter[row](to, parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(columnarRows), parquet.CreatedBy("fossick", "", ""))
	s.WARC = newWARC(warcPrefix, func(string) (io.WriteCloser, error) { return nowhere{io.Discard}, nil }, s.add)
	return s, nil
}

// add enters the response of a page. Common Crawl's table has no revisits, and redirects
// elsewhere.
func (s *Columnar) add(c capture) error {
	if !c.own {
		return nil
	}
	if c.begin+int64(c.length) > math.MaxInt32 {
		return fmt.Errorf("%s: the record at %d of %s is too large for Common Crawl's table", c.page.URL, c.begin, c.file)
	}
	p, url := c.page, oneLine(c.page.URL)
	return s.located.Add(located{
		Key: surt(url), URL: url, File: s.folder + c.file, ID: p.ID, Digest: c.digest, Type: p.ContentType, Language: p.Language,
		Crawl: p.Source.Name, Millis: p.Fetched.UnixMilli(), Offset: int32(c.begin), Length: int32(c.length),
	})
}

// Finish implements export.Sink.
func (s *Columnar) Finish(ctx context.Context) error {
	if err := s.WARC.Finish(ctx); err != nil {
		return err
	}
	one := make([]row, 1)
	err := s.located.Each(ctx, func(l located) error {
		one[0] = rowOf(l)
		_, err := s.w.Write(one)
		return err
	})
	return errors.Join(err, s.w.Close())
}

// Close implements export.Sink.
func (s *Columnar) Close() error {
	s.w.Reset(io.Discard) // a group that was begun is given up
	return errors.Join(s.WARC.Close(), s.located.Close(), s.to.Close())
}

// rowOf makes a row. Every stored page was answered with 200, so nothing redirects, and
// none was cut.
func rowOf(l located) row {
	r := row{
		SurtKey: l.Key, URL: l.URL, Time: l.Millis, Status: 200, RecordID: uuidOf(l.ID), File: l.File,
		Offset: l.Offset, Length: l.Length, Segment: "1", Crawl: l.Crawl, Subset: "warc",
		Digest: strings.TrimPrefix(l.Digest, "sha1:"),
	}
	if kind, params, err := mime.ParseMediaType(l.Type); err == nil {
		r.MIME, r.Charset = kind, strings.ToUpper(params["charset"])
	}
	if tag, err := language.ParseBase(l.Language); err == nil {
		r.Languages = tag.ISO3()
	}
	u, err := url.Parse(l.URL)
	if err != nil {
		return r // no address of a page
	}
	r.Protocol, r.Path, r.Query = u.Scheme, u.EscapedPath(), u.RawQuery
	if port, err := strconv.ParseInt(u.Port(), 10, 32); err == nil {
		r.Port = int32(port)
	}
	r.Host = strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if r.Host != "" && net.ParseIP(r.Host) == nil {
		r.name()
	}
	return r
}

// name takes the host's name apart.
func (r *row) name() {
	parts := strings.Split(r.Host, ".")
	slices.Reverse(parts)
	r.Reversed = strings.Join(parts, ".")
	for i, to := range []*string{&r.TLD, &r.Part2, &r.Part3, &r.Part4, &r.Part5} {
		if i < len(parts) {
			*to = parts[i]
		}
	}
	suffix, registry := publicsuffix.PublicSuffix(r.Host)
	if !registry && !strings.Contains(suffix, ".") {
		return // nobody registers names there
	}
	r.PrivateSuffix, r.PrivateDomain = suffix, below(r.Host, suffix)
	for !registry && suffix != "" { // a private one is below that of a registry
		_, suffix, _ = strings.Cut(suffix, ".")
		if whole, is := publicsuffix.PublicSuffix(suffix); is {
			suffix, registry = whole, true
		}
	}
	r.RegistrySuffix, r.RegisteredDomain = suffix, below(r.Host, suffix)
}

// below is the name one level below a suffix, "" where there is none.
func below(host, suffix string) string {
	rest, found := strings.CutSuffix(host, "."+suffix)
	if suffix == "" || !found {
		return ""
	}
	return rest[strings.LastIndexByte(rest, '.')+1:] + "." + suffix
}

// uuidOf are the 16 bytes of an id, as "urn:uuid:…" has them; less where it has no such.
func uuidOf(id string) []byte {
	digits := strings.ReplaceAll(strings.TrimPrefix(id, "urn:uuid:"), "-", "")
	bytes, _ := hex.DecodeString(digits) // what could be read of it
	return bytes
}
