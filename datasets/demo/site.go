package demo

import (
	"fmt"
	"strings"
)

// otherLabel is the label of what is on none of the themes.
const otherLabel = "other"

// themesOf returns the theme of each category: four themes, as paper A's data set
// has them.
func themesOf() map[string]string {
	return map[string]string{
		"commercial-banks": "banking", "building-societies": "banking", "insurance-agencies": "banking",
		"java": "programming", "c-cpp": "programming", "visual-basic": "programming",
		"astronomy": "science", "biology": "science",
		"soccer": "sport", "motor-sport": "sport", "general-sport": "sport",
	}
}

// style is how a site writes its markup.
type style byte

const (
	styleModern style = iota // HTML5 with nav, main, article and footer
	stylePlain               // HTML 4 of divs, classes say what is what
	styleOld                 // upper-case tags, unclosed P, layout by table, ISO-8859-1
	styleXHTML               // XHTML 1.0
)

// site is one host of the demo web.
type site struct {
	host, title, about string
	style              style
	weights            map[string]int // share of a section's articles that it gets

	sections []string // that it has articles of, in the order of the table
	articles []*Page
	home     *Page
	index    map[string]*Page // section pages
	nav      []anchor
	foot     []anchor
}

// registrable is the host's last two Labels: .test is a top-level domain.
func (s *site) registrable() string {
	parts := strings.Split(s.host, ".")
	return strings.Join(parts[max(0, len(parts)-2):], ".")
}

// theme returns the one theme of all that the site writes, "" for a mixed site.
func (s *site) theme() string {
	themes, theme := themesOf(), ""
	for _, section := range s.sections {
		t := themes[section]
		if t == "" {
			t = otherLabel
		}
		if theme != "" && theme != t {
			return ""
		}
		theme = t
	}
	return theme
}

// siteTable is the table of hosts: name, title, style, what it is about and how
// much of each section it gets. Names that say nothing of the topic are a third,
// so that no crawler gets far by reading host names.
const siteTable = `
northgate-bank.test|Northgate Bank|modern|Accounts, payments and credit, explained by the people who run them.|commercial-banks 6
homestead-society.test|Homestead Building Society|plain|Savings and mortgages from a society that belongs to its members.|building-societies 7
harbour-insurance.test|Harbour Insurance Agency|modern|Cover for homes, cars and firms, and what is behind it.|insurance-agencies 6
moneyroom.test|The Money Room|modern|How lenders, savers and insurers work.|commercial-banks 2, building-societies 3, insurance-agencies 3
h17.test|Notes from Seventeen|plain|A column, twice a month.|commercial-banks 2, insurance-agencies 2, law 1
ledger-archive.test|Ledger Archive|old|Papers on banks and societies.|commercial-banks 2, building-societies 2
javacorner.test|Java Corner|modern|The language, its library and its machine.|java 6
pointerwise.test|Pointerwise|plain|C and C++ with care.|c-cpp 7
vbdesk.test|The VB Desk|old|Forms, events and macros in Visual Basic.|visual-basic 6
compiled.test|Compiled|modern|Programming languages from close by.|java 3, c-cpp 3, visual-basic 2
n4.test|N4|modern|Working notes.|java 2, c-cpp 2
attic.test|The Attic|old|Things that were kept.|visual-basic 4, crafts 1
nightsky-almanac.test|Night Sky Almanac|modern|Stars, planets and the instruments that see them.|astronomy 6
cellandleaf.test|Cell and Leaf|plain|Biology, from the cell to the forest.|biology 7
openlab.test|Open Lab|modern|Science as it is done.|astronomy 3, biology 3
users.campus.test|Pages of our Members|xhtml|Personal pages of members of the campus.|astronomy 3, biology 2, c-cpp 1, java 1
m31.test|M31|plain|A private page.|astronomy 1, music 1
touchline.test|Touchline|modern|Football, seen from the edge of the pitch.|soccer 6
pitlane.test|Pit Lane|plain|Motor sport and its engineering.|motor-sport 7
allsports-club.test|All Sports Club|modern|Athletics, games and training.|general-sport 7
thestand.test|The Stand|modern|Sport, all of it.|soccer 3, motor-sport 3, general-sport 3
q8.test|Q8|plain|Reports and opinions.|soccer 2, motor-sport 2, general-sport 2
terrace.test|The Terrace|old|Written on Sunday evenings.|soccer 2, gardening 1
wanderpath.test|Wanderpath|modern|Travel without hurry.|travel 5
thelarder.test|The Larder|modern|Cooking and why it works.|cooking 5
gardenrow.test|Garden Row|plain|A garden through the year.|gardening 4
sidebar-law.test|Sidebar|plain|The law in plain words.|law 4
halftone.test|Halftone|modern|Music and film.|music 3, film 4
threshold.test|Threshold|modern|Living in houses, and building them.|housing 5, architecture 4
longago.test|Long Ago|old|History in short pieces.|history 4
wellnote.test|Wellnote|plain|Health without alarm.|health 5
barometer.test|Barometer|xhtml|Weather, watched.|weather 4
workbench.test|Workbench|modern|Crafts and tools.|crafts 4
daily-courier.test|The Daily Courier|modern|News and background.|commercial-banks 1, insurance-agencies 1, astronomy 1, biology 1, soccer 1, motor-sport 1, travel 1, law 1, health 1, history 1
kiosk.test|Kiosk|plain|A little of all.|building-societies 1, java 1, general-sport 1, cooking 1, music 1, film 1, architecture 1
p3.test|P3|modern|Found and noted.|insurance-agencies 1, c-cpp 1, visual-basic 1, biology 1, weather 1, travel 1
townhall.test|Town Hall|plain|Notices of the town.|housing 1, history 1, weather 1
board.test|The Board|plain|Questions and answers.|health 1, cooking 1, gardening 1
linkbook.test|Linkbook|modern|A directory of sites.|
onestep.test|One Step|plain|Sites by subject and by letter.|
`

// parseSites reads siteTable.
func parseSites(table string) ([]*site, error) {
	styles := map[string]style{"modern": styleModern, "plain": stylePlain, "old": styleOld, "xhtml": styleXHTML}
	var sites []*site
	for line := range strings.Lines(strings.TrimSpace(table)) {
		col := strings.Split(strings.TrimSpace(line), "|")
		if len(col) != 5 {
			return nil, fmt.Errorf("site table: %q: %d columns, want 5", line, len(col))
		}
		st, ok := styles[col[2]]
		if !ok {
			return nil, fmt.Errorf("site table: %s: no style %q", col[0], col[2])
		}
		s := &site{host: col[0], title: col[1], style: st, about: col[3], weights: map[string]int{}, index: map[string]*Page{}}
		for part := range strings.SplitSeq(col[4], ",") {
			var section string
			var weight int
			if strings.TrimSpace(part) == "" {
				continue
			}
			if _, err := fmt.Sscanf(strings.TrimSpace(part), "%s %d", &section, &weight); err != nil {
				return nil, fmt.Errorf("site table: %s: %q: %w", col[0], part, err)
			}
			s.weights[section] = weight
			s.sections = append(s.sections, section)
		}
		sites = append(sites, s)
	}
	return sites, nil
}

// sectionName is a section's heading.
func sectionName(section string) string {
	names := map[string]string{
		"commercial-banks": "Commercial banks", "building-societies": "Building societies",
		"insurance-agencies": "Insurance", "java": "Java", "c-cpp": "C and C++", "visual-basic": "Visual Basic",
		"astronomy": "Astronomy", "biology": "Biology", "soccer": "Football", "motor-sport": "Motor sport",
		"general-sport": "Athletics and games",
	}
	if n, ok := names[section]; ok {
		return n
	}
	return strings.ToUpper(section[:1]) + section[1:]
}
