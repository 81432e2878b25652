package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// netLab is a test's own network of network namespaces, joined with this process by a bridge.
type netLab struct {
	addr  string   // of this process
	addrs []string // of the machines
	names []string // network namespaces of the machines
}

func newNetLab(t *testing.T, machines int) *netLab {
	t.Helper()
	if _, err := exec.LookPath("ip"); err != nil || os.Getuid() != 0 {
		t.Skip("needs root, and ip of iproute2, to make network namespaces")
	}
	id := rand.N(1 << 20) // an earlier network may still exist for a while
	subnet := fmt.Sprintf("10.213.%d.", id%256)
	bridge := fmt.Sprintf("fsb%d", id)
	n := &netLab{addr: subnet + "254"}
	if out, err := exec.Command("ip", "link", "add", bridge, "type", "bridge").CombinedOutput(); err != nil {
		t.Skipf("needs the right to make network namespaces: %v, %s", err, out)
	}
	t.Cleanup(func() { ip(t, "link del "+bridge) })
	ip(t, "addr add "+n.addr+"/24 dev "+bridge)
	ip(t, "link set "+bridge+" up")
	for i := range machines {
		name, wire := fmt.Sprintf("fsn%d-%d", id, i), fmt.Sprintf("fsv%d-%d", id, i)
		n.names, n.addrs = append(n.names, name), append(n.addrs, fmt.Sprint(subnet, i+1))
		ip(t, "netns add "+name)
		t.Cleanup(func() { ip(t, "netns del "+name) })
		ip(t, "link add "+wire+" type veth peer name eth0 netns "+name)
		t.Cleanup(func() { ip(t, "link del "+wire) })
		ip(t, "link set "+wire+" master "+bridge+" up")
		ip(t, "-n "+name+" addr add "+n.addrs[i]+"/24 dev eth0")
		ip(t, "-n "+name+" link set eth0 up")
		ip(t, "-n "+name+" link set lo up")
	}
	return n
}

func ip(t *testing.T, command string) {
	t.Helper()
	if out, err := exec.Command("ip", strings.Fields(command)...).CombinedOutput(); err != nil {
		t.Errorf("ip %s: %v, %s", command, err, out)
	}
}

// cut drops what one machine sends to another, but not what comes back: packets go to a network card
// that does not exist.
func (n *netLab) cut(t *testing.T, from, to int) {
	t.Helper()
	ip(t, fmt.Sprintf("-n %s neigh replace %s lladdr 02:00:00:00:00:01 dev eth0 nud permanent", n.names[from], n.addrs[to]))
}

func (n *netLab) heal(t *testing.T, from, to int) {
	t.Helper()
	ip(t, fmt.Sprintf("-n %s neigh del %s dev eth0", n.names[from], n.addrs[to]))
}

// command returns a command on a machine; its process has the ID of the command itself, not of ip.
func (n *netLab) command(machine int, args ...string) *exec.Cmd {
	return exec.Command("ip", append([]string{"netns", "exec", n.names[machine]}, args...)...)
}
