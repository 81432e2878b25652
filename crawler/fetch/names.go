package fetch

import (
	"net/netip"
	"slices"
	"strings"
)

// Where names lead that no public server has: what --allow-net must name a part of.
var (
	loopbackNets = nets("127.0.0.0/8", "::1/128")
	metadataNets = nets("169.254.169.254/32", "100.100.100.200/32", "192.0.0.192/32", "168.63.129.16/32", "fd00:ec2::254/128")
	privateNets  = nets("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "169.254.0.0/16", "fc00::/7", "fe80::/10")
)

func nets(all ...string) []netip.Prefix {
	parsed := make([]netip.Prefix, len(all))
	for i, s := range all {
		parsed[i] = netip.MustParsePrefix(s)
	}
	return parsed
}

// metadataNames are those of clouds' metadata services, with all names below them.
var metadataNames = []string{
	"metadata.google.internal", "metadata.goog", "metadata", // Google
	"instance-data", "instance-data.ec2.internal", // Amazon
	"metadata.azure.internal", "metadata.tencentyun.com", "metadata.packet.net", "metadata.platformequinix.com", "rancher-metadata",
}

// loopbackNames are those that resolvers and hosts files give to this machine.
var loopbackNames = []string{
	"localhost", "localhost.localdomain", "localhost6", "localhost6.localdomain6", "ip6-localhost", "ip6-loopback",
}

// privateNames are domains that exist inside of networks alone. ICANN or an RFC
// keeps them for that (internal, local, home.arpa), or nobody ever gets them
// (RFC 6762, appendix G), or they are a cluster's own (svc, cluster.local).
var privateNames = []string{
	"internal", "svc", "cluster.local", "local", "localdomain", "home.arpa",
	"intranet", "private", "corp", "home", "lan", "kubernetes.default",
}

// specialName says what a name in ASCII and lower case is kept for, and where it leads;
// "" for one that a public server may have.
func specialName(name string) (what string, where []netip.Prefix) {
	is := func(domain string) bool {
		rest, ok := strings.CutSuffix(name, domain)
		return ok && (rest == "" || strings.HasSuffix(rest, "."))
	}
	switch {
	case slices.ContainsFunc(metadataNames, is):
		return "cloud metadata", metadataNets
	case slices.ContainsFunc(loopbackNames, is):
		return "this machine's own name", loopbackNets
	case slices.ContainsFunc(privateNames, is):
		return "a name of private networks", privateNets
	case !strings.Contains(name, "."):
		return "a name without a dot, which exists only on a private network", privateNets
	}
	return "", nil
}
