package eval

import (
	"fmt"
	"strings"

	"fossick/internal/report"
)

// driftRow is a block as the report shows it.
type driftRow struct {
	Pages           string
	Relevant        int
	Harvest         string
	Hosts, NewHosts int
	Top             string
	Rising, Falling string
}

func driftRows(blocks []Block) (rows []driftRow) {
	if len(blocks) < 2 {
		return nil // nothing to compare
	}
	for _, b := range blocks {
		var top []string
		for _, h := range b.Top {
			top = append(top, fmt.Sprintf("%s %d", report.Cut(h.Host, maxHostName), h.Relevant))
		}
		row := driftRow{
			Pages: fmt.Sprintf("%d–%d", b.From, b.To), Relevant: b.Relevant, Harvest: report.Share(b.Harvest),
			Hosts: b.Hosts, NewHosts: b.NewHosts, Top: strings.Join(top, ", "), Rising: joinWords(b.Rising), Falling: joinWords(b.Falling),
		}
		if b.CI != nil {
			row.Harvest += " (" + report.Span(*b.CI) + ")"
		}
		rows = append(rows, row)
	}
	return rows
}

// How long a name in the table may be, in runes.
const (
	maxHostName = 40
	maxWordRune = 24
)

func joinWords(words []Word) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = report.Cut(w.Word, maxWordRune)
	}
	return strings.Join(out, ", ")
}

// driftSentence says in words where the crawl began and ended.
func driftSentence(blocks []Block) string {
	if len(blocks) < 2 {
		return ""
	}
	first, last := blocks[0], blocks[len(blocks)-1]
	if first.Harvest == nil || last.Harvest == nil {
		return ""
	}
	s := fmt.Sprintf("Of its first %s, %s were on topic; of its last %s, %s", report.Pages(first.To-first.From+1), report.Percent(*first.Harvest),
		report.Number(last.To-last.From+1), report.Percent(*last.Harvest))
	if len(first.Rising) > 0 && len(last.Rising) > 0 {
		s += fmt.Sprintf("; its typical words changed from “%s” to “%s”", joinWords(first.Rising[:min(3, len(first.Rising))]), joinWords(last.Rising[:min(3, len(last.Rising))]))
	}
	return s + "."
}

// reachSentence says over how many hosts the crawl spread.
func reachSentence(f Figures) string {
	r := f.Reach
	if r.Hosts == 0 {
		return ""
	}
	s := fmt.Sprintf("Its pages come from %s hosts%s", report.Number(r.Hosts), effectively(r.Effective, " that have equally many pages"))
	if r.Sites != r.Hosts {
		s += fmt.Sprintf(", of %s sites", report.Number(r.Sites))
	}
	s += fmt.Sprintf("; %s have pages on topic%s", report.Number(r.Relevant), effectively(r.EffectiveRelevant, ""))
	if r.Largest != nil && r.Relevant > 1 {
		s += fmt.Sprintf(", the one with most has %s of these", report.Percent(*r.Largest))
	}
	return s + "." + cappedSentence(f)
}

// effectively gives an effective number of hosts.
func effectively(hosts *float64, with string) string {
	if hosts == nil || *hosts < 1.05 {
		return ""
	}
	return fmt.Sprintf(" (as diverse as %.1f hosts%s)", *hosts, with)
}

// cappedSentence says what the harvest is when few pages of a host count, by the
// caps that leave some out.
func cappedSentence(f Figures) string {
	var parts []string
	for _, c := range f.Reach.Capped {
		if c.Pages < f.Fetched {
			format := "with at most %s %s"
			if len(parts) == 0 {
				format = "with at most %s of each host it is %s"
			}
			parts = append(parts, fmt.Sprintf(format, report.Pages(c.Cap), report.Share(c.Harvest)))
		}
	}
	if len(parts) == 0 || f.Harvest == nil {
		return ""
	}
	return fmt.Sprintf(" The harvest is %s; %s.", report.Percent(*f.Harvest), strings.Join(parts, ", "))
}
