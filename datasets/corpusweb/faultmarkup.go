package corpusweb

import (
	"fmt"
	"strings"
)

// markupFaults are pages that are bad for parsers, or lead nowhere good. Two of a
// kind have nearly the same words.
func markupFaults() []Fault {
	return []Fault{
		markup("attributes-million", "gives one element a million attributes", func(*victim) string {
			return "<p" + strings.Repeat(" a", 1_000_000) + ">attributes"
		}),
		markup("nested-tables", "nests 50,000 tables", func(*victim) string {
			return strings.Repeat("<table><tr><td>", 50_000) + "deep"
		}),
		markup("nested-foreign", "nests drawings, formulas and templates in each other", func(*victim) string {
			return strings.Repeat("<svg><foreignObject><template><math><annotation-xml>", 20_000) + "<a href=/~nothing/deep>deep</a>"
		}),
		markup("misnested", "closes 100,000 elements in the wrong order", func(*victim) string {
			return strings.Repeat("<a><b><i><p></b></a><font></i>", 100_000) + "crossed"
		}),
		markup("open-comment", "opens a comment, CDATA and a declaration, and closes none", func(*victim) string {
			return "<p>text<svg><![CDATA[ <a href=/~nothing/1>" + strings.Repeat("<!", 100_000) + "<!--" + strings.Repeat("--!", 100_000)
		}),
		markup("open-attribute", "opens an attribute's value and never closes it", func(*victim) string {
			return "<p>text<a href='" + strings.Repeat("<a href=/~nothing/2>", 100_000)
		}),
		markup("frameset", "is a frameset with frames in frames", func(v *victim) string {
			return "<frameset cols=*,*>" + strings.Repeat("<frame src=\""+v.q.path+"\"><frameset rows=*>", 1000) + "<frame src=javascript:top.location><noframes>no frames</noframes>"
		}),
		markup("huge-link", "has a link of 2 MB", func(*victim) string {
			return "<a href=\"/" + strings.Repeat("u", 2<<20) + "\">long</a><a href=/~nothing/after>after</a>"
		}),
		markup("base-elsewhere", "sets another host as the base of its links", func(*victim) string {
			return "<base href=\"http://127.0.0.1:22/\"><base href=\"data:text/html,x\"><a href=relative>in</a>"
		}),
		markup("base-data", "sets a data URL as the base of its links", func(*victim) string {
			return "<base href=\"data:text/html,x\"><a href=relative>in</a><a href=//>none</a>"
		}),
		markup("refresh-self", "refreshes itself at once, for ever", func(v *victim) string {
			return "<meta http-equiv=refresh content=\"0\"><meta http-equiv=refresh content=\"0;url=" + v.q.path + "\"><meta http-equiv=refresh content=\"-1;url='//[\">"
		}),
		markup("odd-hosts", "links to hosts with impossible names", func(v *victim) string {
			return string(links("odd hosts", oddHosts(v.q.host)))
		}),
		markup("odd-ports", "links to ports of other protocols", func(v *victim) string {
			name := hostName(v.q.host)
			var targets []string
			for _, port := range []int{0, 1, 22, 25, 110, 6379, 65536, 99999999} {
				targets = append(targets, fmt.Sprintf("http://%s:%d/", name, port))
			}
			return string(links("odd ports", targets))
		}),
		markup("many-hosts", "links to a hundred new hosts", func(v *victim) string {
			targets := make([]string, 100)
			for i := range targets {
				targets[i] = fmt.Sprintf("http://n%d.%s.invalid/", i, hostName(v.q.host))
			}
			return string(links("many hosts", targets))
		}),
	}
}

// oddHosts returns URLs of hosts that no name server knows by such names.
func oddHosts(host string) []string {
	return []string{
		"http://" + strings.Repeat("l", 64) + ".test/", "http://" + strings.Repeat("label.", 50) + "test/",
		"http://under_score.test/", "http://-dash-.test/", "http://a..test/", "http://.test/", "http://.../",
		"http://" + strings.ToUpper(host) + "./", "http://%00.test/", "http://a%2fb.test/", "http://xn--a.test/", "http://xn--0000000000.test/",
		"http://\u0430pple.test/", "http://\u202etset.test/", "http://\uff41.test/", "http://\U0001f4a9.test/", "http://*.test/",
		"http://1.2.3/", "http://0x7f000001/", "http://[::1%25eth0]/", "http://[::ffff:127.0.0.1]:80/", "http://127.1:6379/",
		"http://user:pass@127.0.0.1/", "http://127.0.0.1\\@a.test/", "http://a.test\\@127.0.0.1/", "http:\\\\127.0.0.1\\", "///127.0.0.1/",
	}
}
