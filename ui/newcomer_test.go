package ui_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"fossick/ui"
)

// fossick is a process of "fossick ui" without a store.
type fossick struct {
	*exec.Cmd
	said strings.Builder // to stderr; to be read after its end
	page *fake           // its address
}

// startFossick builds fossick and runs its page in an empty folder.
func startFossick(t *testing.T) *fossick {
	t.Helper()
	if _, ok := ui.Files(); !ok {
		t.Skip("this build has no page (tag noui)")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	if out, err := exec.Command("go", "build", "-o", program, "../cmd/fossick").CombinedOutput(); err != nil {
		t.Skipf("fossick cannot be built here: %v, %s", err, out)
	}
	f := &fossick{Cmd: exec.Command(program, "ui", "--json")}
	f.Dir, f.Stderr = filepath.Join(dir, "work"), &f.said
	f.Env = append(os.Environ(), "XDG_CONFIG_HOME="+dir)
	out, err := f.StdoutPipe()
	if err := errors.Join(err, os.Mkdir(f.Dir, 0o755), f.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Process.Kill() })
	var at struct{ URL string }
	if err := json.NewDecoder(out).Decode(&at); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	base, token, _ := strings.Cut(at.URL, "/?token=")
	f.page = &fake{Server: &httptest.Server{URL: base}, token: token}
	return f
}

// end interrupts the program, and returns its exit code and what it said.
func (f *fossick) end(t *testing.T) (code int, said string) {
	t.Helper()
	if err := f.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = f.Wait() // the code tells
	return f.ProcessState.ExitCode(), f.said.String()
}

// fill types a text into the field of a form with this label.
func (p *tab) fill(form, label, text string) {
	p.t.Helper()
	p.until(fmt.Sprintf(`[...document.querySelectorAll("[aria-labelledby=%s] label")].some((l) => l.innerText.startsWith(%q))`, form, label))
	evaluate[bool](p, fmt.Sprintf(`(() => {
		const field = [...document.querySelectorAll("[aria-labelledby=%s] label")].find((l) => l.innerText.startsWith(%q)).querySelector("input, textarea, select");
		if (field.type === "checkbox") field.click(); else { field.value = %q; field.dispatchEvent(new Event("input", {bubbles: true})); }
		return true;
	})()`, form, label, text))
}

// press clicks a button by its text, once it can be clicked.
func (p *tab) press(text string) {
	p.t.Helper()
	find := fmt.Sprintf(`[...document.querySelectorAll("main button")].find((b) => b.innerText.startsWith(%q) && !b.disabled)`, text)
	p.until(find)
	evaluate[bool](p, find+`.click(), true`)
}

// stars are texts of five pages about astronomy.
var stars = []string{
	"The telescope gathers light of distant stars; its mirror is ground to a paraboloid and the observer measures the spectrum of each star",
	"Planets orbit the sun in ellipses, and the moon orbits the earth; Kepler found the laws of their motion from the orbit of Mars",
	"A comet has two tails when it comes near the sun, one of gas and one of dust, and its orbit is long",
	"Galaxies rotate, and the speed of their stars tells astronomers of dark matter far from the centre",
	"The spectrum of a star has dark lines that tell its temperature, the elements in its atmosphere and its motion",
}

// TestNewcomer goes from an empty folder to a topic of one's own, a crawl of the demo's web to its end,
// twenty labels that turn it, one undo, a search, a story and a Parquet file, without a terminal.
func TestNewcomer(t *testing.T) {
	browser := startBrowser(t)
	f := startFossick(t)
	began := time.Now()
	p := openTab(t, browser, f.page, "")
	p.says("Start the demo")
	p.fill("topic", "Name", "stars")
	texts, _ := json.Marshal(stars)
	evaluate[bool](p, fmt.Sprintf(`(() => {
		const files = new DataTransfer();
		%s.forEach((text, i) => files.items.add(new File(["<title>Star " + i + "<script>window.hit = 1</script></title><p>" + (text + ". ").repeat(3) + "<img src=x onerror='window.hit = 2'>"], "star" + i + ".html")));
		files.items.add(new File(["# where to begin\nhttp://nightsky-almanac.test/links/science.html\n"], "begin.txt"));
		document.querySelector(".drop").dispatchEvent(new DragEvent("drop", {dataTransfer: files, bubbles: true, cancelable: true}));
		return true;
	})()`, texts))
	p.says("5 pages to learn from")
	p.says("1 start page")
	p.says("fossick topic new stars --examples=fossick-examples/stars/pages --seeds=fossick-examples/stars/seeds.txt")
	p.press("Make the topic")
	p.says("The topic is made.")
	p.fill("crawl", "Crawl the demo", "")
	p.fill("crawl", "Pages at most", "400")
	p.press("Start the crawl")
	p.until(`location.hash === "#/0/crawl"`)
	p.until(`document.querySelector(".state")?.textContent === "running"`)
	p.until(`document.querySelectorAll(".stream li").length > 5`)

	evaluate[bool](p, `location.hash = "#/0/judge", true`)
	turned := 0
	for i := range 20 {
		p.until(`document.querySelector(".asked")`)
		p.do(chromedp.KeyEvent([]string{"y", "n"}[i%2]))
		p.says(fmt.Sprintf("%d judged", i+1))
		if evaluate[bool](p, `/[1-9]\d* of the ten best links changed/.test(document.querySelector("main").innerText)`) {
			turned++
		}
	}
	if turned == 0 {
		t.Error("no label changed the queue")
	}
	p.until(`document.querySelectorAll("#given li").length === 10`) // the last ten
	p.do(chromedp.KeyEvent("z"))
	p.says("19 judged")

	evaluate[bool](p, `window.confirm = () => true, location.hash = "#/0/crawl", true`)
	p.press("Stop")
	p.says("Go on with this crawl")
	p.press("Go on")
	p.until(`document.querySelector(".state")?.textContent === "running"`)
	pages := evaluate[int](p, `parseInt(document.querySelector(".tiles dd").innerText)`)
	p.fill("controls", "Pages at most", strconv.Itoa(pages+10))
	p.press("Set")
	p.until(`document.querySelector(".state")?.textContent === "ended"`)
	evaluate[bool](p, `location.hash = "#/0/pages?q=star", true`)
	p.until(`document.querySelectorAll("main mark").length > 0`)
	evaluate[bool](p, `document.querySelector("main a[href*='/page?']").click(), true`)
	p.says("What happened")
	evaluate[bool](p, `location.hash = "#/0/crawl", true`)
	p.fill("resume", "Pages at most", "400")
	p.press("Go on")
	p.until(`document.querySelector(".state")?.textContent === "running"`)
	if magic := evaluate[string](p, `fetch("/api/stores/0/export?format=parquet").then((r) => r.text()).then((t) => t.slice(0, 4))`, chromedp.EvalAwaitPromise); magic != "PAR1" {
		t.Errorf("the Parquet file begins with %q", magic)
	}
	p.check()
	t.Logf("from the empty folder to the Parquet file in %.1f s", time.Since(began).Seconds())
	code, said := f.end(t)
	if code != 130 || !strings.Contains(said, "it goes on with: fossick focus --resume --store=fossick-stars") {
		t.Errorf("exit code %d: %s", code, said)
	}
}
