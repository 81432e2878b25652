package tries

import (
	"fmt"
	"testing"
)

// notes records a test's messages.
type notes struct {
	testing.TB
	said  []string
	after []func()
}

func (n *notes) Helper()          {}
func (n *notes) Cleanup(f func()) { n.after = append(n.after, f) }
func (n *notes) Logf(format string, args ...any) {
	n.said = append(n.said, fmt.Sprintf(format, args...))
}
func (n *notes) Errorf(format string, args ...any) {
	n.Logf("error: "+format, args...)
}

func TestClass(t *testing.T) {
	n := &notes{TB: t}
	c := Of(n, "names")
	if !c.Try(true, "never said") || c.Try(false, "%s was let through", "a.internal") || !c.Try(true, "") {
		t.Error("a try says other than it was told")
	}
	c.Known("b.internal: its spelling")
	for _, f := range n.after {
		f()
	}
	want := []string{"error: a.internal was let through", "b.internal: its spelling", "tries of names: 2 held, 2 fell"}
	if fmt.Sprint(n.said) != fmt.Sprint(want) {
		t.Errorf("said %q, want %q", n.said, want)
	}
}
