package page

import (
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"

	"fossick/internal/testkit"
)

// TestDeclared: declared encodings by the HTML and Encoding standards; "" if there is none.
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

		// After the first 1,024 bytes.
		{body: long + "<meta charset=koi8-r>", want: "koi8-r"},
		{body: long + `<meta http-equiv="content-type" content="text/html; CHARSET=koi8-r">`, want: "koi8-r"},
		{body: long + "<script>'<meta charset=koi8-r>'</script><p>"},
		{body: strings.Repeat(" ", 1020) + "<meta charset=koi8-r>", want: "koi8-r"},

		// A usable header takes precedence over the page.
		{body: "<meta charset=koi8-r>", contentType: "text/html; charset=iso-8859-2", want: "iso-8859-2"},
		{body: "<meta charset=koi8-r>", contentType: `text/html; x=";charset=utf-8"; Charset="ISO-8859-2"; charset=utf-8`, want: "iso-8859-2"},
		{body: "<meta charset=koi8-r>", contentType: "text/html; charset=none", want: "koi8-r"},
		{body: "<meta charset=koi8-r>", contentType: "text/html; charset=", want: "koi8-r"},
		{body: "<meta charset=koi8-r>", contentType: "text/html; charset", want: "koi8-r"},
		{body: "<meta charset=koi8-r>", contentType: "text/html;;; charset=iso-8859-2", want: "iso-8859-2"},

		// A byte order mark takes precedence over everything.
		{body: "\xEF\xBB\xBF<meta charset=koi8-r>", contentType: "text/html; charset=iso-8859-2", want: "utf-8"},
		{body: "\xFF\xFE<\x00", contentType: "text/html; charset=iso-8859-2", want: "utf-16le"},
		{body: "\xFE\xFF\x00<", want: "utf-16be"},
	} {
		if _, got := declared([]byte(c.body), c.contentType); got != c.want {
			t.Errorf("%.80q, %q: %q, want %q", c.body, c.contentType, got, c.want)
		}
	}
}

// TestGB18030: text declared as GBK or GB 2312 may have characters of four bytes.
func TestGB18030(t *testing.T) {
	for _, label := range []string{"gbk", "gb2312", "gb18030"} {
		text, _ := decode([]byte("<meta charset="+label+">\xc4\xe3\x81\x39\xee\x39"), "")
		if !strings.HasSuffix(string(text), "你㐀") {
			t.Errorf("%s: %s", label, text)
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

const (
	korean1   = "웹 수집기는 시작 페이지에서 링크를 따라가며 주제와 관련된 문서를 모은다. 분류기는 모은 문서를 다시 걸러 낸다."
	japanese1 = "ウェブクローラーは開始ページからリンクをたどり、話題に関係する文書を集める。分類器は集めた文書をもう一度ふるいにかける。"
	chinese1  = "网络爬虫从起始页面出发，沿着链接收集与主题有关的文档。分类器再对收集到的文档进行筛选，去掉与主题无关的内容。"
	russian1  = "Поисковый робот начинает с заданных страниц и идёт по ссылкам, собирая документы по теме. Затем классификатор отсеивает лишнее."
	german1   = "Für Mädchen und Jungen gibt es die größten Übungen; über das Schöne müßte man natürlich später reden und nicht heute."
)

func TestCharset(t *testing.T) {
	for _, c := range []struct {
		name, text  string
		enc         encoding.Encoding
		meta        string
		contentType string
		want        string
		lang        string
	}{
		{name: "header", text: german1, enc: charmap.ISO8859_1, contentType: "text/html; charset=iso-8859-1", want: "windows-1252", lang: "de"},
		{name: "meta", text: korean1, enc: korean.EUCKR, meta: "euc-kr", want: "euc-kr", lang: "ko"},
		{name: "header before meta", text: japanese1, enc: japanese.ShiftJIS, meta: "euc-jp", contentType: "text/html; charset=Shift_JIS", want: "shift_jis", lang: "ja"},
		{name: "escapes", text: japanese1, enc: japanese.ISO2022JP, meta: "iso-2022-jp", want: "iso-2022-jp", lang: "ja"},
		{name: "UTF-8 without a word", text: russian1, want: "utf-8", lang: "ru"},
		{name: "UTF-8 that says Latin 1", text: german1, meta: "iso-8859-1", contentType: "text/html; charset=ISO-8859-1", want: "utf-8", lang: "de"},
		{name: "UTF-16 with mark", text: german1, enc: unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), want: "utf-16le", lang: "de"},
		{name: "Latin 1 that says UTF-8", text: german1, enc: charmap.ISO8859_1, meta: "utf-8", want: "windows-1252", lang: "de"},
		{name: "Latin 1 without a word", text: german1, enc: charmap.ISO8859_1, want: "windows-1252", lang: "de"},
		{name: "Korean without a word", text: korean1, enc: korean.EUCKR, want: "euc-kr", lang: "ko"},
		{name: "Japanese without a word", text: japanese1, enc: japanese.ShiftJIS, want: "shift_jis", lang: "ja"},
		{name: "EUC-JP without a word", text: japanese1, enc: japanese.EUCJP, want: "euc-jp", lang: "ja"},
		{name: "Chinese without a word", text: chinese1, enc: simplifiedchinese.GB18030, want: "gb18030", lang: "zh"},
		{name: "Russian without a word", text: russian1, enc: charmap.KOI8R, want: "koi8-r", lang: "ru"},
		{name: "Cyrillic of Windows", text: russian1, enc: charmap.Windows1251, want: "windows-1251", lang: "ru"},
	} {
		body := "<html><head>"
		if c.meta != "" {
			body += "<meta charset=" + c.meta + ">"
		}
		body += "<title>t</title></head><body><p>" + strings.Repeat(c.text+" ", 3)
		if c.enc != nil {
			var err error
			if body, err = c.enc.NewEncoder().String(body); err != nil {
				t.Fatal(err)
			}
		}
		p := testkit.Call(Parse([]byte(body), ParseOptions{ContentType: c.contentType})).Must(t)
		if p.Charset != c.want || !strings.HasPrefix(p.Text, c.text) || p.Lang != c.lang || p.Title != "t" {
			t.Errorf("%s: charset %s, language %q, text %.60q; want %s, %q, %.60q", c.name, p.Charset, p.Lang, p.Text, c.want, c.lang, c.text)
		}
	}
}

func TestDecodeKeepsUTF8(t *testing.T) {
	body := []byte("<p>caf\u00e9</p>")
	if out, name := decode(body, ""); &out[0] != &body[0] || name != "utf-8" {
		t.Errorf("copied, or taken for %s", name)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("\xc1\xa4\xb0\xa1 <meta charset=euc-kr>"), "text/html; charset=big5")
	f.Add([]byte("\xe9^\xe4\x92\xe9"), "")
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		out, name := decode(body, contentType)
		if !utf8.Valid(out) || name == "" {
			t.Fatalf("%q from %s", out, name)
		}
		if again, same := decode(body, contentType); same != name || string(again) != string(out) {
			t.Fatalf("decoded twice: %s, %s", name, same)
		}
	})
}
