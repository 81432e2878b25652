package document

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/klippa-app/go-pdfium"

	"fossick/internal/testkit"
)

// pdf returns a file of one page with lines of text at 72 points from the left.
func pdf(info string, lines ...string) []byte {
	var content strings.Builder
	for i, l := range lines {
		size, text, _ := strings.Cut(l, " ")
		fmt.Fprintf(&content, "BT /F1 %s Tf 72 %d Td (%s) Tj ET\n", size, 720-30*i, text)
	}
	return testkit.PDF("/Root 1 0 R/Info 6 0 R",
		"<</Type/Catalog/Pages 2 0 R/Lang(en-GB)>>",
		"<</Type/Pages/Kids[3 0 R]/Count 1>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>/Annots[7 0 R]>>",
		fmt.Sprintf("<</Length %d>>stream\n%sendstream", content.Len(), content.String()),
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
		"<<"+info+">>",
		"<</Type/Annot/Subtype/Link/Rect[60 650 400 680]/A<</S/URI/URI(http://b.test/link)>>>>")
}

const (
	coreXML = `<cp:coreProperties xmlns:dc="d" xmlns:dcterms="t"><dc:title>Bees &amp; wax</dc:title><dc:creator>A. Keeper</dc:creator><dc:language>en</dc:language><dcterms:created>2024-02-03T04:05:06Z</dcterms:created></cp:coreProperties>`
	head    = `<title>Bees &amp; wax</title><meta name="author" content="A. Keeper"><meta name="date" content="2024-02-03T04:05:06Z">`
)

// documents are one document of each format, with what must be in its HTML.
func documents(t testing.TB) map[string]struct {
	body []byte
	want []string
} {
	rels := func(kind, id, target, mode string) string {
		return `<Relationships><Relationship Id="` + id + `" Type="x/` + kind + `" Target="` + target + `" TargetMode="` + mode + `"/></Relationships>`
	}
	return map[string]struct {
		body []byte
		want []string
	}{
		openXML + "wordprocessingml.document": {testkit.Zip(t, "docProps/core.xml", coreXML,
			"word/styles.xml", `<w:styles><w:style w:styleId="H"><w:name w:val="heading 2"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style></w:styles>`,
			"word/_rels/document.xml.rels", rels("hyperlink", "r1", "http://b.test/link", "External"),
			"word/document.xml", `<w:document xmlns:w="w"><w:body><w:p><w:pPr><w:pStyle w:val="H"/></w:pPr><w:r><w:t>The hive</w:t></w:r></w:p>
<w:p><w:r><w:t>Wax is </w:t></w:r><w:del><w:r><w:t>gone</w:t></w:r></w:del><w:hyperlink r:id="r1"><w:r><w:t>made</w:t></w:r></w:hyperlink><w:r><w:t> &lt;here&gt;.</w:t></w:r></w:p>
<w:p><w:r><w:instrText> HYPERLINK "http://c.test/" </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/><w:t>field</w:t><w:fldChar w:fldCharType="end"/></w:r></w:p>
<w:tbl><w:tr><w:tc><w:p><w:r><w:t>one</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>two</w:t></w:r></w:p></w:tc></w:tr></w:tbl></w:body></w:document>`),
			[]string{` lang="en"`, head, "<h2>The hive</h2>", `<p>Wax is <a href="http://b.test/link">made</a> &lt;here&gt;.</p>`, `<a href="http://c.test/">field</a>`, "<td>one </td>\n<td>two </td>"}},
		openXML + "presentationml.presentation": {testkit.Zip(t, "docProps/core.xml", coreXML,
			"ppt/_rels/presentation.xml.rels", rels("slide", "r7", "slides/slide1.xml", ""),
			"ppt/presentation.xml", `<p:presentation><p:sldIdLst><p:sldId id="256" r:id="r7"/></p:sldIdLst></p:presentation>`,
			"ppt/slides/slide1.xml", `<p:sld><p:sp><p:nvPr><p:ph type="title"/></p:nvPr><a:p><a:r><a:t>The hive</a:t></a:r></a:p></p:sp><p:sp><a:p><a:r><a:t>Wax is made.</a:t></a:r></a:p></p:sp></p:sld>`),
			[]string{head, "<h2>The hive</h2>", "<p>Wax is made.</p>"}},
		openXML + "spreadsheetml.sheet": {testkit.Zip(t, "docProps/core.xml", coreXML,
			"xl/_rels/workbook.xml.rels", rels("worksheet", "r1", "worksheets/sheet1.xml", ""),
			"xl/workbook.xml", `<workbook><sheets><sheet name="Harvest" r:id="r1"/></sheets></workbook>`,
			"xl/sharedStrings.xml", `<sst><si><t>wax</t></si></sst>`, "xl/styles.xml", `<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>`,
			"xl/worksheets/sheet1.xml", `<worksheet><sheetData><row><c t="s"><v>0</v></c><c><v>1.5</v></c><c s="1"><v>45325</v></c></row></sheetData></worksheet>`),
			[]string{head, "<h2>Harvest</h2>", "<tr><td>wax</td>\n<td>1.5</td>\n<td>2024-02-03</td>\n</tr>"}},
		openDocument + "text": {testkit.Zip(t, "mimetype", openDocument+"text", "meta.xml", coreXML, "content.xml",
			`<office:document-content><office:body><text:h text:outline-level="2">The hive</text:h><text:p>Wax<text:s text:c="2"/>is <text:a xlink:href="http://b.test/link">made</text:a>.</text:p>
<table:table table:name="T"><table:table-row><table:table-cell><text:p>one</text:p></table:table-cell></table:table-row></table:table></office:body></office:document-content>`),
			[]string{"<title>Bees &amp; wax</title>", "<h2>The hive</h2>", `<p>Wax  is <a href="http://b.test/link">made</a>.</p>`, "<td>one </td>"}},
		"application/epub+zip": {testkit.Zip(t, "mimetype", "application/epub+zip", "META-INF/container.xml", `<container><rootfile full-path="o/b.opf"/></container>`,
			"o/b.opf", `<package><metadata><dc:title>Bees &amp; wax</dc:title><dc:language>en</dc:language></metadata><manifest><item id="a" href="one.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>`,
			"o/one.xhtml", `<html><head><title>No</title></head><body><h2>The hive</h2><script>alert(1)</script><p onclick="x">Wax is <a href="http://b.test/link">made</a> <a href="two.xhtml">next</a>.</p></body></html>`),
			[]string{"<title>Bees &amp; wax</title>", "<h2>The hive</h2>", `<p>Wax is <a href="http://b.test/link">made</a> next.</p>`}},
		"application/rtf": {[]byte(`{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Times;}}{\info{\title Bees & wax}{\author A. Keeper}}{\*\generator x}\pard The h\'efve\par Wax is {\field{\*\fldinst HYPERLINK "http://b.test/link"}{\fldrslt made}}\u8212?here.\par}`),
			[]string{"<title>Bees &amp; wax</title>", "<p>The hïve</p>", `<p>Wax is <a href="http://b.test/link">made</a>—here.</p>`}},
		"text/markdown": {[]byte("# Bees & wax\n\n## The hive\n\nWax is [made](http://b.test/link), [see](more.md).\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n<script>x</script>\n"),
			[]string{"<title>Bees &amp; wax</title>", "<h2>The hive</h2>", `<a href="http://b.test/link">made</a>`, `<a href="more.md">see</a>`, "<td>2</td>"}},
		"application/rss+xml": {[]byte(`<rss><channel><title>Bees &amp; wax</title><link>http://b.test/</link><item><title>The hive</title><link>http://b.test/link</link><description>&lt;p&gt;Wax is made.&lt;/p&gt;</description></item></channel></rss>`),
			[]string{"<title>Bees &amp; wax</title>", "<h2>The hive</h2>", "<p>Wax is made.</p>", `<a href="http://b.test/link">The hive</a>`}},
		"application/atom+xml": {[]byte(`<feed><title>Bees &amp; wax</title><entry><title>The hive</title><link href="http://b.test/link"/><content type="xhtml"><div><p>Wax is <b>made</b>.</p></div></content></entry></feed>`),
			[]string{"<title>Bees &amp; wax</title>", "<h2>The hive</h2>", "Wax is  made", `<a href="http://b.test/link">The hive</a>`}},
		"application/pdf": {pdf("/Title(Bees & wax)/Author(A. Keeper)/CreationDate(D:20240203040506Z)", "24 The hive", "11 It is full of wax, and", "11 the wax is made here."),
			[]string{` lang="en-GB"`, head, "<h2>The hive</h2>", `<a href="http://b.test/link">the wax is made here.</a>`}},
	}
}

// TestPDFParagraphs: a paragraph goes on in the next column or on the next page after a full line that
// ends no sentence, and a link at the end of a line on the next one. Two headings stay two.
func TestPDFParagraphs(t *testing.T) {
	full := "the bees carry pollen to the hive and come back in"
	at := func(y float64, text, link string) pdfLine {
		return pdfLine{runs: []pdfRun{{[]byte(text), link}}, left: 72, right: 72 + 5*float64(len(text)), top: y + 4.3, bottom: y, size: 10}
	}
	heading := func(y float64, text string) pdfLine {
		l := at(y, text, "")
		l.size, l.top = 14, y+9
		return l
	}
	for _, test := range []struct {
		pages [][]pdfLine
		want  string
	}{
		{[][]pdfLine{{at(72, full, "")}, {at(700, "the evening.", ""), at(688, full, "")}}, "<p>" + full + " the evening. " + full + "</p>"},
		{[][]pdfLine{{at(72, full+".", "")}, {at(700, "In the evening", "")}}, "<p>" + full + ".</p> <p>In the evening</p>"},
		{[][]pdfLine{{at(72, "17", "")}, {at(700, full, "")}}, "<p>17</p> <p>" + full + "</p>"},
		{[][]pdfLine{{at(72, full, "http://a.test/"), at(60, "the evening", "http://a.test/"), at(48, "or later", "http://b.test/")}},
			`<p><a href="http://a.test/">` + full + ` the evening</a> <a href="http://b.test/">or later</a></p>`},
		{[][]pdfLine{{at(72, full, "http://a.test/"), at(60, "the evening", "")}}, `<p><a href="http://a.test/">` + full + `</a> the evening</p>`},
		{[][]pdfLine{{at(90, full, ""), heading(60, "The hive")}, {heading(700, "The queen"), at(680, full, ""), at(668, full, "")}},
			"<p>" + full + "</p> <h3>The hive</h3> <h3>The queen</h3> <p>" + full + " " + full + "</p>"},
	} {
		p := &pdfReader{w: &writer{}}
		var pages []pdfPage
		for _, lines := range test.pages {
			pages = append(pages, pdfPage{lines})
		}
		p.write(pages)
		if got := strings.Join(strings.Fields(p.w.body.String()), " "); got != test.want {
			t.Errorf("%s\nwant %s", got, test.want)
		}
	}
}

// TestPDFWaitsForPDFium: the time of the documents before it is not that of a PDF.
func TestPDFWaitsForPDFium(t *testing.T) {
	testkit.Only(t, "takes as long as a document may take")
	pool := testkit.Call(pdfPool()).Must(t)
	var held []pdfium.Pdfium
	for range runtime.GOMAXPROCS(0) {
		instance := testkit.Call(pool.GetInstance(time.Minute)).Must(t)
		held = append(held, instance)
	}
	time.AfterFunc(maxTime+time.Second, func() {
		for _, instance := range held {
			_ = instance.Close() // nothing was opened
		}
	})
	if _, _, err := ToHTML(t.Context(), pdf("", "11 text"), "application/pdf"); err != nil {
		t.Errorf("a PDF that waited for PDFium: %v", err)
	}
}

func TestDocuments(t *testing.T) {
	for media, d := range documents(t) {
		html, is, err := ToHTML(t.Context(), d.body, media+"; charset=x")
		if err != nil || !is {
			t.Errorf("%s: %v, %v", media, is, err)
			continue
		}
		for _, want := range d.want {
			if !strings.Contains(string(html), want) {
				t.Errorf("%s: %q is missing from\n%s", media, want, html)
			}
		}
		if strings.Contains(string(html), "<script") || strings.Contains(string(html), "alert") || strings.Contains(string(html), "gone") {
			t.Errorf("%s: it has what must be left out:\n%s", media, html)
		}
		if again, _, err := ToHTML(t.Context(), d.body, media); err != nil || !bytes.Equal(again, html) {
			t.Errorf("%s: a second reading differs, %v", media, err)
		}
		if got := Sniff(d.body); got != media && media != "text/markdown" && media != "application/rss+xml" && media != "application/atom+xml" {
			t.Errorf("%s is sniffed as %q", media, got)
		}
	}
}

// TestOthersAreLeft: what package page reads itself is returned as it is.
func TestOthersAreLeft(t *testing.T) {
	for _, media := range []string{"text/html", "text/plain; charset=utf-8", "image/png", ""} {
		if got, is, err := ToHTML(t.Context(), []byte("x"), media); string(got) != "x" || is || err != nil {
			t.Errorf("%q: %q, %v, %v", media, got, is, err)
		}
	}
}

// TestHostileDocuments: each ends with its reason, in little time and memory.
func TestHostileDocuments(t *testing.T) {
	const docx, odt = openXML + "wordprocessingml.document", openDocument + "text"
	many := make([]string, 0, 2*maxParts+2)
	for i := range maxParts + 1 {
		many = append(many, fmt.Sprint(i), "")
	}
	var zeros bytes.Buffer
	z := zip.NewWriter(&zeros)
	w := testkit.Call(z.Create("word/document.xml")).Must(t)
	for block := bytes.Repeat([]byte("<w:p/>"), 1<<16); zeros.Len() == 0 || block != nil; block = nil {
		for range maxUnpacked/len(block) + 1 {
			testkit.Call(w.Write(block)).Must(t)
		}
	}
	testkit.Must(t, z.Close())
	for name, c := range map[string]struct {
		media string
		body  []byte
		want  error
	}{
		"no archive":           {docx, []byte("text"), ErrDamaged},
		"too many files":       {docx, testkit.Zip(t, many...), ErrTooBig},
		"a bomb":               {docx, zeros.Bytes(), ErrTooBig},
		"no main part":         {docx, testkit.Zip(t, "a", "b"), ErrDamaged},
		"a locked document":    {docx, []byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"), ErrLocked},
		"a locked text":        {odt, testkit.Zip(t, "META-INF/manifest.xml", "<m:encryption-data/>", "content.xml", ""), ErrLocked},
		"broken XML":           {odt, testkit.Zip(t, "content.xml", "<a><b"), ErrDamaged},
		"an external entity":   {odt, testkit.Zip(t, "content.xml", `<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><text:p>&x;</text:p>`), nil},
		"entities of entities": {odt, testkit.Zip(t, "content.xml", `<!DOCTYPE a [<!ENTITY x "xxxxxxxxxx"><!ENTITY y "&x;&x;&x;">]><text:p>&y;</text:p>`), nil},
		"an empty text":        {odt, testkit.Zip(t, "content.xml", "<a/>"), ErrNoText},
		"deep groups":          {"text/rtf", []byte(`{\rtf` + strings.Repeat("{", 20_000)), ErrTooBig},
		"a number too large":   {"text/rtf", []byte(`{\rtf1\bin9223372036854775807 }`), ErrNoText},
		"quotes in quotes":     {"text/markdown", []byte(strings.Repeat(">", 1<<20)), ErrTooBig},
		"a tag of attributes":  {odt, testkit.Zip(t, "content.xml", "<a "+strings.Repeat("b ", maxToken)+">"), ErrTooBig},
		"a long paragraph":     {odt, testkit.Zip(t, "content.xml", "<text:p>"+strings.Repeat("&amp;", maxToken/10)+"</text:p>"), nil},
		"many blanks":          {odt, testkit.Zip(t, "content.xml", "<text:p>a"+strings.Repeat(`<text:s text:c="100"/>`, 200_000)+"</text:p>"), nil},
		"a field without end":  {docx, testkit.Zip(t, "word/document.xml", "<w:t>a</w:t>"+strings.Repeat("<w:instrText> HYPERLINK </w:instrText><w:fldChar/>", 50_000)), nil},
		"no rich text":         {"text/rtf", []byte("text"), ErrDamaged},
		"deep XML":             {"text/xml", []byte(strings.Repeat("<a>", 5_000)), ErrTooBig},
		"a map without text":   {"text/xml", []byte("<urlset><url><loc>http://a.test/</loc></url></urlset>"), ErrNoText},
		"no PDF":               {"application/pdf", []byte("%PDF-1.4 nothing"), ErrDamaged},
		"a scanned page":       {"application/pdf", pdf(""), ErrNoText},
	} {
		html, is, err := ToHTML(t.Context(), c.body, c.media)
		if !is || !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s: %v, %v, want %v", name, is, err, c.want)
		}
		if len(html) > 6*maxHTML {
			t.Errorf("%s: %d bytes of HTML", name, len(html))
		}
		if strings.Contains(string(html), "root:") || strings.Contains(string(html), "xxxxxxxxxx") {
			t.Errorf("%s: an entity was read: %s", name, html)
		}
	}
}

// TestEndOfContext: a document ends with its context, in Go and within PDFium.
func TestEndOfContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for media, d := range documents(t) {
		if _, _, err := ToHTML(ctx, d.body, media); err == nil {
			t.Errorf("%s is read after its end", media)
		}
	}
}

func TestNames(t *testing.T) {
	for s, want := range map[string]bool{"Microsoft Word - bees.doc": true, "bees.tex": true, "Untitled-1": true, "": true, "Bees and wax": false, "Document theory": false} {
		if got := noTitle.MatchString(s); got != want {
			t.Errorf("%q is no title: %v", s, got)
		}
	}
	for s, want := range map[string]time.Time{"D:20240203040506+01'00'": time.Date(2024, 2, 3, 3, 5, 6, 0, time.UTC), "D:20240203": time.Date(2024, 2, 3, 0, 0, 0, 0, time.UTC), "x": {}} {
		if got := pdfDate(s); !got.Equal(want) {
			t.Errorf("%q is %v, want %v", s, got, want)
		}
	}
}

// TestTwoColumns: the file has the lines of two columns by turns; they are read one after the other.
func TestTwoColumns(t *testing.T) {
	var lines []pdfLine
	for i := range 20 {
		for c, left := range []float64{50, 320} {
			lines = append(lines, pdfLine{left: left, right: left + 220, top: 700 - 12*float64(i), bottom: 690 - 12*float64(i), size: 10,
				runs: []pdfRun{{text: fmt.Append(nil, c, " ", i)}}})
		}
	}
	for i, j := 0, len(lines)-1; i < j; i, j = i+2, j-2 { // an order of the file that jumps
		lines[i], lines[j] = lines[j], lines[i]
	}
	for i, l := range inReadingOrder(lines) {
		if want := fmt.Sprint(i/20, " ", i%20); l.text() != want {
			t.Fatalf("line %d is %q, want %q", i, l.text(), want)
		}
	}
}

func fuzzed(f *testing.F, media ...string) {
	for m, d := range documents(f) {
		for i, name := range media {
			if m == name {
				f.Add(d.body, byte(i))
			}
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, which byte) {
		html, is, err := ToHTML(t.Context(), body, media[int(which)%len(media)])
		if !is || (err == nil) == (html == nil) {
			t.Fatal(is, err)
		}
		if strings.Contains(strings.ToLower(string(html)), "<script") || len(html) > 16*maxHTML {
			t.Fatalf("%d bytes: %.200s", len(html), html)
		}
	})
}

func FuzzOffice(f *testing.F) {
	fuzzed(f, openXML+"wordprocessingml.document", openXML+"presentationml.presentation", openXML+"spreadsheetml.sheet", openDocument+"text", "application/epub+zip")
}

func FuzzRichText(f *testing.F) { fuzzed(f, "application/rtf") }

func FuzzFeed(f *testing.F) { fuzzed(f, "application/rss+xml") }

func FuzzMarkdown(f *testing.F) { fuzzed(f, "text/markdown") }

func FuzzPDF(f *testing.F) { fuzzed(f, "application/pdf") }

// FuzzOfficeXML puts text into the main part of each office document, which a change of its
// packed bytes would hardly reach.
func FuzzOfficeXML(f *testing.F) {
	f.Add(`<w:document><w:p><w:t>a</w:t></w:p><w:tbl><w:tr><w:tc/></w:tr></w:tbl></w:document>`, byte(0))
	f.Add(`<sheetData><row><c t="s"><v>0</v></c></row></sheetData>`, byte(2))
	kinds := []struct{ media, part string }{
		{openXML + "wordprocessingml.document", "word/document.xml"}, {openXML + "presentationml.presentation", "ppt/slides/slide1.xml"},
		{openXML + "spreadsheetml.sheet", "xl/worksheets/sheet1.xml"}, {openDocument + "text", "content.xml"},
	}
	f.Fuzz(func(t *testing.T, text string, which byte) {
		k := kinds[int(which)%len(kinds)]
		body := testkit.Zip(t, k.part, text, "ppt/presentation.xml", `<p:sldId r:id="r"/>`, "ppt/_rels/presentation.xml.rels", `<Relationship Id="r" Type="x/slide" Target="slides/slide1.xml"/>`,
			"xl/workbook.xml", `<sheet name="a" r:id="r"/>`, "xl/_rels/workbook.xml.rels", `<Relationship Id="r" Target="worksheets/sheet1.xml"/>`)
		html, _, err := ToHTML(t.Context(), body, k.media)
		if (err == nil) == (html == nil) || strings.Contains(strings.ToLower(string(html)), "<script") {
			t.Fatalf("%v: %.200s", err, html)
		}
	})
}

// FuzzSniff: any bytes have a type that is read, or none.
func FuzzSniff(f *testing.F) {
	for _, d := range documents(f) {
		f.Add(d.body)
		f.Add(d.body[:min(len(d.body), 60)])
	}
	f.Fuzz(func(t *testing.T, head []byte) {
		if media := Sniff(head); media != "" && TypeOf(media) == "" {
			t.Errorf("%q is sniffed as %q, which is not read", head, media)
		}
	})
}
