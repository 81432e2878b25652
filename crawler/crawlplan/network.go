package crawlplan

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"strings"

	"fossick/crawler/fetch"
	"fossick/datasets"
	"fossick/internal/reading"
	"fossick/internal/usage"
)

// Network is which ways a crawl takes into the network, and who may look at it from there.
type Network struct {
	Ways
	Listen string `placeholder:"ADDR" help:"Show the running crawl at http://ADDR/status (JSON) and /metrics (Prometheus); :PORT is on loopback. It answers requests by address, by localhost and by the name in ADDR only. With --verbose also Go's profiles at /debug/pprof, for this machine." group:"net" expert:""`
}

// Ways are the ways into the network that requests take.
type Ways struct {
	Proxy    string   `placeholder:"URL" help:"Send all requests through a proxy: http, https, socks5 or socks5h://[USER:PASSWORD@]HOST:PORT; a password is not kept in the store." group:"net" expert:""`
	Hosts    string   `placeholder:"FILE" help:"File with the addresses of hosts: name TAB ip[:port] a line." group:"net" expert:""`
	CA       string   `name:"ca" placeholder:"FILE" help:"File of further certificate authorities (PEM), such as the one that fossick serve names." group:"net" expert:""`
	AllowNet []string `placeholder:"CIDRS" help:"Networks to allow although the guard would refuse them, such as 127.0.0.0/8." group:"net" expert:""`
}

func (n *Network) settings(saved *Network) []setting {
	return []setting{
		of("proxy", "", &n.Proxy, &saved.Proxy, itself),
		of("hosts", "", &n.Hosts, &saved.Hosts, itself),
		of("ca", "", &n.CA, &saved.CA, itself),
		listOf("allow-net", &n.AllowNet, &saved.AllowNet),
		of("listen", "", &n.Listen, &saved.Listen, itself),
	}
}

// maxCABytes bounds a file of --ca; the system's own authorities have a quarter of a MiB.
const maxCABytes = 16 << 20

// apply sets the ways that a fetcher takes, within the nets of a scope.
func (n *Network) apply(opt *fetch.Options, scope *scope) (err error) {
	if n.Proxy != "" {
		if opt.Proxy, err = ParseProxy(n.Proxy); err != nil {
			return err
		}
	}
	if opt.AllowNet, err = Nets(n.AllowNet); err != nil {
		return err
	}
	if n.Hosts != "" {
		file, err := datasets.OpenList(n.Hosts)
		if err != nil {
			return fmt.Errorf("--hosts: %w", err)
		}
		defer file.Close() // opened for reading: nothing can be lost
		if opt.Hosts, err = fetch.ParseHosts(file, n.Hosts); err != nil {
			return err
		}
	}
	if opt.Only, err = scope.nets(n.Proxy != ""); err != nil {
		return err
	}
	return n.authorities(opt)
}

// authorities reads the file of --ca.
func (n *Network) authorities(opt *fetch.Options) error {
	if n.CA == "" {
		return nil
	}
	file, err := reading.OpenNamed(n.CA)
	if err != nil {
		return fmt.Errorf("--ca: %w", err)
	}
	defer file.Close() // opened for reading: nothing can be lost
	opt.RootCAs, err = fetch.ReadCAs(io.LimitReader(file, maxCABytes), n.CA)
	return err
}

// Nets reads --allow-net.
func Nets(texts []string) (nets []netip.Prefix, err error) {
	for _, text := range texts {
		net, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, usage.Errorf("--allow-net %s: give networks such as 127.0.0.0/8 or ::1/128", text)
		}
		nets = append(nets, net)
	}
	return nets, nil
}

// noPassword stands in a store where a proxy's password was; url.URL.Redacted
// puts it there.
const noPassword = "xxxxx"

// ParseProxy reads --proxy. What is wrong with it is told without quoting it, for
// it may have a password.
func ParseProxy(text string) (*url.URL, error) {
	proxy, err := url.Parse(text)
	if err != nil {
		var parse *url.Error
		if errors.As(err, &parse) {
			err = parse.Err // the whole error has the URL
		}
		var escape url.EscapeError
		if errors.As(err, &escape) {
			err = errors.New("a % that does not begin an escape; write it as %25")
		}
		return nil, usage.Errorf("--proxy: not a URL: %w; give it as http://USER:PASSWORD@HOST:PORT, special characters escaped by %%", err)
	}
	if password, _ := proxy.User.Password(); password == noPassword {
		return nil, usage.Errorf("--proxy %s: the password is not kept in a store; give --proxy (or FOSSICK_PROXY) again with it", proxy)
	}
	return proxy, nil
}

// RedactProxy returns a proxy's URL without its password.
func RedactProxy(text string) string {
	proxy, err := url.Parse(text)
	if err != nil {
		return "" // cannot be: ParseProxy took it
	}
	return proxy.Redacted()
}

// opened names the settings of a store that open the guard or a listener, send requests
// elsewhere or sign them, and that the command line did not give: the store may be a
// stranger's. It returns "" for none.
func (saved *Settings) opened(given *Settings) string {
	var opened []string
	tell := func(flag, given, saved string) {
		if given == "" && saved != "" {
			opened = append(opened, "--"+flag+" "+saved)
		}
	}
	tell("allow-net", strings.Join(given.AllowNet, ","), strings.Join(saved.AllowNet, ","))
	tell("ca", given.CA, saved.CA)
	tell("hosts", given.Hosts, saved.Hosts)
	tell("listen", given.Listen, saved.Listen)
	tell("proxy", given.Proxy, RedactProxy(saved.Proxy))
	tell("sign", given.Sign, saved.Sign)
	return strings.Join(opened, ", ")
}
