package learned

// vocabulary says what words are worth in this crawl. A word occurs in pages,
// or in links that were followed; it keeps how many pages there were and how
// far they were on topic. It keeps the words that were used last. Two words in
// 2^32 may share a token; the analyzer makes one term of a word's forms, and
// words of scripts that do not space them.
type vocabulary struct{ words wordTable }

func newVocabulary() vocabulary { return vocabulary{newWordTable(maxVocabulary)} }

// fetchRow is how many words are asked for together.
const fetchRow = 32

// learnPage takes in that these words, each given once, were on a page.
func (v *vocabulary) learnPage(words []token, probability, weight float64) {
	pages, onTopic := float32(weight), float32(weight*probability)
	for len(words) > 0 {
		row := words[:min(len(words), fetchRow)]
		v.words.fetch(row)
		for _, w := range row {
			r := &v.words.use(w).page
			r.pages += pages
			r.onTopic += onTopic
		}
		words = words[len(row):]
	}
}

// learnLink takes in that these words, each given once, were in links to a page.
func (v *vocabulary) learnLink(words []token, probability float64) {
	for _, w := range words {
		v.words.use(w).link.add(probability)
	}
}

// worth is what the words of a target say of it: lifts are 0 for a new word.
type worth struct {
	mean, most float64 // lift on pages
	inLinks    float64 // mean lift in links
	over       float64 // mean, see Background
}

// ended is the mean lift of some endings in links; 0 for a new one.
func (v *vocabulary) ended(endings []token, b *base) float64 {
	sum := 0.0
	for _, t := range endings {
		if w, known := v.words.find(t); known {
			w.lifts(b)
			sum += float64(w.linkLift)
		}
	}
	return sum / float64(max(1, len(endings)))
}

// worth says what some words are worth.
func (v *vocabulary) worth(words []token, b *base) (worth worth) {
	for i, t := range words {
		lift := 0.0
		if w, known := v.words.find(t); known {
			w.lifts(b)
			lift = float64(w.pageLift)
			worth.inLinks += float64(w.linkLift)
			worth.over += float64(w.over)
		} else {
			worth.over += b.unmet
		}
		worth.mean += lift
		if i == 0 || lift > worth.most {
			worth.most = lift
		}
	}
	n := float64(max(1, len(words)))
	worth.mean, worth.inLinks, worth.over = worth.mean/n, worth.inLinks/n, worth.over/n
	return worth
}
