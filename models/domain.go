package models

// Domain is what pages have in common that a model can judge. A page in another language
// has none of the words that most training pages have, and a page of five words says too
// little; of both the model knows nothing but how many of its training pages are of
// each class.
type Domain struct {
	// Words are those of the most training pages, most first, and Shares on what share of
	// the pages each stands.
	Words  []string
	Shares []float32

	// LeastFamiliar is how familiar a page must be: the mean over the words of its title
	// and text of what share of the training pages has the word.
	LeastFamiliar float64
	// LeastForeign is the same of pages in a language that is none of Languages.
	LeastForeign float64

	// LeastWords is how many of Words a page must have, and LeastTerms how many of the
	// model's terms that are words.
	LeastWords, LeastTerms int

	Languages []string // of the training pages, as page.LangCode has them, sorted
}

// DomainWords is how many words a Domain has at most.
const DomainWords = 500

func (d *Domain) whole() bool {
	return len(d.Words) == len(d.Shares) && len(d.Words) <= DomainWords && shares(d.Shares) && share(d.LeastFamiliar) && share(d.LeastForeign) && d.LeastWords >= 0 && d.LeastTerms >= 0
}

// share says whether v is from 0 to 1.
func share(v float64) bool { return v >= 0 && v <= 1 }

// Other is the class of what is not the topic when a model has just one.
const Other = "other"

// Prior returns what is said of a page of which nothing is known: the class, and what share
// of the training pages each class has. The class is what is not the topic, else that of most
// pages. Without a card all classes are alike.
func (m *Model) Prior() (class int, probs []float64) {
	probs = make([]float64, len(m.Classes))
	var sum float64
	for i, label := range m.Classes {
		probs[i] = float64(m.Card.PerClass[label])
		sum += probs[i]
	}
	for i := range probs {
		if sum == 0 {
			probs[i] = 1 / float64(len(probs))
		} else {
			probs[i] /= sum
		}
		if probs[i] > probs[class] {
			class = i
		}
	}
	if len(m.Classes) == 2 && m.Class(Other) >= 0 {
		class = m.Class(Other)
	}
	return class, probs
}
