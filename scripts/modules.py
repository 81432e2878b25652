#!/usr/bin/env python3
"""Prints what each module costs the first build; docs/dependencies.md has the largest.

	scripts/modules.py DIR

builds fossick with Go's caches in the new folder DIR, which takes minutes of processor time
and a GB of disk. Columns: MB to download; MB unpacked; seconds of processor time (user and
system) to compile; KB of code in the binary; the module that asks for it.
"""
import collections, json, os, re, subprocess, sys

here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
work = os.path.abspath(sys.argv[1])
env = dict(os.environ, GOPATH=work + "/path", GOMODCACHE=work + "/mod", GOCACHE=work + "/cache")


def go(*args):
    return subprocess.run(["go", *args], cwd=here, env=env, check=True, stdout=subprocess.PIPE, text=True).stdout


graph, binary = work + "/graph.json", work + "/fossick"
if not os.path.exists(graph):
    go("build", "-debug-actiongraph=" + graph, "-o", binary, "./cmd/fossick")
module, folder, zips, asks = {}, {}, {}, {}
packages = go("list", "-deps", "-f", '{{.ImportPath}} {{with .Module}}{{.Path}} {{.Version}} {{.Dir}}{{end}} {{join .Imports " "}}', "./cmd/fossick").splitlines()
for line in packages:
    at = line.split()
    if len(at) < 4 or not at[3].startswith(work):
        module[at[0]] = "fossick" if at[0].startswith("fossick") else "Go's own"
        continue
    module[at[0]], folder[at[1]] = at[1], at[3]
    zips[at[1]] = re.sub("/mod/(.*)@(.*)", r"/mod/cache/download/\1/@v/\2.zip", at[3])
for line in packages:
    for imported in line.split()[1:]:
        if module.get(imported) not in (None, module[line.split()[0]]):
            asks.setdefault(module[imported], module[line.split()[0]])
seconds, code = collections.Counter(), collections.Counter()
for action in json.load(open(graph)):
    seconds[module.get(action.get("Package"), "Go's own")] += (action.get("CmdUser", 0) + action.get("CmdSys", 0)) / 1e9
for line in go("tool", "nm", "-size", binary).splitlines():
    at = line.split(maxsplit=3)
    if len(at) == 4 and at[2] in "tTrR":
        name = re.sub(r"^go:[a-z*.()]*|^type:[.a-z]*", "", at[3]).replace("%2e", ".")
        package = re.match(r"(?:[^(\[]*/)?[^.(\[]*", name).group()
        code[module.get(package, "Go's own")] += int(at[1])
rows = []
for name in set(folder) | {"fossick", "Go's own"}:
    files = [os.path.join(d, f) for d, _, fs in os.walk(folder.get(name, "")) for f in fs]
    rows.append([name, os.path.getsize(zips[name]) / 1e6 if name in zips else 0, sum(map(os.path.getsize, files)) / 1e6, seconds[name], code[name] / 1e3, asks.get(name, "")])
rows.sort(key=lambda r: (r[0] in folder, -r[2]))


def total(name, of):
    return [name, *(sum(r[i] for r in of) for i in range(1, 5)), ""]


small = [r for r in rows if r[2] < 1 and r[3] < 1]
print("| module | download, MB | unpacked, MB | to compile, s | code, KB | comes by |\n|---|---|---|---|---|---|")
for r in [*(r for r in rows if r not in small), total(f"{len(small)} others", small), total("**all**", rows)]:
    print("| {} | {:.1f} | {:.1f} | {:.1f} | {:,.0f} | {} |".format(*r))
