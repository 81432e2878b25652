package export

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"fossick/internal/fileio"
	"fossick/internal/warc"
)

// archive writes WARC files of at most 1 GB. It packs records on all processors and writes them in order.
type archive struct {
	files   *warc.Files
	packers chan *warc.Packer   // idle packers
	pending []*packing          // in page order
	first   *packing            // the page being written
	filed   func(capture) error // receives the position of each record; may be nil
}

type capture struct {
	page *Page
	own  bool // the record is the page's own response
	indexed
	file  string
	begin int64 // offset of the record's gzip member in the file
}

type packing struct {
	page    *Page
	members []byte
	listed  []indexed
	err     error
	done    chan struct{} // closed when it is packed
}

func newWARC(at target, name string) (Sink, error) {
	return newArchive(warcPrefix, func(file string) (io.WriteCloser, error) { return at.Create(name + file) }, nil), nil
}

// warcPrefix starts the names of WARC files, which their index must repeat.
const warcPrefix = "pages"

func newArchive(prefix string, create func(file string) (io.WriteCloser, error), filed func(capture) error) *archive {
	s := &archive{packers: make(chan *warc.Packer, runtime.GOMAXPROCS(0)), filed: filed}
	for range cap(s.packers) {
		s.packers <- warc.NewPacker()
	}
	s.files = warc.NewFiles(warc.FilesOptions{Create: create, Prefix: prefix, Info: s.info})
	return s
}

const fieldsType = "application/warc-fields"

// info returns a file's warcinfo record, dated by its first page so that output is reproducible.
func (s *archive) info(name string) ([]byte, error) {
	p := s.first.page
	return warc.NewPacker().Append(nil, &warc.Draft{
		Type: warc.Info, ID: derivedID(p.ID, name), Date: p.Fetched, ContentType: fieldsType,
		Fields: []warc.Field{{Name: "WARC-Filename", Value: name}},
		Payload: []byte("software: fossick\r\nformat: WARC File Format 1.1\r\n" +
			"description: bodies as fetched, without encodings of transfer and content: header lines that tell of these are called " + origPrefix + "*; " +
			"the field fossick-header of a page's metadata says whether its HTTP header is as received; cookies and credentials that were sent are left out of requests\r\n"),
	})
}

func (s *archive) Write(_ context.Context, p *Page) error {
	if p.Damaged {
		return nil // without a body; the export counts it
	}
	t := &packing{page: p, done: make(chan struct{})}
	s.pending = append(s.pending, t)
	go func() {
		packer := <-s.packers
		t.members, t.listed, t.err = packPage(packer, p, s.filed != nil)
		s.packers <- packer
		close(t.done)
	}()
	return s.flush(2 * cap(s.packers))
}

// flush writes the first pages until at most most are pending.
func (s *archive) flush(most int) error {
	for len(s.pending) > most {
		t := s.pending[0]
		s.pending = s.pending[1:]
		if <-t.done; t.err != nil {
			return t.err
		}
		s.first = t
		file, offset, err := s.files.Write(t.members)
		if err != nil {
			return err
		}
		if s.filed == nil {
			continue
		}
		for i, r := range t.listed {
			if err := s.filed(capture{t.page, i == 0, r, file, offset + int64(r.offset)}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *archive) Finish(context.Context) error {
	if err := s.flush(0); err != nil {
		return err
	}
	return s.files.Close()
}

// Close implements Sink; it waits for the packing goroutines.
func (s *archive) Close() error {
	for _, t := range s.pending {
		<-t.done
	}
	s.pending = nil
	return s.files.Close()
}

func metadataOf(p *Page) []byte {
	var b bytes.Buffer
	field := func(name, value string) {
		if value = oneLine(value); value != "" {
			b.WriteString(name + ": " + value + "\r\n")
		}
	}
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	field("via", p.FoundBy)
	field("hopsFromSeed", strconv.Itoa(p.Depth))
	field("fossick-collection", p.Source.Name)
	field("fossick-crawl-order", strconv.FormatUint(p.Number, 10))
	field(warc.LabelField, p.Label)
	if p.Probability != nil {
		field("fossick-probability", number(*p.Probability))
	}
	if p.Kept != nil {
		field("fossick-kept", strconv.FormatBool(*p.Kept))
	}
	field("fossick-score", number(p.Score))
	field("fossick-why", p.Why)
	field("fossick-language", p.Language)
	field("fossick-checksum", p.Checksum)
	header := "as received"
	switch x := p.Exchange; {
	case x == nil:
		header = "made from the type and the length, because the store keeps no more"
	case x.Rebuilt:
		header = "names and values as received; their order is unknown"
	case x.Cut:
		header = "as received, but truncated"
	}
	field("fossick-header", header)
	return b.Bytes()
}

func oneLine(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s))
}

func derivedID(id, of string) string { return uuidOf(id + "\n" + of) }

// cdxIndex writes the CDXJ index of the WARC files of the same pages, a line per response, revisit and redirect.
// It packs the same records again and discards them: the bytes of the files depend on the pages alone.
type cdxIndex struct {
	*archive
	lines *cdxLines
	to    io.WriteCloser
}

func newCDXJ(at target, name string) (Sink, error) {
	to, err := at.Create(name)
	if err != nil {
		return nil, err
	}
	s := &cdxIndex{lines: newCDXLines(), to: to}
	s.archive = newArchive(warcPrefix, func(string) (io.WriteCloser, error) { return nowhere{io.Discard}, nil }, s.lines.add)
	return s, nil
}

type nowhere struct{ io.Writer }

func (nowhere) Close() error { return nil }

func (s *cdxIndex) Finish(ctx context.Context) error {
	if err := s.archive.Finish(ctx); err != nil {
		return err
	}
	return s.lines.write(ctx, s.to)
}

func (s *cdxIndex) Close() error { return closeAll(s.archive, s.lines, s.to) }

type cdxLines struct{ *fileio.Sorter[string] }

func newCDXLines() *cdxLines {
	return &cdxLines{fileio.NewSorter(fileio.SortOptions[string]{
		Limit:   1 << 16, // about 30 MB
		Compare: strings.Compare,
		Append:  func(dst []byte, _, line string) []byte { return append(dst, line...) },
		Read:    func(r *bufio.Reader, _ string) (string, error) { return r.ReadString('\n') },
	})}
}

// add writes numbers as strings, as most tools write them and all read them.
func (x *cdxLines) add(c capture) error {
	mime, _, _ := strings.Cut(c.mime, ";")
	if mime = strings.ToLower(strings.TrimSpace(mime)); mime == "" {
		mime = "unk" // the index format's word for an unknown type
	}
	object, err := jsonLine(struct {
		URL      string `json:"url"`
		Mime     string `json:"mime"`
		Status   string `json:"status"`
		Digest   string `json:"digest,omitempty"`
		Length   string `json:"length"`
		Offset   string `json:"offset"`
		Filename string `json:"filename"`
	}{c.url, oneLine(mime), c.status, c.digest, strconv.Itoa(c.length), strconv.FormatInt(c.begin, 10), c.file})
	if err != nil {
		return err
	}
	return x.Add(surt(c.url) + " " + c.at.UTC().Format("20060102150405") + " " + object)
}

func (x *cdxLines) write(ctx context.Context, w io.Writer) error {
	return x.Each(ctx, func(line string) error {
		_, err := io.WriteString(w, line)
		return err
	})
}

// jsonLine encodes a value on one line, without escaping < and &.
func jsonLine(value any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return b.String(), err
}

// wacz writes a zip file of WARC files, index, page list and digests, replayable without an archive server.
type wacz struct {
	*archive
	lines *cdxLines
	pages *os.File // the page list, until the archives before it are written
	list  *bufio.Writer

	to        io.WriteCloser
	zip       *zip.Writer
	resources []resource
	home      *homePage // the first page
	names     []string  // collection names
	newest    time.Time // newest fetch time; no date depends on the clock
}

type resource struct {
	Name  string `json:"name"`
	Path  string `json:"path"`
	Hash  string `json:"hash"`
	Bytes int64  `json:"bytes"`
}

type homePage struct {
	URL string `json:"url"`
	TS  string `json:"ts"`
}

func newWACZ(at target, name string) (Sink, error) {
	pages, err := os.CreateTemp("", "fossick-pages-")
	if err != nil {
		return nil, fmt.Errorf("temporary file of pages: %w; set TMPDIR to a folder that can be written to", err)
	}
	to, err := at.Create(name)
	if err != nil {
		return nil, errors.Join(err, pages.Close(), os.Remove(pages.Name()))
	}
	s := &wacz{lines: newCDXLines(), pages: pages, list: bufio.NewWriter(pages), to: to, zip: zip.NewWriter(to)}
	s.archive = newArchive("data", func(file string) (io.WriteCloser, error) {
		return s.begin("archive/"+file, zip.Store, s.first.page.Fetched) // uncompressed: readers seek in it
	}, s.add)
	_, err = s.list.WriteString(`{"format":"json-pages-1.0","id":"pages","title":"Pages"}` + "\n")
	return s, err
}

func (s *wacz) add(c capture) error {
	if c.at.After(s.newest) {
		s.newest = c.at
	}
	if !c.own {
		return s.lines.add(c)
	}
	p := c.page
	at := homePage{oneLine(p.URL), p.Fetched.UTC().Format(time.RFC3339)}
	if s.home == nil {
		s.home = &at
	}
	if !slices.Contains(s.names, p.Source.Name) {
		s.names = append(s.names, p.Source.Name)
	}
	line, err := jsonLine(struct {
		ID string `json:"id"`
		homePage
		Title string `json:"title,omitempty"`
		Size  int    `json:"size"`
	}{p.ID, at, p.Title, len(p.Body)})
	if err != nil {
		return err
	}
	if _, err := s.list.WriteString(line); err != nil {
		return err
	}
	return s.lines.add(c)
}

// zipEntry is a file in the package; the previous entry must be closed.
type zipEntry struct {
	of   *wacz
	name string
	to   io.Writer
	sum  hash.Hash
	n    int64
}

func (s *wacz) begin(name string, method uint16, date time.Time) (*zipEntry, error) {
	to, err := s.zip.CreateHeader(&zip.FileHeader{Name: name, Method: method, Modified: date.UTC()})
	return &zipEntry{of: s, name: name, to: to, sum: sha256.New()}, err
}

func (e *zipEntry) Write(b []byte) (int, error) {
	n, err := e.to.Write(b)
	e.sum.Write(b[:n])
	e.n += int64(n)
	return n, err
}

func (e *zipEntry) Close() error {
	e.of.resources = append(e.of.resources, resource{path.Base(e.name), e.name, fmt.Sprintf("sha256:%x", e.sum.Sum(nil)), e.n})
	return nil
}

func (s *wacz) file(name string, write func(io.Writer) error) error {
	e, err := s.begin(name, zip.Deflate, s.newest)
	if err != nil {
		return err
	}
	if err := write(e); err != nil {
		return err
	}
	return e.Close()
}

func (s *wacz) Finish(ctx context.Context) error {
	if err := s.archive.Finish(ctx); err != nil {
		return err
	}
	if err := s.file("indexes/index.cdx", func(w io.Writer) error { return s.lines.write(ctx, w) }); err != nil {
		return err
	}
	if err := s.file("pages/pages.jsonl", s.writePages); err != nil {
		return err
	}
	if err := s.describe(); err != nil {
		return err
	}
	return s.zip.Close()
}

func (s *wacz) writePages(w io.Writer) error {
	if err := s.list.Flush(); err != nil {
		return err
	}
	if _, err := s.pages.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err := io.Copy(w, s.pages)
	return err
}

// describe writes the list of resources and its digest. It declares version and profile of WACZ 1.1.1,
// since ReplayWeb.page 2.5.3 refuses the profile "wacz" of the 1.2 draft; all else follows that draft.
func (s *wacz) describe() error {
	date := s.newest.UTC().Format(time.RFC3339)
	title := "no pages"
	if len(s.names) > 0 {
		title = "Pages of " + strings.Join(s.names, ", ")
	}
	text, err := json.MarshalIndent(struct {
		Profile   string     `json:"profile"`
		Version   string     `json:"wacz_version"`
		Title     string     `json:"title"`
		Created   string     `json:"created"`
		Modified  string     `json:"modified"`
		Software  string     `json:"software"`
		Home      *homePage  `json:"home,omitempty"`
		Resources []resource `json:"resources"`
	}{"data-package", "1.1.1", title, date, date, "fossick", s.home, slices.Clone(s.resources)}, "", "  ")
	if err != nil {
		return err
	}
	digest := fmt.Sprintf("{\n  \"path\": \"datapackage.json\",\n  \"hash\": \"sha256:%x\"\n}\n", sha256.Sum256(text))
	for _, f := range []struct{ name, content string }{{"datapackage.json", string(text)}, {"datapackage-digest.json", digest}} {
		if err := s.file(f.name, func(w io.Writer) error {
			_, err := io.WriteString(w, f.content)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

func (s *wacz) Close() error {
	return errors.Join(closeAll(s.archive, s.lines, s.to, s.pages), os.Remove(s.pages.Name()))
}
