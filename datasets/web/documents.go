package web

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/unicode/bidi"

	"fossick/datasets"
	"fossick/internal/page"
)

// documentKind is a type of document as which a page can be served.
type documentKind struct {
	media string
	write func(d *written) []byte
}

var documentKinds = []documentKind{
	{"application/pdf", (*written).pdf},
	{"application/vnd.openxmlformats-officedocument.wordprocessingml.document", (*written).word},
	{"application/epub+zip", (*written).book},
}

// documentOf chooses the kind of document that a page is served as; nil for a page that stays.
func (w *Web) documentOf(key string, e *datasets.Example) *documentKind {
	if e.HTML == "" || w.draw.uniform("document", key) >= w.opt.Documents {
		return nil
	}
	return &documentKinds[int(w.draw.uniform("kind of document", key)*float64(len(documentKinds)))]
}

// asDocument returns a page as a document with its title, text, headings and links.
func (k *documentKind) asDocument(key, html string) ([]byte, error) {
	p, err := page.Parse([]byte(html), page.ParseOptions{URL: key, ContentType: "text/html; charset=utf-8"})
	if err != nil {
		return nil, err
	}
	return k.write(writtenOf(p)), nil
}

// written is the content of a document.
type written struct {
	title, lang string
	lines       []writtenLine
}

type writtenLine struct {
	heading bool
	runs    []writtenRun
}

// writtenRun is a text; to is the URL to which it links, or "".
type writtenRun struct{ text, to string }

// writtenOf puts each link at its anchor in the text. Links without one are listed at the end.
func writtenOf(p *page.Page) *written {
	d := &written{title: p.Title, lang: p.Lang}
	headings := strings.Split(p.Headings, "\n")
	var loose []page.Link
	done := 0 // bytes of the text that are written
	var l writtenLine
	write := func(text, to string) {
		for i, part := range strings.Split(text, "\n") {
			if i > 0 {
				d.lines, l = append(d.lines, l), writtenLine{}
			}
			if len(l.runs) == 0 && len(headings) > 0 && headings[0] != "" && part == headings[0] {
				l.heading, headings = true, headings[1:]
			}
			if part != "" {
				l.runs = append(l.runs, writtenRun{part, to})
			}
		}
	}
	for _, link := range p.Links {
		at := anchorOf(p.Text, &link, done)
		if at < 0 {
			loose = append(loose, link)
			continue
		}
		write(p.Text[done:at], "")
		write(link.Anchor, link.URL)
		done = at + len(link.Anchor)
	}
	write(p.Text[done:], "")
	d.lines = append(d.lines, l)
	for _, l := range loose {
		text := l.Anchor
		if strings.TrimSpace(text) == "" {
			text = l.URL
		}
		d.lines = append(d.lines, writtenLine{runs: []writtenRun{{text, l.URL}}})
	}
	return d
}

// anchorOf returns the place of a link's anchor in the text from a place on; -1 if it has none.
// A link without words around it is a line of its own.
func anchorOf(text string, l *page.Link, from int) int {
	before, after := int(l.Around[0].End), int(l.Around[1].Start)
	at := -1
	switch {
	case strings.TrimSpace(l.Anchor) == "":
	case before > 0 && before <= len(text):
		if i := strings.Index(text[before:], l.Anchor); i >= 0 {
			at = before + i
		}
	case after > 0 && after <= len(text):
		at = strings.LastIndex(text[:after], l.Anchor)
	default:
		if i := strings.Index("\n"+text[from:]+"\n", "\n"+l.Anchor+"\n"); i >= 0 {
			at = from + i
		}
	}
	if at < from {
		return -1
	}
	return at
}

func escapedXML(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder never fails
	return b.String()
}

// packed returns a zip archive; names and texts alternate.
func packed(parts ...string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		method := zip.Deflate
		if parts[i] == "mimetype" {
			method = zip.Store
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: parts[i], Method: method})
		if err == nil {
			_, _ = w.Write([]byte(parts[i+1])) // a Buffer never fails
		}
	}
	_ = z.Close() // likewise
	return b.Bytes()
}

// book returns an EPUB of one chapter.
func (d *written) book() []byte {
	var text strings.Builder
	for _, l := range d.lines {
		tag := "p"
		if l.heading {
			tag = "h2"
		}
		text.WriteString("<" + tag + ">")
		for _, r := range l.runs {
			if r.to != "" {
				fmt.Fprintf(&text, `<a href="%s">%s</a>`, escapedXML(r.to), escapedXML(r.text))
			} else {
				text.WriteString(escapedXML(r.text))
			}
		}
		text.WriteString("</" + tag + ">\n")
	}
	return packed("mimetype", "application/epub+zip",
		"META-INF/container.xml", `<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles><rootfile full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>`,
		"book.opf", `<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>`+escapedXML(d.title)+`</dc:title><dc:language>`+escapedXML(d.lang)+
			`</dc:language></metadata><manifest><item id="text" href="text.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="text"/></spine></package>`,
		"text.xhtml", `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>`+escapedXML(d.title)+"</title></head><body>\n"+text.String()+"</body></html>")
}

// word returns a DOCX.
func (d *written) word() []byte {
	const office, pack = "http://schemas.openxmlformats.org/officeDocument/2006/relationships", "http://schemas.openxmlformats.org/package/2006/"
	const types = "application/vnd.openxmlformats-officedocument.wordprocessingml."
	var text, targets strings.Builder
	links := 0
	for _, l := range d.lines {
		text.WriteString("<w:p>")
		if l.heading {
			text.WriteString(`<w:pPr><w:pStyle w:val="Heading2"/></w:pPr>`)
		}
		for _, r := range l.runs {
			run := `<w:r><w:t xml:space="preserve">` + escapedXML(r.text) + "</w:t></w:r>"
			if r.to != "" {
				links++
				fmt.Fprintf(&targets, `<Relationship Id="l%d" Type="%s/hyperlink" Target="%s" TargetMode="External"/>`, links, office, escapedXML(r.to))
				run = fmt.Sprintf(`<w:hyperlink r:id="l%d">%s</w:hyperlink>`, links, run)
			}
			text.WriteString(run)
		}
		text.WriteString("</w:p>\n")
	}
	return packed(
		"[Content_Types].xml", `<Types xmlns="`+pack+`content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="`+types+`document.main+xml"/><Override PartName="/word/styles.xml" ContentType="`+types+`styles+xml"/></Types>`,
		"_rels/.rels", `<Relationships xmlns="`+pack+`relationships"><Relationship Id="d" Type="`+office+`/officeDocument" Target="word/document.xml"/></Relationships>`,
		"docProps/core.xml", `<cp:coreProperties xmlns:cp="`+pack+`metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>`+escapedXML(d.title)+`</dc:title><dc:language>`+escapedXML(d.lang)+`</dc:language></cp:coreProperties>`,
		"word/_rels/document.xml.rels", `<Relationships xmlns="`+pack+`relationships">`+targets.String()+`</Relationships>`,
		"word/styles.xml", `<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:style w:type="paragraph" w:styleId="Heading2"><w:name w:val="heading 2"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style></w:styles>`,
		"word/document.xml", `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="`+office+`"><w:body>`+text.String()+`</w:body></w:document>`)
}

// The layout of a PDF, in points. The letters of Courier are all as wide as .6 of the size, so
// that no table of widths is needed.
const (
	pdfSize, pdfHeading = 10, 14
	pdfLeft, pdfTop     = 60, 740
	pdfBottom           = 60
	pdfColumns          = 82 // letters a line
)

// pdfWriter lays out lines on pages.
type pdfWriter struct {
	objects []string // by number, from 1: five of the document, then for each page its own, its content, its links
	pages   []string // references
	content strings.Builder
	links   []string // references of the page
	y       int      // of the last row

	others []rune       // letters that Courier's encoding does not have
	codes  map[rune]int // their places in others
}

// pdfLetter is a letter and the URL to which it links, or "".
type pdfLetter struct {
	letter rune
	to     string
}

// pdf returns a PDF.
func (d *written) pdf() []byte {
	w := &pdfWriter{y: pdfTop, objects: make([]string, 5), codes: map[rune]int{}}
	for _, l := range d.lines {
		w.line(l)
	}
	w.endPage()
	w.objects[0] = "<</Type/Catalog/Pages 2 0 R/Lang" + pdfString(d.lang) + ">>"
	w.objects[1] = fmt.Sprintf("<</Type/Pages/Kids[%s]/Count %d>>", strings.Join(w.pages, " "), len(w.pages))
	w.objects[2] = "<</Type/Font/Subtype/Type1/BaseFont/Courier/Encoding/WinAnsiEncoding>>"
	w.objects[3] = "<</Title<FEFF" + hexUTF16(d.title) + ">>>"
	w.objects[4] = "<</Font<</F0 3 0 R" + w.fonts() + ">>>>"
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	at := make([]int, len(w.objects))
	for i, o := range w.objects {
		at[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj%s\nendobj\n", i+1, o)
	}
	table := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, n := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", n)
	}
	fmt.Fprintf(&b, "trailer<</Size %d/Root 1 0 R/Info 4 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(at)+1, table)
	return b.Bytes()
}

// pdfCodes is how many letters a further font has, from the code '0' on.
const pdfCodes = 64

// code returns the number of the font and the code in it that show a letter.
func (w *pdfWriter) code(letter rune) (font int, code byte) {
	if code, has := charmap.Windows1252.EncodeRune(letter); has {
		return 0, code
	}
	at, known := w.codes[letter]
	if !known {
		at = len(w.others)
		w.codes[letter], w.others = at, append(w.others, letter)
	}
	return 1 + at/pdfCodes, byte('0' + at%pdfCodes)
}

// fonts adds the further fonts, which look like Courier but say which letters are meant.
func (w *pdfWriter) fonts() string {
	var all, codes strings.Builder
	for i, letters := range slices.Collect(slices.Chunk(w.others, pdfCodes)) {
		codes.Reset()
		for at, letter := range letters {
			fmt.Fprintf(&codes, "<%02X><%s>\n", '0'+at, hexUTF16(string(letter)))
		}
		table := fmt.Sprintf("begincmap\n1 begincodespacerange\n<00><FF>\nendcodespacerange\n%d beginbfchar\n%sendbfchar\nendcmap\n", len(letters), codes.String())
		meant := w.add(fmt.Sprintf("<</Length %d>>stream\n%sendstream", len(table), table))
		fmt.Fprintf(&all, "/F%d %s", i+1, w.add("<</Type/Font/Subtype/Type1/BaseFont/Courier/Encoding/WinAnsiEncoding/ToUnicode "+meant+">>"))
	}
	return all.String()
}

func hexUTF16(s string) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(s)) {
		fmt.Fprintf(&b, "%04X", unit)
	}
	return b.String()
}

// add adds an object and returns its reference.
func (w *pdfWriter) add(object string) string {
	w.objects = append(w.objects, object)
	return fmt.Sprintf("%d 0 R", len(w.objects))
}

func (w *pdfWriter) endPage() {
	content := w.add(fmt.Sprintf("<</Length %d>>stream\n%sendstream", w.content.Len(), w.content.String()))
	w.pages = append(w.pages, w.add("<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources 5 0 R/Contents "+content+"/Annots["+strings.Join(w.links, " ")+"]>>"))
	w.content.Reset()
	w.links, w.y = nil, pdfTop
}

// line writes a paragraph, broken into rows at blanks.
func (w *pdfWriter) line(l writtenLine) {
	size := pdfSize
	if w.y -= pdfSize; l.heading {
		size = pdfHeading
		w.y -= pdfHeading
	}
	var letters []pdfLetter
	for _, r := range l.runs {
		for _, letter := range r.text {
			letters = append(letters, pdfLetter{letter, r.to})
		}
	}
	for len(letters) > 0 {
		if w.y -= size + 2; w.y < pdfBottom {
			w.endPage()
		}
		n := fitting(letters, pdfColumns*pdfSize/size)
		w.show(letters[:n], size)
		letters = letters[n:]
	}
}

// fitting returns how many letters fit into a row: whole words, unless the word is longer.
func fitting(letters []pdfLetter, columns int) int {
	if len(letters) <= columns {
		return len(letters)
	}
	for n := columns; n > 0; n-- {
		if letters[n].letter == ' ' {
			return n + 1
		}
	}
	return columns
}

// leftToRight reverses each word that is read from right to left, as readers expect it of a row that
// is written from left to right.
func leftToRight(row []pdfLetter) {
	for from := 0; from < len(row); from++ {
		to := from
		for ; to < len(row); to++ {
			class, _ := bidi.LookupRune(row[to].letter)
			if c := class.Class(); c != bidi.R && c != bidi.AL && (c != bidi.NSM || to == from) {
				break
			}
		}
		slices.Reverse(row[from:to])
		from = max(from, to)
	}
}

// show writes a row, and the links on it.
func (w *pdfWriter) show(row []pdfLetter, size int) {
	leftToRight(row)
	fmt.Fprintf(&w.content, "BT %d %d Td\n", pdfLeft, w.y)
	for from := 0; from < len(row); {
		font, code := w.code(row[from].letter)
		text, to := []byte{code}, from+1
		for ; to < len(row); to++ {
			other, code := w.code(row[to].letter)
			if other != font {
				break
			}
			text = append(text, code)
		}
		fmt.Fprintf(&w.content, "/F%d %d Tf %s Tj\n", font, size, pdfString(string(text)))
		from = to
	}
	w.content.WriteString("ET\n")
	width := .6 * float64(size)
	for from := 0; from < len(row); {
		to := from + 1
		for to < len(row) && row[to].to == row[from].to {
			to++
		}
		if url := row[from].to; url != "" {
			w.links = append(w.links, w.add(fmt.Sprintf("<</Type/Annot/Subtype/Link/Border[0 0 0]/Rect[%.1f %d %.1f %d]/A<</S/URI/URI%s>>>>",
				pdfLeft+width*float64(from), w.y-2, pdfLeft+width*float64(to), w.y+size-2, pdfString(url))))
		}
		from = to
	}
}

var pdfEscapes = strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`, "\r", " ", "\n", " ")

// pdfString returns bytes as a string of a PDF.
func pdfString(s string) string { return "(" + pdfEscapes.Replace(s) + ")" }
