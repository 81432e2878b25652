package page

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"fossick/internal/testkit"
)

func parseText(t testing.TB, html string) *Page {
	t.Helper()
	p := testkit.Call(Parse([]byte(html), ParseOptions{URL: "http://h.test/"})).Must(t)
	return p
}

func TestChecksum(t *testing.T) {
	const page = "<title>a</title><p>b <a href=c>d</a>"
	sum := parseText(t, page).Checksum
	for name, same := range map[string]string{
		"markup":      "<!-- x --><title> a </title><div class=y>b\n<A HREF='http://h.test/c#z'>d</A></div>",
		"session ids": "<title>a</title><p>b <a href='c;jsessionid=1?phpsessid=2'>d</a>",
	} {
		if parseText(t, same).Checksum != sum {
			t.Errorf("%s changes the checksum", name)
		}
	}
	for name, other := range map[string]string{
		"title": "<title>A</title><p>b <a href=c>d</a>", "text": "<title>a</title><p>b <a href=c>e</a>",
		"target": "<title>a</title><p>b <a href=d>d</a>", "a link more": page + "<a href=e></a>", "where a field ends": "<title></title><p>ab <a href=c>d</a>",
	} {
		if parseText(t, other).Checksum == sum {
			t.Errorf("%s does not change the checksum", name)
		}
	}
}

// TestChecksumOfMirror: equal pages of two hosts have equal checksums; a different link to a third
// host, or a different path, changes the checksum. Raw depends only on the bytes.
func TestChecksumOfMirror(t *testing.T) {
	at := func(url, html string) *Page {
		p := testkit.Call(Parse([]byte(html), ParseOptions{URL: url})).Must(t)
		return p
	}
	const here, mirror = "http://h.test/docs/a", "https://mirror.example:8443/docs/a"
	const html = `<title>a</title><p>b <a href=c>d</a> <a href="/e?f=1">g</a> <a href="http://third.test/docs/h">i</a>`
	for name, c := range map[string]struct {
		url, html string
		same, raw bool
	}{
		"the same bytes":                      {mirror, html, true, true},
		"absolute links to the own host":      {mirror, strings.ReplaceAll(html, "/e?", "https://mirror.example:8443/e?"), true, false},
		"absolute links to the first host":    {mirror, strings.ReplaceAll(html, "/e?", "http://h.test/e?"), false, false},
		"another third host":                  {mirror, strings.ReplaceAll(html, "third.test", "fourth.test"), false, false},
		"another path":                        {mirror, strings.ReplaceAll(html, "/e?", "/f?"), false, false},
		"another folder, so other links":      {"http://h.test/other/a", html, false, true},
		"a host whose name begins like it":    {here, strings.ReplaceAll(html, "/e?", "http://h.testing/e?"), false, false},
		"a path that looks like another host": {here, strings.ReplaceAll(html, "http://third.test/docs/h", "/http://third.test/docs/h"), false, false},
		"other markup":                        {mirror, html + "<!-- -->", true, false},
	} {
		first, p := at(here, html), at(c.url, c.html)
		if same := p.Checksum == first.Checksum; same != c.same {
			t.Errorf("%s: the same checksum: %v, want %v", name, same, c.same)
		}
		if same := p.Raw == first.Raw; same != c.raw {
			t.Errorf("%s: the same bytes: %v, want %v", name, same, c.raw)
		}
		if (p.AbsoluteChecksum() == first.AbsoluteChecksum()) != (c.url == here && c.html == html) {
			t.Errorf("%s: the checksum of earlier builds", name)
		}
		old := first.AbsoluteChecksum()
		if !first.Is(old[:], nil) || first.Is(first.Checksum[:], nil) || !first.Is(first.Checksum[:], first.Raw[:]) || p.Is(first.Checksum[:], first.Raw[:]) != c.same || p.Is(old[:], nil) {
			t.Errorf("%s: what is stored is not told from it", name)
		}
	}
}

// naiveSimhash counts votes bit by bit, over words found by strings.Fields.
func naiveSimhash(text string) (out uint64) {
	var hashes []uint64
	for _, w := range strings.Fields(text) {
		h := uint64(0)
		i := 0
		for ; i+8 <= len(w); i += 8 {
			h = mix(h, load64(w[i:]), 8)
		}
		last := uint64(0)
		for k, c := range []byte(w[i:]) {
			last |= uint64(c) << (8 * k)
		}
		hashes = append(hashes, mix(h, last, uint64(len(w))))
	}
	var votes [64]int
	for i := 2; i < len(hashes); i++ {
		h := mix(hashes[i-2], hashes[i-1], hashes[i])
		for b := range 64 {
			votes[b] += int(h>>b&1)*2 - 1
		}
	}
	for b, v := range votes {
		if v > 0 {
			out |= 1 << b
		}
	}
	return out
}

func randomText(rng *rand.Rand, words int) []string {
	out := make([]string, words)
	for i := range out {
		out[i] = fmt.Sprintf("w%0*d", rng.IntN(20), rng.IntN(5000))
		if rng.IntN(10) == 0 {
			out[i] += "é"
		}
	}
	return out
}

func TestSimhashLikeNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for n := range 300 {
		if n < 3 {
			continue
		}
		words := randomText(rng, n)
		text := strings.Join(words[:n/2], " ") + "\n" + strings.Join(words[n/2:], " ")
		if got, want := simhash(text), naiveSimhash(text); got != want {
			t.Fatalf("simhash(%q) = %x, want %x", text, got, want)
		}
	}
}

func TestSketchDistance(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	far, near := 0, 0
	for range 100 {
		words := randomText(rng, 400)
		a := simhash(strings.Join(words, " "))
		words[rng.IntN(len(words))] = "changed" // one word of 400
		near = max(near, Distance(a, simhash(strings.Join(words, " "))))
		if Distance(a, simhash(strings.Join(randomText(rng, 400), " "))) > 16 {
			far++
		}
	}
	if near > 8 || far < 99 {
		t.Errorf("near-duplicates are up to %d bits apart, %d %% of unrelated texts more than 16; want 8, 99", near, far)
	}
	if simhash("") != 0 || simhash("one") == simhash("two") || simhash("one two") == 0 {
		t.Error("short texts have no sketches of their own")
	}
	if d := Distance(simhash(strings.Repeat(chinese1, 4)), simhash(strings.Repeat(chinese1, 4)+"另")); d > 8 {
		t.Errorf("a character more puts Chinese texts %d bits apart", d)
	}
}

func TestLanguage(t *testing.T) {
	english := "This is what the reader of the page has to know about it: that it was written by people who are not in a hurry."
	for _, c := range []struct{ declared, text, want string }{
		{"", english, "en"}, {"en-US", "short", "en"}, {"eng", "short", "en"}, {"x", "", ""}, {"", "", ""}, {"EN_gb", english, "en"},
		{"en", korean1, "ko"}, {"en", japanese1, "ja"}, {"en", russian1, "ru"}, {"ko", english, "en"}, {"ko", korean1 + english, "ko"},
		{"en", german1, "de"}, {"de", english, "en"}, {"en-US", "Le chat est sur la table et il ne veut pas que les autres soient avec lui dans cette maison qui est à nous.", "fr"},
		{"no", "Det er en bog, som jeg ikke har læst, og den handler om af at være alene på en ø med for mange får, til vi blev hentet.", "no"},
		{"af", "Die man is van die stad en het die boek op die tafel in sy huis aan die see, maar hy is nie daar nie, die boek is van die vrou.", "af"},
		{"fr", "Mary Patricia Linda Barbara Elizabeth Jennifer Maria Susan Margaret Dorothy Lisa Nancy Karen Betty", "fr"},
		{"sr", english, "sr"}, {"", german1, "de"}, {"", chinese1, "zh"}, {"cn", chinese1, "zh"}, {"gle", english, "ga"},
		{"", "این یک متن فارسی است که برای آزمایش زبان نوشته شده و خواننده باید بداند که چه می\u200cگوید و چرا اینجا آمده است.", "fa"},
		{"", "Варите суп двадцать минут, пока картофель не станет мягким. 0 1 2 3", "ru"},
		{"", "Варіть суп двадцять хвилин, доки картопля не стане м'якою, її солять.", "uk"},
		{"", "Варыце суп дваццаць хвілін, пакуль бульба не зробіцца мяккай, і саліце ўсё.", "be"},
		{"", "Гответе супата двадесет минути, докато картофите омекнат съвсем добре.", "bg"},
		{"", "Кувајте супу двадесет минута док кромпир не омекша, па ћете је посолити.", "sr"},
		{"", "Le chat est sur la table et il ne veut pas que les autres soient avec lui dans cette maison qui est à nous.", "fr"},
		{"", "El perro que está en la casa de los vecinos no quiere salir por la noche, pero su dueño lo lleva con él.", "es"},
		{"", "Mary Patricia Linda Barbara Elizabeth Jennifer Maria Susan Margaret Dorothy Lisa Nancy Karen Betty", ""},
		{"", "int main(int argc, char **argv) { return printf(\"%d\", argc); } static void f(struct list *l) {}", ""},
	} {
		if got := languageOf(c.declared, c.text); got != c.want {
			t.Errorf("languageOf(%q, %.40q) = %q, want %q", c.declared, c.text, got, c.want)
		}
	}
}

func simhash(text string) uint64 {
	sketch, _ := sketches(text, nil)
	return sketch
}
