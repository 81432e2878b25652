package printable

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/dustin/go-humanize"
)

var (
	verb = regexp.MustCompile(`%(?:%|[-+# 0]*(?:\d+)?(?:\.\d+)?[a-zA-Z])`)
	// counted is what follows the verb of a count, with or without an adjective.
	counted = regexp.MustCompile(`^ (?:[a-z]+ )??(agent|block|byte|candidate|class|communitie|crawl|domain|edge|error|file|host|iteration|label|link|look|node|page|partie|record|request|round|row|seed|set|site|sitemap|store|topic|URL|visit|word)(?:e?s)\b`)
)

// Sprintf is fmt.Sprintf with words as in Fprintf, and with readable counts: for "%d pages", 1
// gives "1 page" and 11618097 gives "11,618,097 pages".
func Sprintf(format string, args ...any) string {
	inLine(args)
	return fmt.Sprintf(counts(format, args), args...)
}

// counts adapts verb and noun of each count in format, and turns those numbers into text.
func counts(format string, args []any) string {
	var b strings.Builder
	arg := 0
	for format != "" {
		at := verb.FindStringIndex(format)
		if at == nil {
			break
		}
		v, rest := format[at[0]:at[1]], format[at[1]:]
		b.WriteString(format[:at[0]])
		format = rest
		if v == "%%" || arg >= len(args) {
			b.WriteString(v)
			continue
		}
		noun := counted.FindStringSubmatchIndex(rest)
		n, isCount := number(args[arg])
		if v != "%d" || noun == nil || !isCount {
			b.WriteString(v)
			arg++
			continue
		}
		b.WriteString("%s")
		args[arg] = humanize.Comma(n)
		arg++
		if n == 1 {
			one := strings.Replace(rest[noun[2]:noun[3]]+".", "ie.", "y.", 1)
			b.WriteString(rest[:noun[2]] + strings.TrimSuffix(one, "."))
			format = rest[noun[1]:]
		}
	}
	return b.String() + format
}

func number(arg any) (n int64, ok bool) {
	switch v := reflect.ValueOf(arg); {
	case v.CanInt():
		return v.Int(), true
	case v.CanUint():
		return int64(v.Uint()), true
	}
	return 0, false
}
