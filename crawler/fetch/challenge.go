package fetch

import (
	"bytes"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"fossick/internal/page"
)

// Edges put challenges and blocks before pages: a script to run, a puzzle to solve, a refusal.
// fossick recognises them so that none is stored as a page. It solves none.

const (
	// doorBytes bounds the body of a challenge. Of a refusal, aheadBytes are read.
	doorBytes = 64 << 10
	// doorText bounds the visible text of a challenge where its sign gives no bound.
	doorText = 2000
	// doorLinks bounds the links of a challenge.
	doorLinks = 20
)

// refusals are the statuses, besides 200, with which edges send challenges. Only their bodies
// are read.
var refusals = []int{
	http.StatusAccepted, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusNotAcceptable, http.StatusPreconditionFailed,
	http.StatusTeapot,
	http.StatusPreconditionRequired, http.StatusTooManyRequests, http.StatusServiceUnavailable,
}

// A sign is one way to recognise a challenge: all conditions given must hold. Visible text is
// never a condition by itself, so that a page about challenges is none.
type sign struct {
	edge    string
	status  int      // the answer's status; 0 for any
	refused bool     // the status is one of refusals
	blocked bool     // … and neither 429 nor 503, which pass
	header  string   // a header field in canonical form, …
	value   string   // … which begins so; "" for any value
	cookie  string   // beginning of a name that Set-Cookie sets
	ref     string   // in a URL that the page loads, sends a form to or refreshes to
	mark    string   // id or a class of an element that holds a challenge
	code    []string // in inline scripts
	text    string   // in the visible text
	most    int      // bytes of visible text [doorText]
	alone   bool     // no script from elsewhere
	wall    bool     // no field for a person to fill in and at most two links
}

// signs lists the challenges and blocks of the large edges, then of common tools, then plain
// ones. A sign of the header alone comes before those that need the body.
var signs = []sign{
	{edge: "Cloudflare", header: "Cf-Mitigated", value: "challenge"},
	{edge: "AWS WAF", header: "X-Amzn-Waf-Action"},
	{edge: "Vercel", header: "X-Vercel-Mitigated"},
	{edge: "SiteGround", header: "Sg-Captcha", value: "challenge"},
	{edge: "DataDome", header: "X-Dd-B", refused: true},
	{edge: "Kasada", header: "X-Kpsdk-Ct", refused: true},
	{edge: "Sucuri", header: "X-Sucuri-Block"},

	{edge: "Cloudflare", code: []string{"_cf_chl_opt"}},
	{edge: "Cloudflare", ref: "/orchestrate/jsch/"},
	{edge: "Cloudflare", ref: "__cf_chl_"},
	{edge: "Cloudflare", blocked: true, header: "Server", value: "cloudflare", mark: "cf-error-details"},
	{edge: "Cloudflare", blocked: true, header: "Server", value: "cloudflare", text: "error code: 10", most: 20},
	{edge: "Akamai", mark: "sec-if-cpt-container"},
	{edge: "Akamai", ref: "/_sec/cp_challenge/"},
	{edge: "Akamai", ref: "bm-verify="},
	{edge: "Akamai", blocked: true, header: "Server", value: "AkamaiGHost", text: "Reference #", most: 800},
	{edge: "AWS WAF", ref: ".awswaf.com/", mark: "challenge-container"},
	{edge: "AWS WAF", ref: ".awswaf.com/", mark: "captcha-container"},
	{edge: "CloudFront", blocked: true, header: "Server", value: "CloudFront", text: "Request blocked"},
	{edge: "Imperva", ref: "/_Incapsula_Resource?", mark: "main-iframe"},
	{edge: "Imperva", ref: "/_Incapsula_Resource?", most: 40},
	{edge: "Imperva", code: []string{"onProtectionInitialized"}, most: 800, wall: true},
	{edge: "DataDome", ref: "captcha-delivery.com/"},
	{edge: "DataDome", code: []string{"captcha-delivery.com"}},
	{edge: "HUMAN", mark: "px-captcha"},
	{edge: "HUMAN", ref: "captcha.px-c"},
	{edge: "HUMAN", refused: true, code: []string{"_pxAppId"}},
	{edge: "Fastly", ref: "/_fs-ch-", most: 600},
	{edge: "Fastly", status: http.StatusNotAcceptable, header: "X-Served-By", value: "cache-", most: 100},
	{edge: "F5", code: []string{`window["bobcmn"]`}, most: 200},
	{edge: "F5", ref: "/TSPD/", most: 40},
	{edge: "F5", cookie: "TS0", text: "support ID", most: 400},
	{edge: "F5", blocked: true, header: "Server", value: "volt-adc", text: "support ID", most: 400},
	{edge: "F5", code: []string{"_imp_apg_r_"}, most: 200},
	{edge: "Kasada", ref: "KP_UIDz="},
	{edge: "Kasada", ref: "x-kpsdk-im="},
	{edge: "Sucuri", code: []string{"sucuri_cloudproxy_js"}},
	{edge: "Sucuri", blocked: true, header: "X-Sucuri-Id", text: "Sucuri"},
	{edge: "Vercel", ref: "/.well-known/vercel/security/"},
	{edge: "DDoS-Guard", ref: "/.well-known/ddos-guard/", most: 800},
	{edge: "DDoS-Guard", ref: "check.ddos-guard.net/", most: 800},
	{edge: "Azure Front Door", blocked: true, header: "X-Azure-Ref", text: "request is blocked", most: 400},
	{edge: "Azure WAF", refused: true, code: []string{"azwaf_jsc"}}, // afd_ of Front Door, appgw_ of Application Gateway

	{edge: "Anubis", ref: "/.within.website/x/cmd/anubis/"},
	{edge: "Anubis", mark: "anubis_challenge"},
	{edge: "go-away", ref: "/.well-known/.git.gammaspectra.live/"},
	{edge: "BasedFlare", ref: "/.basedflare/"},
	{edge: "SiteGround", ref: "/.well-known/sgcaptcha/"},
	{edge: "Wordfence", refused: true, code: []string{"new Date().toUTCString()"}, text: "Generated by Wordfence"},
	{edge: "Qrator", ref: "/__qrator/", most: 600},
	{edge: "Radware", ref: "validate.perfdrive.com/"},
	{edge: "Alibaba Cloud", code: []string{"acw_sc__v2"}, most: 200},
	{edge: "testcookie", code: []string{"slowAES", "document.cookie"}, most: 200},

	{edge: "a captcha", mark: "g-recaptcha", most: 400, wall: true},
	{edge: "a captcha", mark: "h-captcha", most: 400, wall: true},
	{edge: "a captcha", mark: "cf-turnstile", most: 400, wall: true},
	{edge: "a captcha", mark: "frc-captcha", most: 400, wall: true},
	{edge: "a cookie by script", code: []string{"document.cookie", "location.reload"}, most: 100, wall: true, alone: true},
	{edge: "a cookie by script", status: http.StatusForbidden, code: []string{"document.cookie", "location"}, most: 400, wall: true, alone: true},
}

// challengeOf names the edge whose challenge or block page an answer is; "" for none. body is
// the whole body of a 200, or the beginning of another one.
func challengeOf(status int, h http.Header, media string, body []byte) string {
	d := newDoor(status, h, media, body)
	for i := range signs {
		if s := &signs[i]; d.shows(s) {
			return s.edge
		}
	}
	return ""
}

// door is what an answer shows of a challenge.
type door struct {
	status  int
	refused bool
	header  http.Header

	text    int // bytes of visible text; −1 for a body that is no challenge's
	words   []byte
	refs    []string
	marks   []string
	code    []byte
	fields  int
	loads   int // scripts from elsewhere
	anchors int
}

func newDoor(status int, h http.Header, media string, body []byte) door {
	d := door{status: status, refused: slices.Contains(refusals, status), header: h, text: -1}
	readable := media == "" || media == "text/html" || media == "application/xhtml+xml" || d.refused
	if !readable || len(body) > doorBytes {
		return d
	}
	if acts, is := thin(body, doorText); is && (acts || status != http.StatusOK || h["Set-Cookie"] != nil) {
		d.read(body)
	}
	return d
}

// shows reports whether all conditions of a sign hold.
func (d *door) shows(s *sign) bool {
	if (s.refused || s.blocked) && !d.refused || s.blocked && d.passes() || s.status != 0 && s.status != d.status {
		return false
	}
	if s.header != "" && !begins(d.header[s.header], s.value) {
		return false
	}
	if s.headerOnly() {
		return true
	}
	most := s.most
	if most == 0 {
		most = doorText
	}
	return d.text >= 0 && d.text <= most &&
		(s.cookie == "" || begins(d.header["Set-Cookie"], s.cookie)) &&
		(s.ref == "" || slices.ContainsFunc(d.refs, func(r string) bool { return strings.Contains(r, s.ref) })) &&
		(s.mark == "" || slices.Contains(d.marks, s.mark)) &&
		!slices.ContainsFunc(s.code, func(c string) bool { return !bytes.Contains(d.code, []byte(c)) }) &&
		(s.text == "" || bytes.Contains(d.words, []byte(s.text))) &&
		(!s.alone || d.loads == 0) &&
		(!s.wall || d.fields == 0 && d.anchors <= 2)
}

// passes reports a status that asks for patience.
func (d *door) passes() bool {
	return d.status == http.StatusTooManyRequests || d.status == http.StatusServiceUnavailable
}

// begins reports whether one of the values begins with prefix, in any case.
func begins(values []string, prefix string) bool {
	return slices.ContainsFunc(values, func(v string) bool {
		return len(v) >= len(prefix) && strings.EqualFold(v[:len(prefix)], prefix)
	})
}

// headerOnly reports a sign that needs no body.
func (s *sign) headerOnly() bool {
	return s.cookie == "" && s.ref == "" && s.mark == "" && len(s.code) == 0 && s.text == "" && s.most == 0 && !s.wall
}

// read collects the conditions' facts from a body, up to the bounds of a challenge.
func (d *door) read(body []byte) {
	z := html.NewTokenizer(bytes.NewReader(body))
	d.text = 0
	hidden := "" // the element whose text nobody sees
	for {
		switch z.Next() {
		case html.ErrorToken:
			return
		case html.TextToken:
			d.addText(hidden, z.Text())
			if d.text > doorText || d.anchors > doorLinks {
				d.text = -1
				return
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			attr := attributes(z, more)
			hidden = unseen(string(name), attr["type"])
			d.element(string(name), attr)
		case html.EndTagToken:
			if name, _ := z.TagName(); string(name) == hidden || string(name) == "script" {
				hidden = ""
			}
		}
	}
}

func (d *door) addText(hidden string, text []byte) {
	switch hidden {
	case "":
		if text = bytes.TrimSpace(text); len(text) > 0 {
			d.text += len(text)
			d.words = append(append(d.words, text...), ' ')
		}
	case "script": // of data, nothing runs
		d.code = append(append(d.code, text...), '\n')
	}
}

// unseen returns the name of an element whose text is not shown where scripts run, else "". A script
// of another type than JavaScript holds data.
func unseen(name, kind string) string {
	switch name {
	case "script":
		if kind != "" && kind != "module" && !strings.Contains(strings.ToLower(kind), "javascript") {
			return "data"
		}
		return name
	case "style", "noscript", "template", "title", "iframe", "textarea":
		return name
	}
	return ""
}

// attributes reads the attributes that signs are about.
func attributes(z *html.Tokenizer, more bool) map[string]string {
	var all map[string]string
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		switch string(key) {
		case "src", "action", "id", "class", "type", "content", "http-equiv", "href":
			if all == nil {
				all = map[string]string{}
			}
			all[string(key)] = string(value)
		}
	}
	return all
}

func (d *door) element(name string, attr map[string]string) {
	switch name {
	case "script":
		if attr["src"] != "" {
			d.loads++
		}
		d.marks = append(append(d.marks, strings.Fields(attr["class"])...), attr["id"])
		d.refs = append(d.refs, attr["src"])
	case "iframe", "embed", "div", "form", "span":
		d.marks = append(append(d.marks, strings.Fields(attr["class"])...), attr["id"])
		d.refs = append(d.refs, attr["src"]+attr["action"])
	case "link":
		d.refs = append(d.refs, attr["href"])
	case "img":
		d.refs = append(d.refs, attr["src"])
	case "meta":
		if strings.EqualFold(attr["http-equiv"], "refresh") {
			d.refs = append(d.refs, attr["content"])
		}
	case "a":
		d.anchors++
	case "textarea", "select":
		d.fields++
	case "input":
		switch strings.ToLower(attr["type"]) {
		case "hidden", "submit", "button", "image", "checkbox":
		default:
			d.fields++
		}
	}
}

// thin reports whether a body may be a challenge: it has at most so many bytes of text outside
// its tags, scripts and styles, few links, and something that acts by itself. It stops at the
// first byte or link too many: this is all that nearly every page without a challenge costs.
func thin(body []byte, most int) (acts, is bool) {
	for seen, links := 0, 0; len(body) > 0; {
		tag := bytes.IndexByte(body, '<')
		if tag < 0 {
			tag = len(body)
		}
		if seen += len(bytes.TrimSpace(body[:tag])); seen > most || links > doorLinks {
			return acts, false
		}
		if body = body[tag:]; len(body) < 3 {
			break
		}
		switch [2]byte{body[1] | 0x20, body[2] | 0x20} {
		case [2]byte{'s', 'c'}, [2]byte{'i', 'f'}: // script, iframe
			acts = true
		case [2]byte{'m', 'e'}: // meta, perhaps a refresh
			acts = acts || bytes.Contains(bytes.ToLower(body[:tagEnd(body)]), []byte("refresh"))
		case [2]byte{'a', ' '}:
			links++
		}
		body = body[tagEnd(body):]
	}
	return acts, true
}

// tagEnd returns the length of the tag at the front of b, with the content of a script, a
// style or a comment.
func tagEnd(b []byte) int {
	end := ">"
	switch {
	case bytes.HasPrefix(b, []byte("<!--")):
		end = "-->"
	case len(b) < 8 || b[1]|0x20 != 's':
	case bytes.EqualFold(b[1:7], []byte("script")):
		end = "</" + string(b[1:7]) + ">" // ends are spelled as beginnings are, in nearly all pages
	case bytes.EqualFold(b[1:6], []byte("style")):
		end = "</" + string(b[1:6]) + ">"
	}
	if i := bytes.Index(b, []byte(end)); i >= 0 {
		return i + len(end)
	}
	return len(b)
}

// challenged replaces the verdict on an answer that is a challenge or a block page.
func (a *answer) challenged(body []byte) bool {
	edge := challengeOf(a.status, a.header, page.MediaEssence(a.contentType), body)
	if edge != "" {
		a.refuse(StateChallenge, "the answer with status %d is a challenge or block page (%s); fossick solves none and does not disguise itself", a.status, edge)
	}
	return edge != ""
}

// head returns the beginning of the body of an answer that brings no page, as far as it comes
// in the time of an unwanted body. A body that breaks off changes no verdict.
func (a *answer) head() []byte {
	a.reader.ex.clock.enter(phaseDrain)
	head, _ := a.reader.ahead.Peek(aheadBytes)
	return head
}
