package priority

import (
	"math"
	"strconv"
	"strings"

	"fossick/crawler/urlfrontier/api"
)

// What clients say of a URL. url.path is what StormCrawler sends with each link: the URLs
// that led there, the page that has it last.
const (
	pathKey        = "url.path"
	anchorKey      = "anchor"
	anchorsKey     = "anchors"
	titleKey       = "title"
	textKey        = "text"
	scoreKey       = "score"
	parentScoreKey = "parent.score"

	relevantKey  = "fossick.relevant"
	pageTextKey  = "fossick.text"
	pageTitleKey = "fossick.title"
	pageHTMLKey  = "fossick.html"
)

// pageKeys are of use once, and not kept.
var pageKeys = []string{pageTextKey, pageTitleKey, pageHTMLKey}

// maxWordsBytes bounds what is read of the words with a link; a page may have more.
const maxWordsBytes = 2 << 10

// words are the values of some keys, as one text.
func words(info *api.URLInfo, keys ...string) string {
	var b strings.Builder
	for _, key := range keys {
		for _, v := range info.GetMetadata()[key].GetValues() {
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(v)
			if b.Len() > maxWordsBytes {
				return strings.ToValidUTF8(b.String()[:maxWordsBytes], "")
			}
		}
	}
	return b.String()
}

// whole is the first value of a key.
func whole(info *api.URLInfo, key string) string {
	if v := info.GetMetadata()[key].GetValues(); len(v) > 0 {
		return v[0]
	}
	return ""
}

// parentOf is the page whose link led to a URL, "" when there is none.
func parentOf(info *api.URLInfo) string {
	if path := info.GetMetadata()[pathKey].GetValues(); len(path) > 0 {
		return path[len(path)-1]
	}
	return ""
}

// number reads a finite number.
func number(info *api.URLInfo, key string) (x float64, ok bool) {
	x, err := strconv.ParseFloat(strings.TrimSpace(whole(info, key)), 64)
	return x, err == nil && !math.IsNaN(x) && !math.IsInf(x, 0)
}

// yes reads yes or no, true or false, 1 or 0.
func yes(info *api.URLInfo, key string) (is, said bool) {
	switch strings.ToLower(strings.TrimSpace(whole(info, key))) {
	case "yes", "true", "1":
		return true, true
	case "no", "false", "0":
		return false, true
	}
	return false, false
}
