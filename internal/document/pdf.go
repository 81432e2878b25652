package document

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/klippa-app/go-pdfium"
	pdferrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/responses"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// maxPDFMemory bounds the memory of one instance of PDFium, in pages of 64 KiB.
const maxPDFMemory = 512 << 20 >> 16

// pdfPool starts PDFium, once and when the first PDF comes. It is compiled for this machine once:
// the result is kept in the user's cache folder, because compiling takes some seconds.
var pdfPool = sync.OnceValues(func() (pdfium.Pool, error) {
	config := wazero.NewRuntimeConfig().WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling).
		WithMemoryLimitPages(maxPDFMemory).WithCloseOnContextDone(true)
	if dir, err := os.UserCacheDir(); err == nil {
		if cache, err := wazero.NewCompilationCacheWithDir(filepath.Join(dir, "fossick", "pdfium")); err == nil {
			config = config.WithCompilationCache(cache)
		}
	}
	return webassembly.Init(webassembly.Config{
		MaxIdle: 1, MaxTotal: runtime.GOMAXPROCS(0), RuntimeConfig: config,
		FSConfig: wazero.NewFSConfig(), // PDFium sees no file
		Stdout:   io.Discard, Stderr: io.Discard,
	})
})

// readPDF reads the text of each page in reading order: titles of chapters by their size, links
// by their annotations and by the URLs in the text.
// It has time from when an instance of PDFium is free: the first start, and the documents before it,
// are not its own.
func readPDF(ctx context.Context, body []byte, w *writer) (err error) {
	pool, err := pdfPool()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrStart, err)
	}
	instance, err := pool.GetInstanceWithContext(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrStart, err)
	}
	ctx, cancel := timed(ctx)
	defer cancel()
	// A document may keep PDFium busy in one call, so that only the end of the instance stops it.
	stop := context.AfterFunc(ctx, func() { _ = instance.Kill() })
	defer func() {
		if !stop() {
			err = context.Cause(ctx)
			return
		}
		_ = instance.Close() // its memory goes with it
	}()
	doc, err := instance.OpenDocument(&requests.OpenDocument{File: &body})
	switch {
	case errors.Is(err, pdferrors.ErrPassword), errors.Is(err, pdferrors.ErrSecurity):
		return ErrLocked
	case err != nil:
		return fmt.Errorf("%w: %v", ErrDamaged, err)
	}
	p := &pdfReader{ctx: ctx, pdf: instance, doc: doc.Document, w: w}
	if err := p.read(); err != nil {
		return fmt.Errorf("%w: %v", ErrDamaged, err)
	}
	return nil
}

type pdfReader struct {
	ctx context.Context
	pdf pdfium.Pdfium
	doc references.FPDF_DOCUMENT
	w   *writer

	link string // to which the writer's open link leads
}

func (p *pdfReader) read() error {
	count, err := p.pdf.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: p.doc})
	if err != nil {
		return err
	}
	p.metadata()
	var pages []pdfPage
	var failed error
	began := time.Now()
	for i := 0; i < min(count.PageCount, maxPages) && p.ctx.Err() == nil && time.Since(began) < enoughTime; i++ {
		page, err := p.page(i)
		if err != nil {
			failed = cmp.Or(failed, err) // the other pages may be sound
			continue
		}
		pages = append(pages, page)
	}
	if len(pages) == 0 && failed != nil {
		return failed
	}
	p.write(pages)
	return nil
}

// metadata takes title, author, language and date, where the file says them.
func (p *pdfReader) metadata() {
	if l, err := p.pdf.FPDFCatalog_GetLanguage(&requests.FPDFCatalog_GetLanguage{Document: p.doc}); err == nil {
		p.w.lang = l.Language
	}
	tags, err := p.pdf.GetMetaData(&requests.GetMetaData{Document: p.doc})
	if err != nil {
		return
	}
	for _, t := range tags.Tags {
		switch value := strings.TrimSpace(t.Value); t.Tag {
		case "Title":
			if !noTitle.MatchString(value) {
				p.w.title = value
			}
		case "Author":
			p.w.author = value
		case "CreationDate":
			p.w.date = pdfDate(value)
		}
	}
}

// noTitle matches titles that programs put into files: names of files and of themselves.
var noTitle = regexp.MustCompile(`(?i)^(untitled.*|title|microsoft (word|powerpoint|excel) - .*|.*\.(docx?|pptx?|xlsx?|tex|dvi|indd|qxd|pdf|ps|eps|odt|rtf|pages|fm|wpd)|(document|slide|presentation|layout)\s*\d*|\W*)$`)

// pdfDate reads a date such as D:20240131120000+01'00'.
func pdfDate(s string) time.Time {
	s = strings.TrimPrefix(s, "D:")
	for _, layout := range []string{"20060102150405-07'00'", "20060102150405-07'00", "20060102150405Z", "20060102150405"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t
		}
	}
	if len(s) >= 8 {
		if t, err := time.Parse("20060102", s[:8]); err == nil {
			return t
		}
	}
	return time.Time{}
}

// pdfLine is a line of text on a page. Places are in points from the lower left corner.
type pdfLine struct {
	runs                     []pdfRun
	left, right, top, bottom float64
	size                     float64 // of its letters
	bold                     bool
}

// pdfRun is a part of a line that leads to one URL, or to none.
type pdfRun struct {
	text []byte
	link string
}

type pdfPage struct{ lines []pdfLine }

func (l *pdfLine) text() string {
	var b strings.Builder
	for _, r := range l.runs {
		b.Write(r.text)
	}
	return b.String()
}

// page reads the lines of a page in reading order.
func (p *pdfReader) page(index int) (pdfPage, error) {
	at, err := p.load(index)
	if err != nil {
		return pdfPage{}, err
	}
	links, found := p.links(at)
	// Where there are more annotations than links, these may be form fields and notes, whose text is
	// the page's once it is flattened and loaded anew.
	if all, err := p.pdf.FPDFPage_GetAnnotCount(&requests.FPDFPage_GetAnnotCount{Page: at}); err != nil || all.Count > found {
		flat, err := p.pdf.FPDFPage_Flatten(&requests.FPDFPage_Flatten{Page: at})
		if err == nil && flat.Result == responses.FPDFPage_FlattenResultSuccess {
			p.unload(at)
			if at, err = p.load(index); err != nil {
				return pdfPage{}, err
			}
		}
	}
	defer p.unload(at)
	loaded, err := p.pdf.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: at})
	if err != nil {
		return pdfPage{}, err
	}
	text := loaded.TextPage
	defer func() { _, _ = p.pdf.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: text}) }()
	count, err := p.pdf.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: text})
	if err != nil || count.Count <= 0 {
		return pdfPage{}, err
	}
	whole, err := p.pdf.FPDFText_GetText(&requests.FPDFText_GetText{TextPage: text, Count: min(count.Count, maxCharsOfPage)})
	if err != nil {
		return pdfPage{}, err
	}
	var lines []pdfLine
	first := 0 // index of the first letter of a line
	for raw := range strings.SplitAfterSeq(whole.Text, "\n") {
		if p.ctx.Err() != nil {
			return pdfPage{}, context.Cause(p.ctx)
		}
		letters := []rune(raw)
		if l, is := p.lineAt(text, first, strings.TrimRight(raw, "\r\n"), links); is {
			lines = append(lines, l)
		}
		first += len(letters)
	}
	return pdfPage{inReadingOrder(lines)}, nil
}

// lineAt returns the line whose first letter has an index in the text of a page; false if it says
// nothing. Each call of PDFium takes as long as some hundred letters, so that it asks for the places
// of single letters only where a link may be.
func (p *pdfReader) lineAt(text references.FPDF_TEXTPAGE, first int, raw string, links []pdfLink) (l pdfLine, is bool) {
	letters := []rune(raw)
	blanks := slices.IndexFunc(letters, func(r rune) bool { return strings.TrimSpace(cleanText(string(r))) != "" })
	if blanks < 0 {
		return l, false
	}
	from, to := p.charAt(text, first+blanks), p.charAt(text, first+len(letters)-1)
	if from < 0 || to < from {
		return l, false
	}
	if a, err := p.pdf.FPDFText_GetCharAngle(&requests.FPDFText_GetCharAngle{TextPage: text, Index: from}); err == nil && slanted(float64(a.CharAngle)) {
		return l, false
	}
	p.box(&l, text, from, to-from+1)
	l.size, l.bold = p.font(text, from)
	crossed := slices.DeleteFunc(slices.Clone(links), func(a pdfLink) bool {
		return a.right < l.left || a.left > l.right || a.top < l.bottom || a.bottom > l.top
	})
	if len(crossed) == 0 {
		l.runs = []pdfRun{{text: []byte(cleanText(raw))}}
		return l, true
	}
	for i, letter := range letters {
		s := cleanText(string(letter))
		if s == "" {
			continue
		}
		var at *responses.FPDFText_GetCharBox
		if !unicode.IsSpace(letter) {
			at, _ = p.pdf.FPDFText_GetCharBox(&requests.FPDFText_GetCharBox{TextPage: text, Index: p.charAt(text, first+i)})
		}
		l.add(s, at, crossed)
	}
	return l, true
}

// charAt returns the number of the character at an index in the text of a page; -1 if there is none.
func (p *pdfReader) charAt(text references.FPDF_TEXTPAGE, index int) int {
	r, err := p.pdf.FPDFText_GetCharIndexFromTextIndex(&requests.FPDFText_GetCharIndexFromTextIndex{TextPage: text, NTextIndex: index})
	if err != nil {
		return -1
	}
	return r.CharIndex
}

// box sets the place of a line by the boxes of its characters.
func (p *pdfReader) box(l *pdfLine, text references.FPDF_TEXTPAGE, from, n int) {
	rects, err := p.pdf.FPDFText_CountRects(&requests.FPDFText_CountRects{TextPage: text, StartIndex: from, Count: n})
	if err != nil {
		return
	}
	for i := range rects.Count {
		r, err := p.pdf.FPDFText_GetRect(&requests.FPDFText_GetRect{TextPage: text, Index: i})
		if err != nil {
			return
		}
		left, right, top, bottom := min(r.Left, r.Right), max(r.Left, r.Right), max(r.Top, r.Bottom), min(r.Top, r.Bottom)
		if l.left == l.right {
			l.left, l.right, l.top, l.bottom = left, right, top, bottom
		}
		l.left, l.right = min(l.left, left), max(l.right, right)
		l.top, l.bottom = max(l.top, top), min(l.bottom, bottom)
	}
}

func (p *pdfReader) load(index int) (requests.Page, error) {
	page, err := p.pdf.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: p.doc, Index: index})
	if err != nil {
		return requests.Page{}, err
	}
	return requests.Page{ByReference: &page.Page}, nil
}

func (p *pdfReader) unload(at requests.Page) {
	_, _ = p.pdf.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: *at.ByReference})
}

// slanted: text across the page is a stamp or a watermark.
func slanted(angle float64) bool {
	quarter := math.Abs(math.Remainder(angle, math.Pi/2))
	return quarter > .1
}

// font returns the size and weight of a letter as it is shown.
func (p *pdfReader) font(text references.FPDF_TEXTPAGE, index int) (size float64, bold bool) {
	if r, err := p.pdf.FPDFText_GetFontSize(&requests.FPDFText_GetFontSize{TextPage: text, Index: index}); err == nil {
		size = r.FontSize
	}
	if r, err := p.pdf.FPDFText_GetMatrix(&requests.FPDFText_GetMatrix{TextPage: text, Index: index}); err == nil {
		size *= math.Hypot(float64(r.Matrix.C), float64(r.Matrix.D))
	}
	if r, err := p.pdf.FPDFText_GetFontInfo(&requests.FPDFText_GetFontInfo{TextPage: text, Index: index}); err == nil {
		bold = strings.Contains(strings.ToLower(r.FontName), "bold")
	}
	return size, bold
}

// add adds a character to a line. A blank has no place of its own: at is nil.
func (l *pdfLine) add(s string, at *responses.FPDFText_GetCharBox, links []pdfLink) {
	link, n := "", len(l.runs)
	if at == nil && n > 0 {
		link = l.runs[n-1].link
	}
	if at != nil {
		x, y := (at.Left+at.Right)/2, (at.Top+at.Bottom)/2
		for _, a := range links {
			if x >= a.left && x <= a.right && y >= a.bottom && y <= a.top {
				link = a.to
				break
			}
		}
	}
	if n > 0 && l.runs[n-1].link == link {
		l.runs[n-1].text = append(l.runs[n-1].text, s...)
		return
	}
	l.runs = append(l.runs, pdfRun{[]byte(s), link})
}

// cleanText drops characters that are no text, and takes ligatures apart.
func cleanText(s string) string {
	s = ligatures.Replace(s)
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\r' || r == '\n' || r == '\u00A0':
			return ' '
		case r == '\u0002' || r == '\uFFFE' || r == '\uFFFF' || r == unicode.ReplacementChar || unicode.IsControl(r):
			return -1
		}
		return r
	}, s)
}

var ligatures = strings.NewReplacer("\uFB00", "ff", "\uFB01", "fi", "\uFB02", "fl", "\uFB03", "ffi", "\uFB04", "ffl", "\uFB05", "st", "\uFB06", "st")

type pdfLink struct {
	to                       string
	left, right, top, bottom float64
}

// maxCharsOfPage bounds the characters of a page that are read.
const maxCharsOfPage = 200_000

// maxLinksOfPage bounds the annotations of a page that are read.
const maxLinksOfPage = 1000

// links returns the annotations of a page that lead to a URL, and the number of all links, also to
// places in the document.
func (p *pdfReader) links(at requests.Page) (links []pdfLink, all int) {
	start := 0
	for range maxLinksOfPage {
		next, err := p.pdf.FPDFLink_Enumerate(&requests.FPDFLink_Enumerate{Page: at, StartPos: start})
		if err != nil || next.Link == nil || next.NextStartPos == nil {
			break
		}
		start = *next.NextStartPos
		all++
		action, err := p.pdf.FPDFLink_GetAction(&requests.FPDFLink_GetAction{Link: *next.Link})
		if err != nil || action.Action == nil {
			continue
		}
		uri, err := p.pdf.FPDFAction_GetURIPath(&requests.FPDFAction_GetURIPath{Document: p.doc, Action: *action.Action})
		if err != nil || uri.URIPath == nil || !absolute(*uri.URIPath) {
			continue
		}
		rect, err := p.pdf.FPDFLink_GetAnnotRect(&requests.FPDFLink_GetAnnotRect{Link: *next.Link})
		if err != nil || rect.Rect == nil {
			continue
		}
		r := rect.Rect
		links = append(links, pdfLink{*uri.URIPath, float64(min(r.Left, r.Right)), float64(max(r.Left, r.Right)), float64(max(r.Top, r.Bottom)), float64(min(r.Top, r.Bottom))})
	}
	return links, all
}

// inReadingOrder sorts the lines of a page that the file has in another order: it cuts the page
// along the widest empty band, left before right and top before bottom (recursive X-Y cut), where
// the order of the file jumps up within a column.
func inReadingOrder(lines []pdfLine) []pdfLine {
	jumps := 0
	for i := 1; i < len(lines); i++ {
		a, b := &lines[i-1], &lines[i]
		if b.bottom > a.top && b.left < a.right && b.right > a.left {
			jumps++
		}
	}
	if jumps*10 < len(lines) {
		return lines
	}
	return cutXY(lines, 0)
}

func cutXY(lines []pdfLine, depth int) []pdfLine {
	if len(lines) < 2 || depth > 50 {
		return lines
	}
	if a, b, ok := split(lines, func(l *pdfLine) (float64, float64) { return l.left, l.right }, 12); ok {
		return append(cutXY(a, depth+1), cutXY(b, depth+1)...)
	}
	if a, b, ok := split(lines, func(l *pdfLine) (float64, float64) { return -l.top, -l.bottom }, 0); ok {
		return append(cutXY(a, depth+1), cutXY(b, depth+1)...)
	}
	slices.SortStableFunc(lines, func(a, b pdfLine) int { return cmp.Compare(b.top, a.top) })
	return lines
}

// split divides lines at the widest gap of their extents, if it is wider than least.
func split(lines []pdfLine, extent func(*pdfLine) (from, to float64), least float64) (before, after []pdfLine, ok bool) {
	sorted := slices.Clone(lines)
	slices.SortStableFunc(sorted, func(a, b pdfLine) int {
		x, _ := extent(&a)
		y, _ := extent(&b)
		return cmp.Compare(x, y)
	})
	at, widest := 0, least
	_, end := extent(&sorted[0])
	for i := 1; i < len(sorted); i++ {
		from, to := extent(&sorted[i])
		if from-end > widest {
			at, widest = i, from-end
		}
		end = max(end, to)
	}
	if at == 0 {
		return nil, nil, false
	}
	return sorted[:at:at], sorted[at:], true
}

// write joins lines to paragraphs and headings.
func (p *pdfReader) write(pages []pdfPage) {
	body := bodySize(pages)
	if p.w.title == "" {
		p.w.title = titleOf(pages, body)
	}
	var last *pdfLine
	for _, page := range pages {
		for i := range page.lines {
			l := &page.lines[i]
			level := headingLevel(l, body)
			switch {
			case level > 0 && (last == nil || i == 0 || headingLevel(last, body) != level || last.bottom-l.top > 1.5*l.size):
				p.w.heading(level)
			case level > 0:
				p.w.text(" ")
			case last == nil || headingLevel(last, body) > 0 || newParagraph(last, l):
				p.w.block("p")
			}
			p.line(l, last)
			last = l
		}
	}
	p.w.end()
}

// line writes a line. A hyphen at the end of the line before goes if a small letter follows, and
// a link goes on if the line before ends in it.
func (p *pdfReader) line(l, last *pdfLine) {
	text := l.text()
	if len(l.runs) > 0 && l.runs[0].link != p.link {
		p.w.linkClose()
	}
	if last != nil && p.w.open != "" && !p.w.empty {
		before := strings.TrimRight(last.text(), " ")
		first := []rune(strings.TrimLeft(text, " ") + " ")[0]
		if strings.HasSuffix(before, "-") && len(before) > 1 && unicode.IsLower(first) && unicode.IsLetter(rune(before[len(before)-2])) {
			p.w.unhyphen()
		} else {
			p.w.text(" ")
		}
	}
	for _, r := range l.runs {
		switch {
		case r.link == "":
			p.w.linkClose()
			p.w.linkURLs(string(r.text))
			continue
		case !p.w.linked || r.link != p.link:
			p.w.linkOpen(r.link)
			p.link = r.link
		}
		p.w.text(string(r.text))
	}
}

// newParagraph: a gap, another size, an indented line, or another column or page.
func newParagraph(last, l *pdfLine) bool {
	gap := last.bottom - l.top
	height := max(l.top-l.bottom, 1)
	if gap < -2*height {
		return !goesOn(last, l)
	}
	return gap > .8*max(height, l.size) || math.Abs(last.size-l.size) > .1*max(l.size, 1) || l.left > last.left+1.2*height && l.left < last.right
}

// goesOn reports whether a paragraph continues in the next column or on the next page: after a full
// line that ends no sentence.
func goesOn(last, l *pdfLine) bool {
	text := strings.TrimSpace(last.text())
	return len(text) >= 40 && !strings.ContainsAny(text[len(text)-1:], ".!?:") &&
		math.Abs(last.size-l.size) <= .1*max(l.size, 1) && last.right-last.left >= .9*(l.right-l.left)
}

// bodySize returns the size of most letters.
func bodySize(pages []pdfPage) float64 {
	letters := map[float64]int{}
	for _, page := range pages {
		for i := range page.lines {
			l := &page.lines[i]
			letters[math.Round(l.size*2)/2] += len(l.text())
		}
	}
	best, most := 0.0, 0
	for size, n := range letters {
		if n > most || n == most && size < best {
			best, most = size, n
		}
	}
	return best
}

// headingLevel is 0 for text, and by size for a short line that is larger than the body's.
func headingLevel(l *pdfLine, body float64) int {
	n := len([]rune(strings.TrimSpace(l.text())))
	switch {
	case body == 0 || n < 2 || n > 150:
		return 0
	case l.size >= 1.6*body:
		return 2
	case l.size >= 1.25*body:
		return 3
	case l.size >= 1.08*body && l.bold:
		return 4
	}
	return 0
}

// titleOf returns the largest text of the first page with text.
func titleOf(pages []pdfPage, body float64) string {
	for _, page := range pages {
		largest := 0.0
		for i := range page.lines {
			if len(strings.TrimSpace(page.lines[i].text())) > 3 {
				largest = max(largest, page.lines[i].size)
			}
		}
		if largest == 0 {
			continue
		}
		if largest < 1.15*body {
			return ""
		}
		var parts []string
		for i := range page.lines {
			l := &page.lines[i]
			if l.size >= .98*largest && len(strings.Join(parts, " ")) < 200 {
				parts = append(parts, strings.TrimSpace(l.text()))
			} else if len(parts) > 0 {
				break
			}
		}
		return strings.Join(parts, " ")
	}
	return ""
}
