package features

import (
	"embed"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/irish"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/tamil"
	"github.com/blevesearch/snowballstem/turkish"
)

// language holds the rules of one language.
type language struct {
	stop     map[string]bool
	snowball func(*snowballstem.Env) bool // nil without a stemmer
	itself   func(word string) bool       // if set: some words that are their own stems
	elision  bool                         // l'eau, dell'arte: cut the article
	particle []string                     // suffixes to cut, longest first
	breaks   string                       // ideographs that separate words
	article  []string                     // prefixes to cut, longest first
}

// languageOf returns the rules of an ISO 639-1 code; "" is English. An unknown language has neither stems nor
// stop words.
func languageOf(code string) *language {
	code, _, _ = strings.Cut(strings.ToLower(code), "-")
	code, _, _ = strings.Cut(code, "_")
	if code == "" {
		code = "en"
	}
	l := &language{stop: stopWords(code), snowball: snowball[code]}
	switch code {
	case "ar":
		l.article = arabicArticles()
	case "ca", "fr", "it":
		l.elision = true
	case "en":
		l.itself = isEnglishStem
	case "ko":
		l.particle = josa()
	case "zh":
		l.breaks = chineseGrammar
	}
	return l
}

func (l *language) isStop(word string) bool {
	return l.stop[word] || l.elision && l.stop[l.cutArticle(word)]
}

// bare returns word without an English genitive and without an elided article.
func (l *language) bare(word string) string {
	word = strings.TrimSuffix(word, "'s")
	if l.elision {
		word = l.cutArticle(word)
	}
	return word
}

func (l *language) stem(word string) string {
	for _, p := range l.particle {
		// At least two syllables stay: 나이 (age) does not end in the particle 이. One stays if noun and
		// particle are both certain: 별을 is 별 (star), but 속도 (speed) is not 속 (inside).
		cut, ok := strings.CutSuffix(word, p)
		if ok && (utf8.RuneCountInString(cut) >= 2 || strings.Contains(koreanNouns, " "+cut+" ") && strings.Contains(sureParticles, " "+p+" ")) {
			return cut
		}
	}
	for _, p := range l.article {
		if cut, ok := strings.CutPrefix(word, p); ok && utf8.RuneCountInString(cut) >= 3 {
			return cut
		}
	}
	if l.snowball == nil || l.itself != nil && l.itself(word) || !isLetters(word) {
		return word
	}
	return safely(l.snowball, word)
}

// cutArticle returns what follows an elided article: l'eau → eau.
func (l *language) cutArticle(word string) string {
	if i := strings.IndexByte(word, '\''); i > 0 && i <= 5 && i+1 < len(word) {
		return word[i+1:]
	}
	return word
}

// isEnglishStem reports whether a lower-case word's ending alone shows that it is its own stem, because no
// step of Snowball's English stemmer (Porter2) changes it. That settles half of the words that a crawl meets
// once; false settles nothing.
func isEnglishStem(word string) bool {
	for i := range len(word) {
		if word[i] < 'a' || word[i] > 'z' {
			return false
		}
	}
	if len(word) < 3 {
		return false
	}
	before := word[len(word)-2]
	switch word[len(word)-1] {
	case 'a', 'b', 'f', 'h', 'j', 'k', 'o', 'p', 'q', 'u', 'v', 'w', 'x', 'z':
		return true
	case 'c': // -ic
		return before != 'i'
	case 'd': // -ed
		return before != 'e'
	case 'g': // -ing
		return before != 'n'
	case 'i': // -li, -nci, -ogi, -iti
		return before != 'l' && before != 'c' && before != 'g' && before != 't'
	case 'l': // -al, -ful, -ll
		return before != 'a' && before != 'u' && before != 'l'
	case 'm': // -ism
		return before != 's'
	case 'n': // -ion
		return before != 'o'
	case 'r': // -er, -ator
		return before != 'e' && before != 'o'
	case 't': // -ant, -ent
		return before != 'n'
	case 'y': // -y after another vowel stays
		return strings.IndexByte("aeiou", before) >= 0
	}
	return false // -e, -s
}

func isLetters(word string) bool {
	for _, r := range word {
		if !unicode.IsLetter(r) && r != '\'' && !unicode.IsMark(r) {
			return false
		}
	}
	return true
}

// arabicArticles returns the Arabic article with the particles written before it, longest first (the
// prefixes of the light10 stemmer, Larkey et al. 2002). So البنك (the bank), بالبنك (in the bank) and
// بنك are one term.
func arabicArticles() []string { return strings.Fields(`وال بال كال فال لل ال`) }

// josa returns the Korean particles and copulas that follow a noun, longest first.
func josa() []string {
	return strings.Fields(`이었습니다 에서부터 으로부터 했습니다 하였습니다 하였다 되었다 됩니다 합니다 입니다
		에서는 에서도 에게서 으로는 으로도 이라는 이라고 까지는 부터는 이었다 했으며 하면서 하고는
		해야 해서 하면 하기 하지 하려면 되면 되어 되는 되고
		에서 에게 으로 까지 부터 처럼 보다 라고 이라 이나 이며 이고 이다 하는 하고 하여 하며 한다 했다 된다 되는 한테 께서 에는 에도 와의 과의 들은 들이 들을 들의
		은 는 이 가 을 를 의 에 로 와 과 도 만 들`)
}

// sureParticles end no other word of two syllables; koreanNouns are common nouns of one syllable.
const (
	sureParticles = " 은 는 을 를 에서 에게 으로 에는 에도 까지 부터 처럼 한테 "
	koreanNouns   = " 간 강 골 공 국 글 길 꽃 꿈 끝 남 낮 눈 달 닭 돈 돌 땅 말 맛 몸 문 물 밤 밥 방 배 법 별 병 봄 북 불 비 빛 빵 뼈 " +
		"산 살 상 새 색 선 섬 소 손 쌀 술 숲 시 신 실 약 양 옷 왕 위 일 입 잎 잠 장 점 종 죄 죽 줄 집 차 책 철 총 춤 칼 코 탑 털 팀 " +
		"판 팔 표 풀 피 핵 향 해 혀 형 흙 힘 "
)

// chineseGrammar holds characters of grammar, which are hardly ever part of a word of two characters: pairs
// across them (存款的利率: 款的, 的利) are no words.
const chineseGrammar = "的了是在也很又把被着这那"

// StemVersion rises whenever any word gets another stem: a model works only with the stems of its training.
const StemVersion = 2

var snowball = map[string]func(*snowballstem.Env) bool{
	"da": danish.Stem,
	"de": german.Stem,
	"en": english.Stem,
	"es": spanish.Stem,
	"fi": finnish.Stem,
	"fr": french.Stem,
	"ga": irish.Stem,
	"hu": hungarian.Stem,
	"it": italian.Stem,
	"nb": norwegian.Stem,
	"nl": dutch.Stem,
	"nn": norwegian.Stem,
	"no": norwegian.Stem,
	"pt": portuguese.Stem,
	"ro": stemRomanian,
	"ru": russian.Stem,
	"sv": swedish.Stem,
	"ta": tamil.Stem,
	"tr": turkish.Stem,
}

// safely makes a word its own stem if the stemmer panics or returns nothing.
func safely(snowball func(*snowballstem.Env) bool, word string) (stem string) {
	defer func() {
		if recover() != nil || stem == "" {
			stem = word
		}
	}()
	env := snowballstem.NewEnv(word)
	snowball(env)
	return env.Current()
}

// stemRomanian gives Snowball the ş and ţ that it knows. Stems have ș and ț; pages use both.
func stemRomanian(env *snowballstem.Env) bool {
	env.SetCurrent(strings.NewReplacer("ș", "ş", "ț", "ţ").Replace(env.Current()))
	romanian.Stem(env)
	env.SetCurrent(strings.NewReplacer("ş", "ș", "ţ", "ț").Replace(env.Current()))
	return true
}

// stopFiles holds one file per language of words that carry grammar, not topic. The lists are our own and
// short: a word left in costs a weight near zero, but a word left out can never be a feature.
//
//go:embed stopwords/*.txt
var stopFiles embed.FS

// stopWords returns the stop words of an ISO 639-1 code, none for a language without a list.
func stopWords(lang string) map[string]bool {
	stop := map[string]bool{}
	switch lang {
	case "no", "nb", "nn":
		lang = "da" // one list for the languages of Norway and Denmark
	}
	text, err := stopFiles.ReadFile("stopwords/" + lang + ".txt")
	if err != nil {
		return stop // no list: an embedded file has no other error
	}
	for w := range strings.FieldsSeq(string(text)) {
		stop[w] = true
	}
	return stop
}
