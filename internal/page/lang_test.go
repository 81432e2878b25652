package page

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
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

// TestFunctionWords compares the count of function words with one by maps.
func TestFunctionWords(t *testing.T) {
	list := map[string][]int{} // word → its languages
	var words []string
	for i, l := range functionWordLists {
		for w := range strings.FieldsSeq(l) {
			if len(w) > maxFunctionWord {
				t.Errorf("%q is longer than %d bytes, so it is never found", w, maxFunctionWord)
			}
			if list[w] == nil {
				words = append(words, w)
			}
			if !slices.Contains(list[w], i) {
				list[w] = append(list[w], i)
			}
		}
	}
	number := map[string]int{}
	for i, w := range words {
		number[w] = i % 64
	}
	rng := rand.New(rand.NewPCG(5, 6))
	marks := []string{" ", "\n", ", ", "1", "-", " (", "'", "@", "[", "`", "{", "\x00", "\x7f", "é", "–", "\xff", ""}
	for range 2000 {
		var b strings.Builder
		for range rng.IntN(500) {
			w := words[rng.IntN(len(words))]
			switch rng.IntN(6) {
			case 0:
				w = strings.ToUpper(w[:1]) + w[1:]
			case 1:
				w = w[:rng.IntN(len(w))] + "xyz"[:rng.IntN(4)]
			}
			b.WriteString(w)
			b.WriteString(marks[rng.IntN(len(marks))*rng.IntN(2)])
		}
		text := b.String()
		var want wordVotes
		for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return r < 0x80 && !isLetter(byte(r)) }) {
			if want.words == maxVoters {
				break
			}
			want.words++
			w = string(appendLower(nil, []byte(w)))
			if len(w) == 1 {
				continue
			}
			for _, i := range list[w] {
				want.count[i]++
				want.seen[i] |= 1 << number[w]
			}
		}
		if got := countFunctionWords(text); got != want {
			t.Fatalf("%q: %+v, want %+v", text, got, want)
		}
	}
}
