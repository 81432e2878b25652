// Package values reads numbers and times as people write them: 10k, 90s, 2w, "1 day".
//
// Duration and Count read a text; Mappers has a parser of kong read all flags so.
package values
