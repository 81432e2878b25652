package limits

import (
	"errors"
	"strings"
	"testing"
)

func TestLimits(t *testing.T) {
	const agent = "0123456789abcdef"
	for name, c := range map[string]struct {
		err  error
		want error
	}{
		"a key":             {Key("heartbeat."+agent, nil), nil},
		"a path":            {Key("a/b=c_d-e", make([]byte, valueBytes)), nil},
		"no key":            {Key("", nil), ErrName},
		"hidden":            {Key("_a", nil), ErrName},
		"an empty part":     {Key("a..b", nil), ErrName},
		"ends in a dot":     {Key("a.", nil), ErrName},
		"all keys":          {Key("a.>", nil), ErrName},
		"any key":           {Key("a.*", nil), ErrName},
		"two lines":         {Key("a\n", nil), ErrName},
		"a long key":        {Key(strings.Repeat("a", keyBytes+1), nil), ErrName},
		"a large value":     {Key("a", make([]byte, valueBytes+1)), ErrLarge},
		"a message":         {Message(agent, make([]byte, messageBytes)), nil},
		"a large message":   {Message(agent, make([]byte, messageBytes+1)), ErrLarge},
		"to a short name":   {Message("0123", nil), ErrName},
		"to capitals":       {Message("0123456789ABCDEF", nil), ErrName},
		"to all":            {Message("*", nil), ErrName},
		"to another's name": {Message(agent+"\n", nil), ErrName},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", name, c.err, c.want)
		}
	}
}
