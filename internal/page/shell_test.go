package page

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"fossick/internal/fulltest"
)

// Start pages as the frameworks' own project templates make them, shortened.
var shells = map[string]string{
	"React (create-react-app)": `<!doctype html><html lang="en"><head><meta charset="utf-8"><link rel="icon" href="/favicon.ico"><meta name="description" content="Web site created using create-react-app">
		<title>React App</title><script defer="defer" src="/static/js/main.5f2c.js"></script><link href="/static/css/main.css" rel="stylesheet"></head>
		<body><noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div></body></html>`,
	"React (Vite), a bundle of another host": `<!doctype html><html><head><title>Vite + React</title><script type="module" crossorigin src="https://cdn.test/assets/index-4sd.js"></script></head><body><div id="root"></div></body></html>`,
	"Vue (CLI)": `<!DOCTYPE html><html lang=""><head><title>my-app</title><script defer src="/js/chunk-vendors.js"></script><script defer src="/js/app.js"></script></head>
		<body><noscript><strong>We're sorry but my-app doesn't work properly without JavaScript enabled. Please enable it to continue.</strong></noscript><div id="app"></div></body></html>`,
	"Vue, with a splash":         `<title>Shop</title><body><div id=app><div class=splash><img src=/logo.png alt=""><p>Loading…</p></div></div><script type=module src=/a.js></script>`,
	"Angular":                    `<!doctype html><html><head><title>Demo</title><base href="/"></head><body class="mat-typography"><app-root></app-root><script src="polyfills.js" type="module"></script><script src="main.js" type="module"></script></body></html>`,
	"Angular, a word of waiting": `<title>Demo</title><body><app-root>Loading...</app-root><script src="main.js" type="module"></script>`,
	"Next without SSR": `<!DOCTYPE html><html><head><title>Home</title><noscript data-n-css=""></noscript><script defer="" nomodule="" src="/_next/static/chunks/polyfills.js"></script><script src="/_next/static/chunks/main.js" defer=""></script></head>
		<body><div id="__next"></div><script id="__NEXT_DATA__" type="application/json">{"props":{"pageProps":{"text":"a gold mine"}},"page":"/","nextExport":true}</script></body></html>`,
	"Nuxt, ssr: false":  `<!DOCTYPE html><html><head><title></title><link rel="modulepreload" href="/_nuxt/entry.js"></head><body><div id="__nuxt"></div><div id="teleports"></div><script>window.__NUXT__={};window.__NUXT__.config={public:{},app:{baseURL:"/"}}</script><script type="module" src="/_nuxt/entry.js"></script></body></html>`,
	"Svelte (template)": `<!DOCTYPE html><html lang="en"><head><meta charset='utf-8'><title>Svelte app</title><link rel='stylesheet' href='/global.css'><script defer src='/build/bundle.js'></script></head><body></body></html>`,
	"SvelteKit, ssr off": `<!doctype html><html><body data-sveltekit-preload-data="hover"><div style="display: contents"><script>{ __sveltekit_1 = { base: "" }; const element = document.currentScript.parentElement;
		Promise.all([import("/_app/start.js"), import("/_app/app.js")]).then(([kit, app]) => { kit.start(app, element); }); </script></div><script src=/_app/start.js type=module></script></body></html>`,
	"Gatsby":                  `<!DOCTYPE html><html><head><title>Site</title></head><body><noscript>This app works best with JavaScript enabled.</noscript><div id="___gatsby"></div><script src="/app.js"></script></body></html>`,
	"Ember":                   `<!DOCTYPE html><html><head><title>Super Rentals</title><meta name="super-rentals/config/environment" content="%7B%22modulePrefix%22%7D"></head><body><script src="/assets/vendor.js"></script><script src="/assets/super-rentals.js"></script><div id="ember-basic-dropdown-wormhole"></div></body></html>`,
	"document.write":          `<html><head><title>Mine</title></head><body><script>document.write("<h1>Gold</h1><p>All of it is written by script.</p>")</script></body></html>`,
	"a long inline script":    `<html><body><script>` + strings.Repeat("render(document.body,{gold:1});", 40) + `</script></body></html>`,
	"a footer below":          `<body><div id=app></div><footer>© 2024 Gold Mines <a href=/imprint>Imprint</a></footer><script src=/a.js></script>`,
	"a place of its own name": `<body><noscript>Please enable JavaScript.</noscript><div class=c>Please wait</div><script src="https://cdn.test/a.js"></script>`,
	"a counter of visits":     `<title>x</title><body><noscript><iframe src="https://www.googletagmanager.test/ns.html?id=GTM-1" height=0></iframe></noscript><div id=root></div><script src=/a.js></script>`,
}

var noShells = map[string]string{
	"It works":                          `<html><body><h1>It works!</h1></body></html>`,
	"It works, and counts":              `<html><body><h1>It works!</h1><script>var _gaq=[];document.write('<script src="http://ga.test/ga.js"><\/script>')</script><script src=/count.js></script></body></html>`,
	"404":                               `<title>404</title><body><div id=app><h1>404</h1><p>This page is gone.</p></div><script src=/a.js></script><noscript>Enable JavaScript</noscript>`,
	"title and links":                   `<title>Mines</title><body><div id=root></div><a href=/a>A</a> <a href=/b>B</a> <a href=/c>C</a><script src=/a.js></script>`,
	"refresh":                           `<meta http-equiv=refresh content="0; url=/home"><script src=/a.js></script><body></body>`,
	"redirect by script":                `<html><head><script>window.location.href="/home/"</script></head><body></body></html>`,
	"redirect by script, and noscript":  `<script>location.replace("/home/")</script><noscript>Without JavaScript go <a href=/home/>home</a></noscript>`,
	"an image":                          `<html><body><img src=map.gif alt=""><script src=/menu.js></script></body></html>`,
	"images in an application's place":  `<body><div id=app><img src=1.jpg><img src=2.jpg></div><script src=/a.js></script>`,
	"a frameset":                        `<html><head><title>Mines</title><script src=/top.js></script></head><frameset cols="20%,80%"><frame src=menu.html><frame src=main.html></frameset></html>`,
	"a frame":                           `<body><div id=root></div><iframe src=/main.html></iframe><script src=/a.js></script>`,
	"a form":                            `<title>Log in</title><body><div id=app><form action=/login><input name=u><input name=p type=password></form></div><script src=/a.js></script>`,
	"rendered by the server":            `<body><div id="__next"><h1>Gold mines</h1><p>` + strings.Repeat("There is gold in the hills. ", 9) + `</p></div><script src=/_next/main.js></script>`,
	"rendered by the server, few words": `<body><div id="root"><p>Open on Mondays.</p></div><script src=/main.js></script>`,
	"a page for readers without scripts": `<body><div id=app></div><noscript>` + strings.Repeat("There is gold in the hills. ", 15) +
		`</noscript><script src=/a.js></script>`,
	"empty":                         `<html><head><title>x</title></head><body></body></html>`,
	"empty, a counter":              `<html><body><script async src="https://www.counter.test/gtag/js?id=G-1"></script><script>gtag('js', new Date())</script></body></html>`,
	"data alone":                    `<html><body><div id=root></div><script type="application/ld+json">{"name":"gold"}</script></body></html>`,
	"no text, but in a foreign one": `<body><div id=app>金の鉱山</div><script src=/a.js></script>`,
	"a video":                       `<body><div id=app></div><video src=/v.mp4></video><script src=/a.js></script>`,
	"an application's place that was never closed": `<body><div id=root><p>Gold<script src=/a.js></script>`,
}

func TestScriptOnly(t *testing.T) {
	is := func(body, contentType string) bool {
		p, err := Parse([]byte(body), ParseOptions{URL: "http://a.test/", ContentType: contentType})
		if err != nil {
			t.Fatal(err)
		}
		return p.ScriptOnly
	}
	for name, body := range shells {
		if !is(body, "text/html; charset=utf-8") {
			t.Errorf("%s: not taken for made by script:\n%s", name, body)
		}
		if is(body, "text/plain") {
			t.Errorf("%s: plain text is taken for made by script", name)
		}
		for _, also := range []string{"<p>" + strings.Repeat("gold ", 30) + "</p>", "<frameset><frame src=/x></frameset>", "<img src=1><img src=2>",
			"<form></form>", `<a href=/1>1</a><a href=/2>2</a><a href=/3>3</a>`} {
			if is(body+also, "text/html") {
				t.Errorf("%s, with %s behind: taken for made by script", name, cut(also, 40))
			}
		}
	}
	for name, body := range noShells {
		if is(body, "text/html; charset=utf-8") {
			t.Errorf("%s: taken for made by script:\n%s", name, body)
		}
	}
}

// The second look at a page asks whether reading is to end as often as the first.
func TestScriptOnlyStops(t *testing.T) {
	body := "<body><div id=root></div><script src=/a.js></script>" + strings.Repeat("<i>", 10_000)
	over := errors.New("over")
	ask := func(body string, last int) (asked int, err error) {
		_, err = Parse([]byte(body), ParseOptions{Stop: func() error {
			if asked++; asked == last {
				return over
			}
			return nil
		}})
		return asked, err
	}
	once, _ := ask(strings.Repeat("gold ", 30)+body, 0)
	twice, _ := ask(body, 0)
	if twice < 2*once-5 {
		t.Errorf("asked %d times, and %d where there is no second look", twice, once)
	}
	if _, err := ask(body, twice); err != over {
		t.Errorf("stopped at the last question: %v", err)
	}
}

// The corpora have three shells, each looked at: by React, by Angular and of Gerrit. All other
// pages are people's.
func TestScriptOnlyOfCorpora(t *testing.T) {
	want := map[string][]string{"uci_ics": {"http://tippersweb.ics.uci.edu/",
		"https://asterix-gerrit.ics.uci.edu/#/q/author:taewoo+status:merged", "https://www.ics.uci.edu/~avinask1/"}}
	corpora := []string{"uci_ics"}
	if fulltest.Asked() {
		corpora = append(corpora, "webkb", "debdocs", "msdocs", "mdn")
	}
	for _, corpus := range corpora {
		pages, short := 0, 0
		var got []string
		corpusPages(t, corpus, func(c corpusPage) bool {
			if c.HTML == "" {
				return true
			}
			url := c.URL
			if !strings.HasPrefix(url, "http") { // file:
				c.URL = "http://a.test/"
			}
			p := c.parse(t)
			if pages++; len(p.Text) <= maxShellText {
				short++
			}
			if p.ScriptOnly {
				got = append(got, url)
			}
			return true
		})
		slices.Sort(got)
		if t.Logf("%s: %d pages of HTML, %d of them with at most %d bytes of text", corpus, pages, short, maxShellText); !slices.Equal(got, want[corpus]) {
			t.Errorf("%s: made by script are %q, want %q", corpus, got, want[corpus])
		}
	}
}
