package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fossick/datasets"
	"fossick/datasets/web"
	"fossick/internal/cli"
	"fossick/internal/testkit"
)

// forged is what a stranger wants at the start of a line. forging tries every way to put it there, and
// to reverse the rest of the line.
const (
	forged  = "FORGED"
	forging = "x\n" + forged + "\r" + forged + "\u2028" + forged + "\u0085" + forged + "\v" + forged + "\t\x1b[2J\u009b2J\u202e\u2066\ufeff"
)

// TestHostileWords runs the verbs on a store and sets with hostile titles, labels, certificate names
// and error texts. No output, as text or as JSON, may have a forged line, control a terminal or change
// the writing direction.
func TestHostileWords(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	on := "money " + forging
	writeHostileSet(t, "set.jsonl", on)
	set, err := datasets.Open("set.jsonl", datasets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	addr, _ := served(t, set, web.Options{})
	bad := hostileTLS(t)
	write(t, "hosts", "bad.test\t"+bad+"\n")
	write(t, "truth", "http://h0.test/0\tmoney "+forging[:1]+"\u202e\x1b[2J\n")
	write(t, "seeds", "http://h0.test/0\nhttp://x.test/"+forging+"\n")
	write(t, forging+".html", "<title>"+forging+"</title>bank loan")

	crawl := []string{"focus", "--topic", on, "--model", "m", "--seed", "http://h0.test/0", "--proxy", "http://" + addr, "--delay", "0", "--threshold", "0", "--store", "s"}
	told, words := 0, testkit.Tries(t, "words that would forge output")
	for _, args := range [][]string{
		{"train", "set.jsonl", "-o", "m", "--classifier", "nb", "--words", "20", "--folds", "2", "--explain", "m.html"},
		{"train", "set.jsonl", "-o", "m2", "--classifier", "c45", "--words", "20", "--topic", on},
		crawl,
		{"focus", "--resume", "--store", "s", "--topic", "other " + forging},
		{"focus", "--topic", forging, "--keywords", forging + ",bank", "--seed", "https://bad.test/", "--hosts", "hosts", "--allow-net", "127.0.0.0/8", "--delay", "0", "--store", "bad", "-v"},
		{"why", "https://bad.test/", "--store", "bad"},
		{"why", "http://h0.test/0", "--store", "s", "--all"},
		{"why", forging, "--store", "s"},
		{"refine", "s", "--model", "m", "--topic", on},
		{"why", "http://h0.test/0", "--store", "s"},
		{"label", "http://h0.test/0", "yes", "--store", "s"},
		{"label", "http://h0.test/0", forging, "--store", "s"},
		{"eval", "s", "--judge", "m", "--html", "e.html"},
		{"eval", "s", "--truth", "truth", "--target", "money x\u202e\x1b[2J", "--html", "e2.html"},
		{"eval", "s", "--truth", forging},
		{"classify", "--model", "m", forging + ".html"},
		{"classify", "--model", "m", "--model", "m2", "set.jsonl"},
		{"classify", "--model", forging, "set.jsonl"},
		{"verify", "s"},
		{"verify", forging},
		{"graph", "s", "-o", "g"},
		{"rank", "s", "--method", "blockrank", "--block", "label"},
		{"simulate", "s", "--order", "bfs", "--html", "sim.html", "--max-pages", "5", "--start-sets", "2", "--starts", "1"},
		{"lab", "set.jsonl", "--topic", on, "--policy", "bfs", "--train-pages", "6", "--starts", "1", "--start-sets", "2", "--html", "lab.html"},
		{"topic", "new", "own", "--keywords", forging, "--seeds", "seeds", "--examples", "set.jsonl"},
		{"topic", "new", "own", "--keywords", "bank,loan," + forging, "--seed", "http://h0.test/0"},
		{"propose", "set.jsonl", "--topic", "own"},
		{"topic", "list"},
		{"topic", "show", "own"},
		{"topic", "show", forging},
		{forging}, {"--" + forging}, {"help", forging}, {"focus", "--topic", "own", "--order", forging},
		{"completion", forging},
	} {
		for _, form := range []string{"", "--json"} {
			if form != "" && (slices.Contains(crawl, args[len(args)-1]) || args[0] == "focus") {
				continue // the store exists already
			}
			told += tellHostile(t, words, append(slices.Clone(args), form))
		}
	}
	reports, err := filepath.Glob("*.html")
	if err != nil || len(reports) < 6 {
		t.Errorf("%d reports, %v", len(reports), err)
	}
	for _, path := range reports {
		text := testkit.Call(os.ReadFile(path)).Must(t)
		if path != forging+".html" {
			told += checkHostile(words, path, string(text), false)
		}
	}
	if told < 60 {
		t.Errorf("a stranger's words were told %d times: this test means little", told)
	}
}

// tellHostile runs a verb, checks its output, and returns how often a hostile word is in it.
func tellHostile(t *testing.T, words *testkit.Tally, args []string) int {
	t.Helper()
	args = slices.DeleteFunc(args, func(s string) bool { return s == "" })
	var out, errs bytes.Buffer
	code := run(context.Background(), args, &out, &errs)
	name := fmt.Sprintf("%.60q", args)
	if testing.Verbose() {
		t.Logf("%s: %d\n%s%s", name, code, out.String(), errs.String())
	}
	if slices.Contains(args, "--json") && !json.Valid(out.Bytes()) {
		t.Errorf("%s: no JSON: %s", name, &out)
	}
	return checkHostile(words, name, out.String(), true) + checkHostile(words, name, errs.String(), true)
}

// checkHostile checks a text with strangers' words, each a try, and returns how many there are.
func checkHostile(words *testkit.Tally, name, text string, lines bool) (told int) {
	at := strings.IndexFunc(text, func(r rune) bool { return !cli.Harmless(r) && r != '\n' && r != '\t' })
	words.Try(at < 0, "%s: harm in %q", name, text[max(0, at-60):min(len(text), at+20)])
	for line := range strings.Lines(text) {
		if strings.Contains(line, forged) {
			words.Try(!lines || !strings.HasPrefix(strings.TrimSpace(line), forged), "%s: a forged line in %q", name, text)
		}
	}
	return strings.Count(text, forged)
}

// writeHostileSet writes a set with two labels, one of them on.
func writeHostileSet(t *testing.T, path, on string) {
	t.Helper()
	var b bytes.Buffer
	for i := range 12 {
		label, text := on, "bank loan money credit interest"
		if i%2 == 1 {
			label, text = "other "+forging, "star planet moon comet galaxy"
		}
		html := fmt.Sprintf(`<title>%s %d</title><p>%s number %d <a href="http://h%d.test/%d">%s</a>`, forging, i, strings.Repeat(text+" ", 10), i, (i+1)%3, (i+1)%12, forging)
		row := map[string]string{"url": fmt.Sprintf("http://h%d.test/%d", i%3, i), "html": html, "label": label, "title": forging}
		testkit.Must(t, json.NewEncoder(&b).Encode(row))
	}
	write(t, path, b.String())
}

// hostileTLS serves https with a certificate for a name that forges lines.
func hostileTLS(t *testing.T) string {
	t.Helper()
	key := testkit.Call(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)).Must(t)
	ascii := "x\n" + forged + "\r" + forged + "\x1b[2J"
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: forging, Organization: []string{forging}},
		DNSNames: []string{ascii}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der := testkit.Call(x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)).Must(t)
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

// TestPrintsWords checks that verbs print by cli.Fprintf, whose arguments cannot begin a line,
// or by io.WriteString of a constant text.
func TestPrintsWords(t *testing.T) {
	files := testkit.Call(filepath.Glob("*.go")).Must(t)
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		fset := token.NewFileSet()
		file := testkit.Call(parser.ParseFile(fset, path, nil, 0)).Must(t)
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.SelectorExpr); ok {
				if pkg, ok := call.X.(*ast.Ident); ok && pkg.Name == "fmt" && (strings.HasPrefix(call.Sel.Name, "Fprint") || strings.HasPrefix(call.Sel.Name, "Print")) {
					t.Errorf("%s: fmt.%s; use cli.Fprintf", fset.Position(call.Pos()), call.Sel.Name)
				}
			}
			return true
		})
	}
}
