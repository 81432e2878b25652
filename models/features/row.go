package features

// Words go in rows through what is done with each: a row is cut, then looked
// up, then counted. A word at a time, the processor waits for each word's place
// in memory, and for each branch that it took the wrong way. In a row it fetches
// the places of all words at once, and each step is a loop with hardly a branch.

// rowWords is how many words are looked up together.
const rowWords = 32

// row is what is on its way from the text to those who count.
type row struct {
	waiting  [rowWords]cutWord
	n        int // of waiting
	found    [2 * rowWords]known
	entries  [2 * rowWords]**entry // of found, but where only numbers are asked for
	m        int                   // of found
	numbered bool                  // only numbers are asked for
	one      bool                  // a word at a time
	fetched  uint64                // so that fetching is not left out
}

// cutWord is a plain word that waits to be looked up.
type cutWord struct {
	plainWord
	hash uint64
	at   int32
}

// each calls f with the words of text that the options or a second reader want,
// with what is known of them. They come in their order, a row at a time; their
// entries stand in row.entries. The row is only valid during the call.
func (a *Analyzer) each(text, lang string, f func(row []known)) {
	v := a.vocabulary(lang)
	a.row.numbered = false
	a.rows(v, v.words.seed, text, f)
}

// eachNumbered is each without entries, for one that learns words with others.
func (a *Analyzer) eachNumbered(text, lang string, f func(row []known)) {
	v := a.vocabulary(lang)
	a.row.numbered = true
	a.rows(v, v.seed, text, f)
}

// rows does what each does; seed is that of the table which has the words.
func (a *Analyzer) rows(v *vocabulary, seed uint64, text string, f func(row []known)) {
	a.breaks = v.lang.breaks
	r := &a.row
	token := func(token []byte) { a.put(v, token, hashWord(seed, token), f) }
	at := 0
	for i := 0; i < len(text); { // piece by piece, but for plain words
		if class[text[i]] == space {
			i++
			at = i
			continue
		}
		plain := plainAt(text, i)
		if plain.end == 0 {
			a.lookUp(v, f)
			a.at = at
			i = a.piece(text, i, token)
			continue
		}
		i = plain.end
		if plain.length > 0 {
			r.waiting[r.n] = cutWord{plain, hashOf(seed, plain.first, plain.last, plain.length), int32(at)}
			if r.n++; r.n == rowWords || r.one {
				a.lookUp(v, f)
			}
		}
		if class[text[i-1]] == space {
			at = i
		}
	}
	a.lookUp(v, f)
	a.hand(f)
}

// lookUp finds the words that wait.
func (a *Analyzer) lookUp(v *vocabulary, f func([]known)) {
	r := &a.row
	if r.m+r.n > len(r.found) {
		a.hand(f)
	}
	if r.numbered {
		a.lookUpNumbers(v)
	} else {
		a.lookUpEntries(v)
	}
	r.n = 0
	if r.one {
		a.hand(f)
	}
}

func (a *Analyzer) lookUpNumbers(v *vocabulary) {
	r := &a.row
	buckets := *a.shared.numbers.table.Load()
	for i := range r.waiting[:r.n] {
		r.fetched += bucketOf(buckets, r.waiting[i].hash)[0].numbers.Load()
	}
	for i := range r.waiting[:r.n] {
		c := &r.waiting[i]
		w, ok := bucketOf(buckets, c.hash).find(c.hash)
		if !ok {
			a.buf = c.bytes(a.buf)
			w = a.learnNumbers(v, a.buf, c.hash)
		}
		w.at = c.at
		r.add(w, nil)
	}
}

func (a *Analyzer) lookUpEntries(v *vocabulary) {
	r := &a.row
	slots := v.words.young.slots
	for i := range r.waiting[:r.n] {
		r.fetched += slots[int(r.waiting[i].hash)&(len(slots)-1)].hash
	}
	for i := range r.waiting[:r.n] {
		c := &r.waiting[i]
		w, e := v.words.find(c.hash)
		if e == nil {
			a.buf = c.bytes(a.buf)
			w, e = a.learn(v, a.buf, c.hash)
		}
		w.at = c.at
		r.add(w, e)
	}
}

// put finds a word that is not plain; none wait.
func (a *Analyzer) put(v *vocabulary, token []byte, hash uint64, f func([]known)) {
	w, e := a.findOne(v, token, hash)
	w.at = int32(a.at)
	r := &a.row
	if r.m == len(r.found) {
		a.hand(f)
	}
	r.add(w, e)
	if r.one {
		a.hand(f)
	}
}

func (a *Analyzer) findOne(v *vocabulary, token []byte, hash uint64) (known, **entry) {
	if a.row.numbered {
		w, ok := bucketOf(*a.shared.numbers.table.Load(), hash).find(hash)
		if !ok {
			w = a.learnNumbers(v, token, hash)
		}
		return w, nil
	}
	w, e := v.words.find(hash)
	if e == nil {
		w, e = a.learn(v, token, hash)
	}
	return w, e
}

// add adds a word, for which there is room, unless nobody wants it.
func (r *row) add(w known, e **entry) {
	r.found[r.m] = w
	if !r.numbered {
		r.entries[r.m] = e
	}
	if w.body != leftOut || w.also != 0 {
		r.m++
	}
}

// hand hands on what was found.
func (a *Analyzer) hand(f func([]known)) {
	if m := a.row.m; m > 0 {
		a.row.m = 0
		f(a.row.found[:m])
	}
}
