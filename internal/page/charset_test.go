package page

import (
	"strings"
	"testing"
)

// TestDeclared: the encoding that a page declares, as the HTML and Encoding standards find
// it; "" where it declares none.
func TestDeclared(t *testing.T) {
	long := "<!-- " + strings.Repeat("x", 2000) + " -->"
	for _, c := range []struct{ body, contentType, want string }{
		{body: "<p>x"},
		{body: "<meta charset=iso-8859-2>", want: "iso-8859-2"},
		{body: "<META CHARSET='iso-8859-2'>", want: "iso-8859-2"},
		{body: "<meta\ncharset = \"iso-8859-2\" >", want: "iso-8859-2"},
		{body: "<meta/charset=iso-8859-2>", want: "iso-8859-2"},
		{body: "<metacharset=iso-8859-2>"},
		{body: "<meta charset=iso-8859-2"},
		{body: "<meta charset=none>"},
		{body: "<meta charset=none><meta charset=koi8-r>", want: "koi8-r"},
		{body: "<meta charset=koi8-r charset=iso-8859-2>", want: "koi8-r"},
		{body: "<meta charset=utf-16>", want: "utf-8"},
		{body: "<meta charset=x-user-defined>", want: "windows-1252"},
		{body: "<meta charset=latin1>", want: "windows-1252"},
		{body: "<meta charset=gb2312>", want: "gbk"},
		{body: `<meta http-equiv=Content-Type content="text/html; charset=koi8-r">`, want: "koi8-r"},
		{body: `<meta content="text/html; charset='koi8-r'" http-equiv=content-type>`, want: "koi8-r"},
		{body: `<meta http-equiv=content-type content="text/html; charset charset = koi8-r; x">`, want: "koi8-r"},
		{body: `<meta http-equiv=content-type content="text/html; charset='koi8-r">`},
		{body: `<meta content="text/html; charset=koi8-r">`},
		{body: `<meta http-equiv=refresh content="0; charset=koi8-r">`},
		{body: `<!-- <meta charset=koi8-r> --><meta charset=iso-8859-2>`, want: "iso-8859-2"},
		{body: `<!--><meta charset=iso-8859-2>`, want: "iso-8859-2"},
		{body: `<p title="<meta charset=koi8-r>"><meta charset=iso-8859-2>`, want: "iso-8859-2"},
		{body: `<?x <meta charset=koi8-r><meta charset=iso-8859-2>`, want: "iso-8859-2"},
		{body: `</ <meta charset=koi8-r><meta charset=iso-8859-2>`, want: "iso-8859-2"},

		// The word alone declares nothing.
		{body: `<link charset=koi8-r href=x><p>charset`},
		{body: `<script charset="koi8-r">charset=koi8-r</script>`},
		{body: `<title>charset=koi8-r</title>`},

		// The XML declaration.
		{body: `<?xml version="1.0" encoding="koi8-r"?><html>`, want: "koi8-r"},
		{body: `<?xml version='1.0' encoding = 'koi8-r' ?><html>`, want: "koi8-r"},
		{body: `<?xml version="1.0" encoding="utf-16"?><html>`, want: "utf-8"},
		{body: `<?xml version="1.0"?><html encoding="koi8-r">`},
		{body: `<?xml version="1.0" encoding="koi8-r"?><meta charset=iso-8859-2>`, want: "iso-8859-2"},
		{body: "<\x00?\x00x\x00m\x00l\x00", want: "utf-16le"},
		{body: "\x00<\x00?\x00x\x00m\x00l", want: "utf-16be"},

		// Behind the first 1,024 bytes.
		{body: long + "<meta charset=koi8-r>", want: "koi8-r"},
		{body: long + `<meta http-equiv="content-type" content="text/html; CHARSET=koi8-r">`, want: "koi8-r"},
		{body: long + "<script>'<meta charset=koi8-r>'</script><p>"},
		{body: strings.Repeat(" ", 1020) + "<meta charset=koi8-r>", want: "koi8-r"},

		// The header counts before the page, where it can be understood.
		{body: "<meta charset=koi8-r>", contentType: "text/html; charset=iso-8859-2", want: "iso-8859-2"},
		{body: "<meta charset=koi8-r>", contentType: `text/html; x=";charset=utf-8"; Charset="ISO-8859-2"; charset=utf-8`, want: "iso-8859-2"},
		{body: "<meta charset=koi8-r>", contentType: "text/html; charset=none", want: "koi8-r"},
		{body: "<meta charset=koi8-r>", contentType: "text/html; charset=", want: "koi8-r"},
		{body: "<meta charset=koi8-r>", contentType: "text/html; charset", want: "koi8-r"},
		{body: "<meta charset=koi8-r>", contentType: "text/html;;; charset=iso-8859-2", want: "iso-8859-2"},

		// A mark counts before all.
		{body: "\xEF\xBB\xBF<meta charset=koi8-r>", contentType: "text/html; charset=iso-8859-2", want: "utf-8"},
		{body: "\xFF\xFE<\x00", contentType: "text/html; charset=iso-8859-2", want: "utf-16le"},
		{body: "\xFE\xFF\x00<", want: "utf-16be"},
	} {
		if _, got := declared([]byte(c.body), c.contentType); got != c.want {
			t.Errorf("%.80q, %q: %q, want %q", c.body, c.contentType, got, c.want)
		}
	}
}

// TestGB18030: what is declared as GBK or GB 2312 may have characters of four bytes.
func TestGB18030(t *testing.T) {
	for _, label := range []string{"gbk", "gb2312", "gb18030"} {
		text, _ := decode([]byte("<meta charset="+label+">\xc4\xe3\x81\x39\xee\x39"), "")
		if !strings.HasSuffix(string(text), "你㐀") {
			t.Errorf("%s: %s", label, text)
		}
	}
}

// TestDetectBesideTheWord: a page that declares no encoding is detected, also where the
// word charset stands in it.
func TestDetectBesideTheWord(t *testing.T) {
	for _, head := range []string{"", "<script charset=x></script>", "<link charset=y>", "<meta charset=none>", "<!-- charset -->"} {
		body := head + "<p>" + strings.Repeat("\xf0\xcf\xc9\xd3\xcb\xcf\xd7\xd9\xca \xd2\xcf\xc2\xcf\xd4 \xce\xc1\xde\xc9\xce\xc1\xc5\xd4 \xd3 \xda\xc1\xc4\xc1\xce\xce\xd9\xc8 \xd3\xd4\xd2\xc1\xce\xc9\xc3. ", 5)
		if _, name := decode([]byte(body), ""); name != "koi8-r" {
			t.Errorf("%s: %s, want koi8-r", head, name)
		}
	}
}

func FuzzDeclared(f *testing.F) {
	f.Add([]byte("<!-- --><meta charset='koi8-r' content=x http-equiv"), "text/html; charset=x")
	f.Add([]byte(`<?xml encoding="koi8-r"?>`), ";=\"")
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		if enc, name := declared(body, contentType); (enc == nil) != (name == "") {
			t.Errorf("%v, %q", enc, name)
		}
	})
}
