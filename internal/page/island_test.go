package page

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"fossick/internal/maintext"
)

// islandPages are thin pages whose text is data of ten frameworks, each with an article of its own.
var islandPages = map[string]struct {
	body, from string
	text       []string // lines that a reader gets
	links      []string // addresses and anchors, in any order
	not        []string
}{
	"Next.js": {
		body: `<title>Mines</title><body><div id="__next"></div><script src="/_next/main.js"></script><script id="__NEXT_DATA__" type="application/json">{"props":{"pageProps":{
			"post":{"id":"cm9zZXMgYXJlIHJlZA==","slug":"/mines/treadwell","title":"The Treadwell mine","className":"flex items-center px-4 md:mt-2","cover":"https://cdn.test/a.jpg",
			"body":"<p>The <b>Treadwell</b> mine lay on Douglas Island. It was flooded in 1917 &amp; given up.</p><script>alert(1)<\/script><p>See <a href=\"/mines/kensington\">Kensington</a>.</p>"}}},
			"page":"/mines/[slug]","query":{"slug":"treadwell mine of old"},"buildId":"k3j4h5k3j4h5"}</script></body>`,
		from:  "__NEXT_DATA__",
		text:  []string{"The Treadwell mine", "The Treadwell mine lay on Douglas Island. It was flooded in 1917 & given up.", "See Kensington."},
		links: []string{"http://a.test/mines/treadwell The Treadwell mine", "http://a.test/mines/kensington Kensington"},
		not:   []string{"alert", "flex", "cm9z", "k3j4", "of old", "cdn.test"},
	},
	"Next.js, app router": {
		body: `<title>Mines</title><body><script src="/_next/static/chunks/main-app.js" async></script><script>(self.__next_f=self.__next_f||[]).push([0])</script><script>self.__next_f.push([1,"1:\"$Sreact.fragment\"\n2:I[5244,[],\"\"]\n:HL[\"/_next/static/css/a.css\",\"style\"]\n0:{\"P\":null,\"b\":\"k3j4h5\",\"c\":[\"\",\"mines\"],\"f\":[[\"$\",\"main\",null,{\"className\":\"flex items-center of px-4\",\"children\":[[\"$\",\"h1\",null,{\"children\":\"Mines of the coast\"}],[\"$\",\"p\",null,{\"children\":\"Gold was found in the creek behind the town. It was washed for forty years.\"}],[\"$\",\"$L2\",null,{\"href\":\"/mines/tread"])</script>` +
			`<script>self.__next_f.push([1,"well\",\"children\":\"The Treadwell mine\"}],[\"$\",\"div\",null,{\"dangerouslySetInnerHTML\":{\"__html\":\"$3\"}}],[\"$\",\"h2\",null,{\"children\":\"This page could not be found.\"}]]}]]}\n3:T3a,"])</script><script>self.__next_f.push([1,"\u003cp>See \u003ca href='/mines/kensington'>Kensington\u003c/a> too.\u003c/p>4:null\n"])</script></body>`,
		from:  "__next_f",
		text:  []string{"Mines of the coast", "Gold was found in the creek behind the town. It was washed for forty years.", "The Treadwell mine", "See Kensington too."},
		links: []string{"http://a.test/mines/treadwell The Treadwell mine", "http://a.test/mines/kensington Kensington"},
		not:   []string{"flex", "k3j4", "react", "could not", "null"},
	},
	"Nuxt 3": {
		body: `<div id="__nuxt"></div><script type="module" src="/_nuxt/entry.js"></script><script type="application/json" id="__NUXT_DATA__" data-ssr="true">[["ShallowReactive",1],{"data":2},
			{"article":3},{"title":4,"path":5,"lead":6},"Bees in winter","/bees/winter","In winter the bees form a ball around their queen. They take turns outside, so that none of them freezes to death."]</script>`,
		from:  "__NUXT_DATA__",
		text:  []string{"Bees in winter", "In winter the bees form a ball around their queen. They take turns outside, so that none of them freezes to death."},
		links: []string{"http://a.test/bees/winter Bees in winter"},
		not:   []string{"Shallow"},
	},
	"Nuxt 2": {
		body: `<div id="__nuxt"></div><script>window.__NUXT__=(function(a,b){return {layout:"default",data:[{post:{title:"Ferns of the coast",url:'/ferns/coast',draft:!1,at:new Date(1e3),tag:a,
			text:'The lady fern doesn\'t mind shade, and grows along brooks. It unrolls its leaves in April,\u0020when the snow is gone.'}},],fn:function(){return "never this string of words."}}}("x",1));</script><script src=/_nuxt/a.js></script>`,
		from:  "__NUXT__",
		text:  []string{"Ferns of the coast", "The lady fern doesn't mind shade, and grows along brooks. It unrolls its leaves in April, when the snow is gone."},
		links: []string{"http://a.test/ferns/coast Ferns of the coast"},
		not:   []string{"never this"},
	},
	"Redux, with a state as a string": {
		body:  `<div id=root></div><script>window.__INITIAL_STATE__ = JSON.parse("{\"post\":{\"headline\":\"Tides of the bay\",\"href\":\"https://b.test/tides\",\"articleBody\":\"Twice a day the bay falls dry. Then the birds come to look for worms, and so do people with spades.\\n\\nIn June they stay away.\"}}");</script><script src=/a.js></script>`,
		from:  "__INITIAL_STATE__",
		text:  []string{"Tides of the bay", "Twice a day the bay falls dry. Then the birds come to look for worms, and so do people with spades.", "In June they stay away."},
		links: []string{"https://b.test/tides Tides of the bay"},
	},
	"Apollo": {
		body: `<body><div id=app></div><script>var x=1;window.__APOLLO_STATE__={"Article:1":{"__typename":"Article and more of it","title":"How glaciers calve","permalink":"/glaciers/calve?utm_source=x","summary":"Ice breaks off where the glacier meets the sea. The waves that follow have overturned ships."},
			"ROOT_QUERY":{"article({\"slug\":\"x\"})":{"__ref":"Article:1"}}};window.dataLayer=[{"text":"We use your data for our own good, and more."}]</script><script src=/a.js></script>`,
		from:  "__APOLLO_STATE__",
		text:  []string{"How glaciers calve", "Ice breaks off where the glacier meets the sea. The waves that follow have overturned ships."},
		links: []string{"http://a.test/glaciers/calve How glaciers calve"},
		not:   []string{"and more"},
	},
	"Remix": {
		body: `<body><div id=root></div><script>window.__remixContext = {"state":{"loaderData":{"routes/stars":{"star":{"name":"Vega","link":"/stars/vega","description":"Vega is the fifth brightest star of the night. It was the pole star twelve thousand years ago."},
			"sort":[{"label":"By size","value":"size"},{"value":"name"},{"value":"way"}],"capitalUrl":"/capital","apiUrl":"/v1/stars","publisherLink":"https://b.test/x.png",
			"others":[{"name":"Altair","link":"/stars/altair"},{"name":"Deneb","link":"/stars/deneb"}]}}},"future":{},"url":"/stars"};</script><script type=module src=/a.js></script>`,
		from:  "__remixContext",
		text:  []string{"Vega", "Vega is the fifth brightest star of the night. It was the pole star twelve thousand years ago.", "By size", "Altair", "Deneb"},
		links: []string{"http://a.test/stars/vega Vega", "http://a.test/stars/altair Altair", "http://a.test/stars/deneb Deneb", "http://a.test/stars ", "http://a.test/capital "},
	},
	"SvelteKit": {
		body: `<body><div style="display: contents"><script type="application/json" data-sveltekit-fetched data-url="/api/roads">{"status":200,"statusText":"OK it is","headers":{"x":"a b c d."},"body":"{\"road\":{\"title\":\"Roads of salt\",\"url\":\"/roads/salt\",\"text\":\"Salt went by mule from the coast to the hills. Whole towns lived on the toll that the mules paid.\"}}"}</script>
			<script>{__sveltekit_1={base:""};Promise.all([import("/_app/start.js")]).then(([kit, app]) => {kit.start(app, element, {node_ids: [0, 2],data: [null,{type:"data",data:{note:"The toll houses stand to this day. Two of them are inns."},uses:{}}],form: null});});</script></div></body>`,
		from:  "application/json",
		text:  []string{"Roads of salt", "Salt went by mule from the coast to the hills. Whole towns lived on the toll that the mules paid.", "The toll houses stand to this day. Two of them are inns."},
		links: []string{"http://a.test/roads/salt Roads of salt"},
		not:   []string{"OK", "a b c"},
	},
	"Angular": {
		body:  `<app-root></app-root><script src="main.js" type="module"></script><script id="ng-state" type="application/json">{"2384":{"b":{"results":[{"heading":"Moss on roofs","route":"/moss","teaser":"Moss holds the rain for days. Roofers hate it, gardeners pay for it, and the birds line their nests with it."}]},"h":{},"s":200,"st":"OK","u":"https://api.test/moss.json","rt":"json"},"__nghData__":[{"t":{"0":"t0"}}]}</script>`,
		from:  "ng-state",
		text:  []string{"Moss on roofs", "Moss holds the rain for days. Roofers hate it, gardeners pay for it, and the birds line their nests with it."},
		links: []string{"http://a.test/moss Moss on roofs"},
	},
	"Gatsby, rich text": {
		body: `<body><div id="___gatsby"></div><script src="/app.js"></script><script type="application/json" id="page-data"><!--{"data":{"mdx":{"fields":{"slug":"/wells/"},"frontmatter":{"title":"Wells of the desert"},
			"content":[{"nodeType":"paragraph","content":[{"nodeType":"text","value":"A well may be"},{"nodeType":"text","value":"sixty metres","marks":[{"type":"bold"}]},{"nodeType":"text","value":"deep. A camel pulls the rope, and walks as far as the well is deep, back and forth all day."}]}]}}}--></script>`,
		from:  "page-data",
		text:  []string{"Wells of the desert", "A well may be sixty metres deep. A camel pulls the rope, and walks as far as the well is deep, back and forth all day."},
		links: []string{"http://a.test/wells/ Wells of the desert"},
	},
	"Inertia": {
		body:  `<body><div id="app" data-page="{&quot;component&quot;:&quot;Show&quot;,&quot;props&quot;:{&quot;page&quot;:{&quot;title&quot;:&quot;Owls at dusk&quot;,&quot;url&quot;:&quot;/owls&quot;,&quot;content&quot;:&quot;Owls hear a mouse under the snow. Their ears sit at different heights, which tells them how far below it runs.&quot;}}}"></div><script src=/a.js></script>`,
		from:  "data-page",
		text:  []string{"Owls at dusk", "Owls hear a mouse under the snow. Their ears sit at different heights, which tells them how far below it runs."},
		links: []string{"http://a.test/owls Owls at dusk"},
	},
	"JSON-LD": {
		body: `<script type="application/ld+json">{"@context":"https://schema.org","@type":"NewsArticle","@id":"https://a.test/kites#article","headline":"Kites over the harbour","mainEntityOfPage":{"@type":"WebPage","@id":"/kites"},
			"image":["https://a.test/kite.png"],"author":{"@type":"Person","name":"Ada Windmill","sameAs":["https://c.test/ada"]},"articleBody":"&lt;p&gt;Ninety kites went up on Sunday.&lt;/p&gt; The wind came from the west, as it should, and nobody lost a string before noon."}</script><body><div id=root></div><script src=/a.js></script>`,
		from:  "JSON-LD",
		text:  []string{"Kites over the harbour", "Ada Windmill", "Ninety kites went up on Sunday.", "The wind came from the west, as it should, and nobody lost a string before noon."},
		links: []string{"https://a.test/kites Kites over the harbour", "http://a.test/kites ", "https://c.test/ada Ada Windmill"},
	},
	"words without spaces": {
		body:  `<div id=root></div><script type=application/json>{"title":"金の鉱山の歴史","url":"/kin","text":"この鉱山は江戸時代に開かれ、昭和の初めまで掘られていた。今は博物館になっており、坑道の中を歩くことができる。"}</script><script src=/a.js></script>`,
		from:  "application/json",
		text:  []string{"金の鉱山の歴史", "この鉱山は江戸時代に開かれ、昭和の初めまで掘られていた。今は博物館になっており、坑道の中を歩くことができる。"},
		links: []string{"http://a.test/kin 金の鉱山の歴史"},
	},
}

func parseIsland(t testing.TB, body string) *Page {
	t.Helper()
	p, err := Parse([]byte(body), ParseOptions{URL: "http://a.test/x/", ContentType: "text/html; charset=utf-8"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestIslands: the text and links of thin pages come from their data, and a page with enough of it is no shell.
func TestIslands(t *testing.T) {
	for name, c := range islandPages {
		p := parseIsland(t, c.body)
		if p.ScriptOnly || p.Island != c.from {
			t.Errorf("%s: shell %v, from %q, want %q", name, p.ScriptOnly, p.Island, c.from)
		}
		if got := strings.Split(p.Text, "\n"); !slices.Equal(got, c.text) {
			t.Errorf("%s: the text is\n%q, want\n%q", name, got, c.text)
		}
		var links []string
		for _, l := range p.Links {
			links = append(links, l.URL+" "+l.Anchor)
		}
		slices.Sort(links)
		slices.Sort(c.links)
		if !slices.Equal(links, c.links) {
			t.Errorf("%s: the links are\n%q, want\n%q", name, links, c.links)
		}
		for _, not := range c.not {
			if strings.Contains(p.Text+fmt.Sprint(p.Links), not) {
				t.Errorf("%s: %q is for no reader:\n%s", name, not, p.Text)
			}
		}
		readable := parseIsland(t, "<p>"+strings.Repeat("gold ", 25)+"</p>"+c.body)
		if readable.Island != "" || strings.Contains(readable.Text, c.text[0]) {
			t.Errorf("%s: a page with text of its own reads its data: %q", name, readable.Text)
		}
	}
}

// TestIslandsAreThin: what counts is the text that is seen, in letters of any length.
func TestIslandsAreThin(t *testing.T) {
	const island = `<script type="application/json">{"title":"Of the mine","url":"/mine","text":"It was flooded in 1917, and nobody has been in it since then, or so they say in town."}</script>`
	for _, c := range []struct {
		name, seen string
		thin       bool
	}{
		{"nothing", "", true},
		{"a word", "<h1>Mine</h1>", true},
		{"the longest", strings.Repeat("x", maxShellText), true},
		{"one byte more", strings.Repeat("x", maxShellText+1), false},
		{"letters of three bytes", strings.Repeat("鉱", 40), false},
		{"two letters beyond", strings.Repeat("x", maxShellText-2) + "鉱山", false},
		{"a request for JavaScript", "<noscript>" + strings.Repeat("Please turn it on. ", 9) + "</noscript>", true},
	} {
		body := "<body>" + c.seen + island
		p := parseIsland(t, body)
		text := WithIslands([]byte(body))
		if read := strings.Contains(p.Text, "flooded"); read != c.thin || len(p.Links) > 0 != c.thin {
			t.Errorf("%s: data read %v, want %v", c.name, read, c.thin)
		}
		if whole := string(text) != body; whole != c.thin {
			t.Errorf("%s: the main text's source has the data: %v, want %v", c.name, whole, c.thin)
		}
	}
}

// TestIslandData: which strings are for readers, and which lead to pages.
func TestIslandData(t *testing.T) {
	const first, second = "It was flooded in 1917.", "Nobody has been in it since."
	for _, c := range []struct{ name, script, text, links string }{
		{"messages of people", `{"messages":[{"body":"` + first + `"}]}`, first, ""},
		{"messages of a program", `{"messages":{"body":"` + first + `"}}`, "", ""},
		{"settings", `{"config":{"a":{"text":"` + first + `"}},"text":"` + second + `"}`, second, ""},
		{"a path, a pattern, a name", `{"url":"/a","path":"/b/:id","slug":"c","route":"/d/[id]","href":"//e.test/f"}`, "", "/a"},
		{"a path under another key", `{"x":"/a"}`, "", ""},
		{"JSON three strings deep", nest(`{"text":"`+first+`"}`, 3), first, ""},
		{"JSON four strings deep", nest(`{"text":"`+first+`"}`, 4), "", ""},
		{"said twice", `{"text":"` + first + `","again":"` + first + `"}`, first, ""},
		{"keys twice", `{"text":"` + first + `","text":"` + second + `"}`, first + "\n" + second, ""},
		{"numbers", `{"a":1e999,"b":-0.5E+7,"text":"` + first + `"}`, first, ""},
		{"broken off", `{"text":"` + first + `","text":"` + second, first, ""},
		{"ends before its text does", `{"text":"` + first + `","html":"a </script> b c"}`, first + "\n" + `b c"}`, ""},
		{"more behind the data", `{"text":"` + first + `"}{"text":"` + second + `"}`, first, ""},
	} {
		p := parseIsland(t, "<body><script type=application/json>"+c.script+"</script>")
		var links []string
		for _, l := range p.Links {
			links = append(links, Path(l.URL))
		}
		text := strings.Split(p.Text, "\n")
		want := strings.Split(c.text, "\n")
		slices.Sort(text)
		slices.Sort(want)
		if !slices.Equal(text, want) || strings.Join(links, " ") != c.links {
			t.Errorf("%s: %s\ngot  %q, links to %q\nwant %q, %q", c.name, c.script, text, links, want, c.links)
		}
	}
	p := parseIsland(t, "<body><script>var pageState = {a: '"+first+"'}; window['__B__'] = {b: `"+second+"`}; let other = {c: 'That is not for readers.'}</script>")
	if p.Text != first+"\n"+second || p.Island != "pageState" {
		t.Errorf("two states of a script: %q from %s", p.Text, p.Island)
	}
	p = parseIsland(t, "<body><script>window.__STATE__ = {a: (1 + 2), f: () => { return 'No text of the page.' }, b: '"+first+"'}</script>")
	if p.Text != first {
		t.Errorf("a state with parentheses and a function: %q", p.Text)
	}
	numbers := `["` + strings.Repeat("1 ", 1<<20) + `"` + strings.Repeat(",0", 20_000) + "]"
	parseIsland(t, `<body><script id=__NUXT_DATA__ type=application/json>`+numbers+"</script>") // in no time
	p = parseIsland(t, `<body><script id=__NUXT_DATA__ type=application/json>[{"consent":1,"text":2},"`+second+`","`+first+`"]</script>`)
	if p.Text != first {
		t.Errorf("numbered strings under two keys: %q", p.Text)
	}
}

// TestIslandsEnough: too little text from data leaves a shell a shell, but its links are followed.
func TestIslandsEnough(t *testing.T) {
	p := parseIsland(t, `<div id=root></div><script src=/a.js></script><script type=application/json>{"menu":[{"title":"Old mines","url":"/old"},{"title":"New","url":"/new"},{"url":"/more"},{"url":"/most"}]}</script>`)
	if !p.ScriptOnly || len(p.Links) != 4 || p.Links[1].Anchor != "New" || p.Links[0].Kind != Other {
		t.Errorf("shell %v, links %+v", p.ScriptOnly, p.Links)
	}
}

// TestWithIslands: the main text of a thin page is looked for in its data, and in a <noscript> for readers.
func TestWithIslands(t *testing.T) {
	for name, c := range islandPages {
		text, _, err := Decode([]byte(c.body), "text/html; charset=utf-8")
		if err != nil {
			t.Fatal(err)
		}
		if main := maintext.Extract(WithIslands(text)).Text(); !strings.Contains(main, longest(c.text)) {
			t.Errorf("%s: the main text %q has not %q", name, main, longest(c.text))
		}
	}
	long := strings.Repeat("There is gold in the hills, and iron in the lakes. ", 9)
	for noscript, want := range map[string]bool{long: true, "Please enable JavaScript.": false} {
		text, _, err := Decode([]byte("<body><div id=root></div><noscript><p onclick=x>"+noscript+"</p></noscript><script src=/a.js></script>"), "")
		if main := maintext.Extract(WithIslands(text)).Text(); err != nil || strings.Contains(main, noscript[:20]) != want {
			t.Errorf("main text %q of noscript %q", main, noscript)
		}
	}
}

func longest(lines []string) string {
	return slices.MaxFunc(lines, func(a, b string) int { return len(a) - len(b) })
}

// TestIslandsAreClean: no markup of data but that of text reaches the page.
func TestIslandsAreClean(t *testing.T) {
	data, err := json.Marshal(map[string]string{"body": `<base href="http://evil.test/"><meta http-equiv=refresh content="0;url=/evil"><meta name=robots content=noindex><link rel=canonical href=/evil>
		<p onclick="x()">Three <img src=x onerror=y>kinds of <b>moss<script>z()</script> grow on <svg><text>evil</text></svg>roofs &lt;script&gt;here<template>`, "title": "Moss & more <script>"})
	if err != nil {
		t.Fatal(err)
	}
	body := `<body><script type=application/json>` + strings.ReplaceAll(string(data), "</", `<\/`) + "</script>"
	p := parseIsland(t, body)
	if p.NoIndex || p.Refresh != "" || p.Canonical != "" || len(p.Links) > 0 || !strings.Contains(p.Text, "Three kinds of moss grow on roofs <script>here") || strings.Contains(p.Text, "evil") {
		t.Errorf("%+v", p)
	}
	html := islandsOf([]byte(body), &halt{}).html()
	if got := regexp.MustCompile(`<[^>]*[ =(][^>]*>|<script|<template`).FindString(string(html)); got != "" {
		t.Errorf("%q is in %s", got, html)
	}
}

// hostileIslands are thin pages whose data is meant to be dear.
func hostileIslands() map[string]string {
	const mega = 1 << 20
	island := func(s string) string { return `<div id=root></div><script type=application/json>` + s + "</script>" }
	sentence := `"This is a sentence of words. `
	return map[string]string{
		"deep arrays":         island(strings.Repeat("[", 4*mega)),
		"deep objects":        island(strings.Repeat(`{"a":`, mega)),
		"deep, behind a text": island(`{"text":"It is a text that comes first.","a":` + strings.Repeat("[", mega)),
		"a long string":       island(sentence + strings.Repeat("word ", mega) + `"`),
		"many strings":        island("[" + strings.Repeat(sentence+`",`, 100_000) + `""]`),
		"many different":      island("[" + numberedAs(100_000, sentence+`%d",`) + `""]`),
		"many addresses":      island("[" + numberedAs(100_000, `"http://a.test/%d",`) + `""]`),
		"one key repeated":    island("{" + numberedAs(100_000, `"text":"A text of number %d."`+",") + `"url":"/x"}`),
		"addresses of one":    island("{" + numberedAs(100_000, `"url":"/%d",`) + `"title":"x"}`),
		"a huge number":       island(`{"text":` + strings.Repeat("9", mega) + `,"a":1e999999999}`),
		"not UTF-8":           island("{\"text\":\"It is \xff\xfe a text of \x80 odd bytes.\"}"),
		"JSON in JSON":        island(nest(`{"text":"It is a text that is deep below."}`, 12)),
		"ends within":         island(`{"text":"It ends in </script> the middle."}`),
		"many scripts":        strings.Repeat(`<script type=application/json>{"a":"b c d e."}</script>`, 50_000),
		"many states":         "<script>" + strings.Repeat("window.__A__={", 200_000) + "</script>",
		"states by functions": "<script>" + strings.Repeat("window.__A__=(function(a,", 100_000) + "</script>",
		"states without end":  "<script>" + strings.Repeat(`window.__A__=JSON.parse("`, 100_000) + "</script>",
		"states of spaces":    "<script>" + strings.Repeat("window"+strings.Repeat(" ", 1000)+"x", 3000) + "</script>",
		"brackets":            "<script>window.__A__={a:" + strings.Repeat("(", 2*mega) + "</script>",
		"bodies":              "<script>window.__A__={" + strings.Repeat("a(){b", mega/2) + "</script>",
		"comments":            "<script>window.__A__={" + strings.Repeat("/*", mega) + "</script>",
		"markup in a string":  island(sentence + strings.Repeat("<p><a href=x>", 200_000) + `"`),
		"numbers of Nuxt":     `<script id=__NUXT_DATA__ type=application/json>["A text that is said often.",` + strings.Repeat("[0,0,0],", 300_000) + `{}]</script>`,
		"attributes":          strings.Repeat(`<p data-a='{"a":"b c d e."}' data-b="[[[[[[" props='{'>`, 20_000),
	}
}

func numberedAs(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// nest writes JSON as a string in JSON, n times over.
func nest(s string, n int) string {
	for range n {
		quoted, _ := json.Marshal(s)
		s = `{"a":` + string(quoted) + "}"
	}
	return s
}

// TestHostileIslands: data cannot cost more than a page may, in time, text and links.
func TestHostileIslands(t *testing.T) {
	for name, body := range hostileIslands() {
		start := time.Now()
		p := parseIsland(t, body)
		took := time.Since(start)
		if t.Logf("%s: %d bytes, %v, %d of text, %d links", name, len(body), took, len(p.Text), len(p.Links)); took > 10*time.Second {
			t.Errorf("%s: took %v", name, took)
		}
		if len(p.Text) > maxTextBytes || len(p.Links) > maxIslandLinks+1 || !utf8.ValidString(p.Text) {
			t.Errorf("%s: %d bytes of text, %d links", name, len(p.Text), len(p.Links))
		}
		if text := map[string]string{"deep, behind a text": "comes first", "not UTF-8": "a text of", "many strings": "a sentence", "one key repeated": "number 99"}[name]; !strings.Contains(p.Text, text) {
			t.Errorf("%s: %q is not in the text", name, text)
		}
	}
}

// TestIslandsStop: reading data asks whether to stop.
func TestIslandsStop(t *testing.T) {
	over, asked := errors.New("over"), 0
	_, err := Parse([]byte(hostileIslands()["many different"]), ParseOptions{Stop: func() error {
		if asked++; asked > 100 {
			return over
		}
		return nil
	}})
	if err != over || asked > 200 {
		t.Errorf("%v after %d questions", err, asked)
	}
}

func TestAlternates(t *testing.T) {
	const (
		print = `<link rel=alternate media=" Print" href=/p>`
		amp   = `<link rel="amphtml" href=/amp>`
		md    = `<link rel=alternate type="text/markdown" title=m href=/md>`
		feed  = `<link rel=alternate type=application/rss+xml href=/rss>`
		lang  = `<link rel=alternate hreflang=de href=/de>`
		shell = `<title>Mines</title><div id=root></div><script src=/a.js></script>`
		read  = `<p>There is gold in the hills, and iron in the lakes; or so they say in town, where nobody has ever seen any.`
	)
	for _, c := range []struct{ body, links string }{
		{print + amp + md + feed + lang + shell, "/de /md /rss"},
		{print + amp + feed + shell, "/amp /rss"},
		{print + shell, "/p"},
		{print + amp + md + feed + lang + read, "/de"},
		{print + amp + feed + "<p>gold", "/amp"}, // no shell, so it is stored and its feed is known by that
		{`<link rel="alternate stylesheet" media=print href=/s><link rel=amphtml href=/x/>` + shell, ""},
		{amp + shell + `<script type=application/json>{"text":"` + strings.TrimPrefix(read, "<p>") + `"}</script>`, ""},
		{amp + shell + `<script type=application/json>{"text":"There is gold in the hills."}</script>`, "/amp"},
	} {
		p := parseIsland(t, c.body)
		var links []string
		for _, l := range p.Links {
			links = append(links, strings.TrimPrefix(l.URL, "http://a.test"))
			if l.Kind != Other || l.URL == "http://a.test/md" && (l.Anchor != "Mines" || l.Nav) {
				t.Errorf("%s: %+v", c.body, l)
			}
		}
		if got := strings.Join(links, " "); got != c.links {
			t.Errorf("%s: links to %q, want %q", c.body, got, c.links)
		}
	}
	p := parseIsland(t, print+amp+md+read)
	if want := [numAlternates]string{"http://a.test/md", "http://a.test/amp", "http://a.test/p"}; p.alternates != want {
		t.Errorf("alternatives %q, want %q", p.alternates, want)
	}
}

// TestProse: what is written for readers, and what is not.
func TestIsProse(t *testing.T) {
	for _, c := range []struct {
		key, text string
		want      bool
	}{
		{"x", "The mine was flooded in 1917.", true},
		{"x", "It rained. They left", true},
		{"x", "they left for the hills to look for gold and iron and came home", true},
		{"x", "Gold mines", false},
		{"title", "Gold mines", true},
		{"x", "この鉱山は江戸時代に開かれた", true},
		{"text", "gold", false},
		{"text", "flex items-center px-4 md:mt-2 hover:bg-red-500", false},
		{"text", "Vm0wd2QyUXlVWGxWV0d4V1YwZDRWMVl3WkRSV01WbDNXa1JTVjAxV2JETlhhMUpUVmpBeFYySkVUbGhoTVVwVVZtcEJlRll5", false},
		{"text", "function go(a) { return a + 1; }", false},
		{"text", ".a { color: red; } .b { color: blue; }", false},
		{"text", "query Post($slug: String!) { post(slug: $slug) { title } }", false},
		{"text", "2024-01-02 12:30:00 +01:00", false},
		{"text", "M10 10 L20 20 Z m5.5 5.5", false},
	} {
		if got := isProse(c.text, isTextKey(c.key)); got != c.want {
			t.Errorf("%s: %q is prose: %v, want %v", c.key, c.text, got, c.want)
		}
	}
}

func FuzzIslands(f *testing.F) {
	for _, c := range islandPages {
		f.Add([]byte(c.body))
	}
	for _, s := range []string{"<script>window.__A__={a:'\\x41\\", "<script type=application/json>{\"text\":\"\\ud800 a b.\"", `<p data-a='{"html":"<a href=\"x`, "<script>kit.start(a, b, {c: `${d} e`})"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		p, err := Parse(body, ParseOptions{URL: "http://a.test/"})
		if err != nil {
			t.Fatal(err)
		}
		if !utf8.ValidString(p.Text) || len(p.Text) > maxTextBytes {
			t.Errorf("text of %d bytes, valid %v", len(p.Text), utf8.ValidString(p.Text))
		}
		decoded, _ := decode(body, "")
		data := islandsOf(decoded, &halt{})
		html := data.html()
		s := scanner{page: html}
		for kind := s.next(); kind != endOfPage; kind = s.next() {
			if name := string(s.name); kind == startTag && !kept[name] && name != "article" && name != "br" {
				t.Errorf("<%s> in %q", name, html)
			}
		}
		if again := islandsOf(html, &halt{}); len(again.blocks) > 0 {
			t.Errorf("HTML of data has data: %q", html)
		}
	})
}

// FuzzFlight: no row panics, and texts of any length end.
func FuzzFlight(f *testing.F) {
	for _, s := range []string{"0:[\"$\",\"a\",null,{\"href\":\"/x\",\"children\":\"a b c\"}]\n", "1:T3,abc2:null\n", "3:Tffffffff,x", "4:T,", "5:{\"children\":[[[", ":HL[]\n6:", "7:T-1,abc"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, rows []byte) {
		s := &islands{halt: &halt{}, seen: map[string]bool{}, flight: bytes.ToValidUTF8(rows, nil)}
		s.readFlight()
		if s.blocks != nil && s.from != "" && s.from != "__next_f" || !utf8.Valid(s.html()) {
			t.Errorf("from %q: %q", s.from, s.html())
		}
	})
}

func FuzzJSLiteral(f *testing.F) {
	for _, s := range []string{`{a:1,'b':"c",d:[1,,2,],e:!0,f(){return "x"},g:new Date(1),h:/x/}`, "[`a${b}`,'\\x41\\u0041\\\n']", `{"a":{"b":[]}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		out, n := jsLiteral(text)
		if n > len(text) || len(out) > 8*len(text)+16 {
			t.Fatalf("%d bytes read of %d, %d written", n, len(text), len(out))
		}
		if json.Valid(text) && len(text) > 0 && (text[0] == '{' || text[0] == '[') {
			var want, got any
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatalf("%q became %q: %v", text, out, err)
			}
			if json.Unmarshal(text, &want); !reflect.DeepEqual(onlyStrings(want), onlyStrings(got)) {
				t.Errorf("%q became %q", text, out)
			}
		}
	})
}

// onlyStrings replaces numbers, of which jsLiteral keeps none.
func onlyStrings(v any) any {
	switch v := v.(type) {
	case float64:
		return 0.0
	case []any:
		for i := range v {
			v[i] = onlyStrings(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = onlyStrings(v[k])
		}
	}
	return v
}
