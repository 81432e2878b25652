package page

import (
	"bytes"
	"slices"
	"strings"
)

// DefaultDrop lists the parameters that normalisation removes: session IDs, which give a page a new
// URL on each visit, and tracking of campaigns and clicks. NewNormalizer documents the entries.
// Ambiguous names such as "ref", "source" and "cid" are not included.
func DefaultDrop() []string {
	return []string{
		// Sessions: PHP, Java servlets, ASP, ASP.NET (in the path), ColdFusion, Zen Cart,
		// osCommerce, xt:Commerce, SiteServer; then names that mean other things elsewhere (phpBB
		// has sid=, vBulletin s=).
		"phpsessid", "phpsessionid", "jsessionid", "aspsessionid*", aspNetSession, "cfid", "cftoken", "zenid", "oscsid", "xtcsid", "mscssid",
		"sessid={hex}", "sessionid={hex}", "session_id={hex}", "session-id={hex}", "session={hex}", "sid={hex}", "s={hex}", "bbsessionhash={hex}",
		// Campaigns: Urchin and its like, Matomo, Webtrends, comScore, AT Internet, Listrak.
		"utm_*", "itm_*", "mtm_*", "pk_*", "piwik_*", "matomo_*", "hsa_*", "wt_mc*", "wt.mc_*", "ns_mchannel", "ns_source", "ns_campaign",
		"ns_linkname", "ns_fee", "at_medium", "at_campaign", "at_custom*", "xtor", "trk_contact", "trk_msg", "trk_module", "trk_sid",
		// Clicks on advertisements: Google, Meta, Microsoft, Yandex, X, TikTok, LinkedIn,
		// Pinterest, Reddit, Snapchat, Taboola, Outbrain, affiliate nets, Adobe.
		"gclid", "gclsrc", "dclid", "gbraid", "wbraid", "gad_source", "gad_campaignid", "srsltid", "_ga", "_gl", "_gac", "_gid",
		"fbclid", "fb_action_ids", "fb_action_types", "fb_ref", "fb_source", "msclkid", "yclid", "ysclid", "ymclid", "_openstat",
		"twclid", "ttclid", "igshid", "igsh", "li_fat_id", "epik", "rdt_cid", "sccid", "rb_clickid", "tblci", "obclid", "dicbo",
		"irclickid", "irgwc", "cjevent", "zanpid", "s_kwcid", "ef_id", "_branch_match_id", "guccounter", "guce_referrer", "guce_referrer_sig",
		// Newsletters: Mailchimp, Marketo, HubSpot, Omeda, Vero, Klaviyo, MailerLite, ConvertKit,
		// Bronto, Drip, dotdigital, Eloqua, Blueshift.
		"mc_cid", "mc_eid", "mkt_tok", "_hsenc", "_hsmi", "__hssc", "__hstc", "__hsfp", "hsctatracking", "hss_channel", "oly_anon_id",
		"oly_enc_id", "vero_id", "vero_conv", "wickedid", "_kx", "_ke", "ml_subscriber", "ml_subscriber_hash", "ck_subscriber_id",
		"_bta_tid", "_bta_c", "__s", "dm_i", "elqtrackid", "elqtrack", "bsft_*",
	}
}

// aspNetSession matches segments like "(S(lit3py55t21z5v55vlm25s55))", cookieless ASP.NET sessions.
const aspNetSession = "(s())"

// hexOnly ends an entry that applies only to values that look like session IDs.
const hexOnly = "={hex}"

const maxDropName = 256 // a prefix may be followed by as much

// dropList decides which parameters are removed.
type dropList struct {
	names    map[string]bool // true: only with a value of hexadecimal digits
	prefixes []string
	segments bool // remove ASP.NET sessions
}

func newDropList(entries []string) dropList {
	d := dropList{names: make(map[string]bool, len(entries))}
	for _, e := range entries {
		e = strings.ToLower(e)
		if e == aspNetSession {
			d.segments = true
		} else if prefix, ok := strings.CutSuffix(e, "*"); ok {
			d.prefixes = append(d.prefixes, prefix)
		} else {
			name, hex := strings.CutSuffix(e, hexOnly)
			d.names[name] = hex
		}
	}
	return d
}

// has reports whether a parameter, "name=value" or "name", is removed.
func (d *dropList) has(param []byte) bool {
	name, value, _ := bytes.Cut(param, []byte{'='})
	if len(name) > maxDropName {
		return false
	}
	var arr [maxDropName]byte
	name = appendLower(arr[:0], name)
	if hex, listed := d.names[string(name)]; listed && (!hex || isHexToken(value)) {
		return true
	}
	for _, prefix := range d.prefixes {
		if bytes.HasPrefix(name, []byte(prefix)) {
			return true
		}
	}
	return false
}

func isHexToken(v []byte) bool {
	for _, c := range v {
		if unhex(c) > 15 {
			return false
		}
	}
	return len(v) >= 16
}

// cutPathParams removes parameters like ";jsessionid=…" from the segment at dst[at:].
func (d *dropList) cutPathParams(dst []byte, at int) []byte {
	for i := at; i < len(dst); {
		if dst[i] != ';' {
			i++
			continue
		}
		end := i + 1
		for end < len(dst) && dst[end] != ';' {
			end++
		}
		if d.has(dst[i+1 : end]) {
			dst = append(dst[:i], dst[end:]...)
		} else {
			i = end
		}
	}
	return dst
}

// cutSegments removes ASP.NET sessions from the path at dst[start:], except as its last segment.
func (d *dropList) cutSegments(dst []byte, start int) []byte {
	if !d.segments || !bytes.Contains(dst[start:], []byte("/(")) {
		return dst
	}
	for at := start + 1; ; {
		n := bytes.IndexByte(dst[at:], '/')
		if n < 0 {
			return dst
		}
		if isSession(dst[at : at+n]) {
			dst = append(dst[:at], dst[at+n+1:]...)
		} else {
			at += n + 1
		}
	}
}

// isSession reports whether s is "(X(id)Y(id))" with ids of 24 letters and digits.
func isSession(s []byte) bool {
	const idBytes, groupBytes = 24, 27
	if len(s) < groupBytes+2 || (len(s)-2)%groupBytes != 0 || s[0] != '(' || s[len(s)-1] != ')' {
		return false
	}
	for g := s[1 : len(s)-1]; len(g) > 0; g = g[groupBytes:] {
		if !isLetter(g[0]) || g[1] != '(' || g[groupBytes-1] != ')' {
			return false
		}
		for _, c := range g[2 : 2+idBytes] {
			if !isLetter(c) && !isDigit(c) {
				return false
			}
		}
	}
	return true
}

func appendLower(dst, b []byte) []byte {
	for _, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

// Pattern returns the pattern that a URL shares with others generated by the same code. Digits
// become 0, the last name of the path becomes *, and the query keeps only its names.
//
//	/events/2026/list.html?month=5&view=day → /events/0/*.html?month&view
func Pattern(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	slash := strings.IndexByte(rest, '/')
	if slash < 0 {
		return "/"
	}
	path, query, has := strings.Cut(rest[slash+1:], "?")
	var b strings.Builder
	b.Grow(len(rest) - slash + len("*"))
	before, leaf := "", path
	for {
		f, behind, more := strings.Cut(leaf, "/")
		if !more {
			break
		}
		leaf = behind
		f = shape(f)
		if f == before && strings.IndexByte(f, '0') >= 0 {
			continue // repeated folders
		}
		before = f
		b.WriteByte('/')
		b.WriteString(f)
	}
	b.WriteByte('/')
	if leaf != "" {
		b.WriteByte('*')
		if dot := strings.LastIndexByte(leaf, '.'); dot > 0 && len(leaf)-dot <= 6 {
			b.WriteString(shape(leaf[dot:]))
		}
	}
	if has {
		b.WriteByte('?')
		b.WriteString(strings.Join(parameters(query), "&"))
	}
	return b.String()
}

// WiderPattern returns the next wider pattern: first without the names of the query, then with only
// the first folder, and at last the whole host, "".
//
//	/events/0/*.html?month&view → /events/0/*.html? → /events/ → ""
func WiderPattern(pattern string) string {
	path, query, has := strings.Cut(pattern, "?")
	if has && query != "" {
		return path + "?"
	}
	if end := strings.IndexByte(pattern[min(1, len(pattern)):], '/'); end > 0 && end+2 < len(pattern) {
		return pattern[:end+2]
	}
	return ""
}

func parameters(query string) []string {
	var names []string
	for part := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(part, "=")
		names = append(names, shape(name))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// shape replaces each run of digits, or a string of mostly digits, by 0.
func shape(s string) string {
	digits := 0
	for i := range len(s) {
		if s[i] >= '0' && s[i] <= '9' {
			digits++
		}
	}
	switch {
	case digits == 0:
		return s
	case 2*digits >= len(s) && len(s) > 3:
		return "0"
	}
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c >= '0' && c <= '9' {
			if i > 0 && s[i-1] >= '0' && s[i-1] <= '9' {
				continue
			}
			c = '0'
		}
		b.WriteByte(c)
	}
	return b.String()
}
