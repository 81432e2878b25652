package table

import "unicode"

// Words counts the words of a text: runs of letters, digits and marks. Each character of a
// script that puts no blanks between words counts as one.
func Words(text string) int {
	n, inside := 0, false
	for _, r := range text {
		switch {
		case r < 0x80:
			is := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
			if is && !inside {
				n++
			}
			inside = is
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
			n++
			inside = false
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			if !inside {
				n++
			}
			inside = true
		case unicode.IsMark(r): // belongs to the letter before
		default:
			inside = false
		}
	}
	return n
}
