package page

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestLangCode(t *testing.T) {
	for want, tags := range map[string]string{
		// Three letters of ISO 639-2, T and B, and of 639-3.
		"is": "is isl ice ISL", "ga": "ga gle", "cy": "cy cym wel", "ca": "ca cat", "eu": "eus baq", "sq": "sqi alb",
		"hy": "hye arm", "my": "mya bur", "zh": "zho chi cmn zh-Hant-TW ZH_cn", "cs": "ces cze", "nl": "nld dut",
		"fr": "fra fre fr-CA", "ka": "kat geo", "de": "deu ger de-AT DE_at", "el": "ell gre", "mk": "mkd mac",
		"mi": "mri mao", "ms": "msa may zsm", "fa": "fas per pes", "ro": "ron rum mo mol", "sk": "slk slo", "bo": "bod tib",
		"en": "en eng EN-us en_GB en,de en;q=0.8", "gl": "glg", "lb": "ltz", "mt": "mlt", "sw": "swa swh", "lv": "lav lvs",
		"et": "est ekk", "ku": "kur kmr", "mn": "mon khk", "uz": "uzb uzn", "ar": "ara arb ar-EG", "qu": "que quz",
		// Changed codes, and languages with two codes.
		"he": "he iw heb", "id": "id in ind", "yi": "yi ji yid ydd", "nb": "nb nob", "nn": "nn nno", "no": "no nor", "tl": "tl tgl",
		"sr": "sr srp sr-Latn", "hr": "hr hrv", "pt": "pt pt-BR por",
		// Languages without a two-letter code.
		"haw": "haw haw-US", "ceb": "ceb", "fil": "fil", "ast": "ast", "yue": "yue", "gsw": "gsw", "ckb": "ckb",
		// No language.
		"": "x x-default i-klingon und mul mis zxx qaa qtz zz ua cn jp utf-8 english Deutsch 12 e1 ü - _ %20 e\x00 aaaa",
	} {
		for _, tag := range strings.Fields(tags) {
			if got := LangCode(tag); got != want {
				t.Errorf("LangCode(%q) = %q, want %q", tag, got, want)
			}
			if got := LangCode(" " + strings.ToUpper(tag) + "\n"); got != want {
				t.Errorf("LangCode of %q in capitals = %q, want %q", tag, got, want)
			}
		}
	}
	if got := LangCode(""); got != "" {
		t.Errorf("LangCode of nothing = %q", got)
	}
}

// FuzzLangCode: a code is its own LangCode, in any case.
func FuzzLangCode(f *testing.F) {
	for _, s := range []string{"en-US", "ger", "x-default", "zh_Hant", "\xff\xfe", "qaa"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, tag string) {
		code := LangCode(tag)
		if code != "" && (LangCode(code) != code || LangCode(strings.ToUpper(code)+"-x") != code) {
			t.Errorf("LangCode(%q) = %q, of which it makes %q", tag, code, LangCode(code))
		}
	})
}

// TestFunctionWords: every listed word can be found, in any case and between any marks.
func TestFunctionWords(t *testing.T) {
	for i, list := range functionWordLists {
		for w := range strings.FieldsSeq(list) {
			if len(w) > maxFunctionWord {
				t.Errorf("%q is longer than %d bytes, so it is never found", w, maxFunctionWord)
			}
			text := w
			if w[0] < utf8.RuneSelf {
				text = strings.ToUpper(w[:1]) + w[1:]
			}
			votes := countFunctionWords("(" + text + "1xyzzy")
			if want := min(1, len(w)-1); votes.words != 2 || votes.count[i] != want {
				t.Errorf("%q of %s: %d of %d words, want %d of 2", w, functionWordLanguages[i], votes.count[i], votes.words, want)
			}
		}
	}
}
