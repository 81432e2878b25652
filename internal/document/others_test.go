package document

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/net/html"
)

// TestPDFsOfOthers reads the files of the folder in FOSSICK_TEST_PDFS. Each must end in text or
// in a reason within its time; the text must agree with pdftotext's, and the title with pdfinfo's.
func TestPDFsOfOthers(t *testing.T) {
	files, err := filepath.Glob(os.Getenv("FOSSICK_TEST_PDFS") + "/*.pdf")
	if len(files) == 0 || err != nil {
		t.Skip("FOSSICK_TEST_PDFS names no folder of PDFs")
	}
	var agreement, inOrder []float64
	titles, rightTitles := 0, 0
	var times []time.Duration
	var ours, theirs time.Duration
	reasons := map[string]int{}
	for _, f := range files {
		body, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		made, _, err := ToHTML(t.Context(), body, "application/pdf")
		took := time.Since(start)
		times, ours = append(times, took), ours+took
		if took > 2*maxTime {
			t.Errorf("%s took %v", f, took)
		}
		reason := ""
		for _, known := range []error{ErrNoText, ErrLocked, ErrDamaged, ErrTooBig} {
			if errors.Is(err, known) {
				reason = known.Error()
			}
		}
		if reasons[reason]++; err != nil && reason == "" {
			t.Errorf("%s ended without a reason: %v", f, err)
		}
		start = time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 2*maxTime)
		said, failed := exec.CommandContext(ctx, "pdftotext", "-enc", "UTF-8", f, "-").Output()
		theirs += time.Since(start)
		info, _ := exec.CommandContext(ctx, "pdfinfo", f).Output()
		cancel()
		if title := titleIn(string(info)); title != "" && err == nil {
			titles++
			if strings.Contains(string(made), "<title>"+html.EscapeString(title)+"</title>") {
				rightTitles++
			} else {
				t.Logf("%s: title %q is not %q", filepath.Base(f), between(string(made), "<title>", "</title>"), title)
			}
		}
		if failed != nil {
			continue
		}
		want := wordsOf(string(said))
		if err != nil && len(want) > 20 {
			t.Logf("%s: %v, where pdftotext has %d words", filepath.Base(f), err, len(want))
		}
		if err != nil || len(want) < 20 {
			continue
		}
		text := textOf(string(made))
		inOrder = append(inOrder, agree(pairsOf(text), pairsOf(string(said))))
		f1 := agree(wordsOf(text), want)
		if agreement = append(agreement, f1); f1 < .9 {
			t.Logf("%s: F1 %.3f", filepath.Base(f), f1)
		}
	}
	slices.Sort(agreement)
	slices.Sort(times)
	slices.Sort(inOrder)
	t.Logf("%d files, %v; %v in the median, %v at most; %v in all, pdftotext %v", len(files), reasons, times[len(times)/2], times[len(times)-1], ours, theirs)
	if n := len(agreement); n > 0 {
		t.Logf("F1 of words with pdftotext in %d files: median %.3f, of the worst tenth at best %.3f", n, agreement[n/2], agreement[n/10])
		t.Logf("F1 of pairs of neighbours: median %.3f, of the worst tenth at best %.3f; %d of %d titles are those that the file says",
			inOrder[n/2], inOrder[n/10], rightTitles, titles)
		if agreement[n/2] < .97 {
			t.Error("the texts agree too little with pdftotext's")
		}
	}
}

// agree returns the F1 of two bags of words.
func agree(a, b map[string]int) float64 {
	both, n := 0, 0
	for w, k := range a {
		both, n = both+min(k, b[w]), n+k
	}
	for _, k := range b {
		n += k
	}
	return 2 * float64(both) / float64(n)
}

func words(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

func wordsOf(s string) map[string]int {
	n := map[string]int{}
	for _, w := range words(s) {
		n[w]++
	}
	return n
}

// pairsOf counts pairs of neighbours, which tell the reading order.
func pairsOf(s string) map[string]int {
	n, all := map[string]int{}, words(s)
	for i := 1; i < len(all); i++ {
		n[all[i-1]+" "+all[i]]++
	}
	return n
}

// titleIn returns the title in the output of pdfinfo.
func titleIn(info string) string {
	for line := range strings.Lines(info) {
		if title, is := strings.CutPrefix(line, "Title:"); is {
			return strings.TrimSpace(title)
		}
	}
	return ""
}

func between(s, from, to string) string {
	_, s, _ = strings.Cut(s, from)
	s, _, _ = strings.Cut(s, to)
	return s
}

func textOf(made string) string {
	var s strings.Builder
	_, body, _ := strings.Cut(made, "<body>")
	for z := html.NewTokenizer(strings.NewReader(body)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return s.String()
		case html.TextToken:
			s.Write(z.Text())
		case html.EndTagToken, html.StartTagToken:
			if name, _ := z.TagName(); string(name) != "a" {
				s.WriteByte(' ')
			}
		}
	}
}
