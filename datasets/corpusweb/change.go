package corpusweb

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// movedTo ends the URL where a page is that has moved.
const movedTo = "?moved-here"

// sendVersion sends a page as it is by now, with words that tell how often it has changed;
// it answers conditional requests as sendPage does.
func (w *Web) sendVersion(rw http.ResponseWriter, r *http.Request, key string, en *entry) {
	if w.opt.Change.Mean <= 0 {
		w.sendPage(rw, r, en)
		return
	}
	t := w.Truth(key)
	now := w.at(t, time.Since(w.began))
	switch {
	case now.away && t.Absence == Moved:
		redirect(rw, key+movedTo, http.StatusMovedPermanently)
		return
	case now.away:
		code := http.StatusNotFound
		if w.draw.uniform("for good", key) < .5 {
			code = http.StatusGone
		}
		problem(rw, code, "the page is gone for a while")
		return
	}
	w.sendMoment(rw, r, en, now)
}

// sendMoved sends a page where it has moved to; false where none has.
func (w *Web) sendMoved(rw http.ResponseWriter, r *http.Request, key string) bool {
	home, is := strings.CutSuffix(key, movedTo)
	if !is || w.opt.Change.Mean <= 0 {
		return false
	}
	t := w.Truth(home)
	now := w.at(t, time.Since(w.began))
	en, _, ok := w.find(home)
	if !ok || !now.away || t.Absence != Moved {
		return false
	}
	w.sendMoment(rw, r, &en, now)
	return true
}

func (w *Web) sendMoment(rw http.ResponseWriter, r *http.Request, en *entry, now moment) {
	if now.text == 0 && now.advert == 0 {
		w.sendPage(rw, r, en)
		return
	}
	etag := fmt.Sprintf(`"%016x-%d-%d"`, en.sum, now.text, now.advert)
	modified := w.began.Add(now.last)
	rw.Header().Set("Etag", etag)
	rw.Header().Set("Last-Modified", modified.UTC().Format(http.TimeFormat))
	if unchanged(r, etag, modified) {
		rw.WriteHeader(http.StatusNotModified)
		return
	}
	rw.Header().Set("Content-Type", en.contentType())
	send(rw, r, revised(w.spool.read(en), en.text, now))
}

// revised is a body after so many changes. Those of the text stand where most of it is,
// which any reader takes for main text; those of adverts at the end of the page.
func revised(body []byte, plain bool, now moment) []byte {
	if plain {
		return fmt.Appendf(body, "\nRevision %d of this page.\n", now.text)
	}
	var out bytes.Buffer
	begin, end := longestText(body), len(body)
	if i := bytes.LastIndex(body, []byte("</body")); i >= begin {
		end = i
	}
	out.Write(body[:begin])
	if now.text > 0 {
		sentence := "By revision %d of this page, its authors have come to see the whole matter in another light. "
		if begin == len(body) {
			sentence = "<p>" + sentence
		}
		fmt.Fprintf(&out, sentence, now.text)
	}
	out.Write(body[begin:end])
	if now.advert > 0 {
		day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, int(now.advert%3650))
		fmt.Fprintf(&out, "\n<div class=\"ad sponsored\"><a href=\"/offers\">Offer %d: buy now</a></div><div class=\"footer\">Page made on %s</div>\n", now.advert, day.Format("2 January 2006"))
	}
	out.Write(body[end:])
	return out.Bytes()
}

// longestText returns where the longest text between two tags begins, the end of the page
// where there is none: texts stand in paragraphs, and on old pages in cells of tables.
func longestText(body []byte) (begin int) {
	begin = len(body)
	longest, at := 0, max(0, bytes.Index(body, []byte("<body")))
	for {
		tag := bytes.IndexByte(body[at:], '<')
		if tag < 0 {
			return begin
		}
		name := body[at+tag+1:]
		closing := bytes.IndexByte(name, '>')
		if closing < 0 {
			return begin
		}
		at += tag + 1 + closing + 1
		text := bytes.IndexByte(body[at:], '<')
		if text < 0 {
			text = len(body) - at
		}
		if text > longest && !bytes.HasPrefix(name, []byte("s")) && !bytes.HasPrefix(name, []byte("title")) && !bytes.HasPrefix(name, []byte("!--")) { // <script, <style
			longest, begin = text, at
		}
	}
}
