#!/usr/bin/env bash
# Installs the programs of others that exports are compared with: Debian's by apt-get, for
# which it has to be root, those of node and Go in a folder. What is there is left alone.
#
#	scripts/peers.sh DIR
#	FOSSICK_FULL=1 FOSSICK_TEST_PEERS=DIR go test ./export/... ./cmd/fossick -run 'Exported|Postgres|Copy|SQLite|Bucket'
#
# A peer that cannot be had is an error here. With FOSSICK_TEST_PEERS set it is one in the tests too.
set -euo pipefail
[ $# = 1 ] || { echo "usage: scripts/peers.sh DIR" >&2; exit 2; }
mkdir -p "$1"
cd "$1"

limit=${PEERS_LIMIT:-600} # seconds for each of the steps that wait for the network
bounded() {
	timeout "$limit" "$@" || { echo "peers: $1 failed, or took more than $limit s: $*" >&2; exit 1; }
}

packages=()
while read -r file package; do
	compgen -G "$file" >/dev/null || packages+=("$package")
done <<-END
	/usr/bin/chromium chromium
	/usr/bin/curl curl
	/usr/bin/node nodejs
	/usr/bin/npm npm
	/usr/bin/sqlite3 sqlite3
	/usr/bin/unzip unzip
	/usr/lib/postgresql/*/bin/initdb postgresql
	/usr/lib/python3/dist-packages/networkx python3-networkx
END
if [ ${#packages[@]} -gt 0 ]; then
	bounded apt-get update -qq
	DEBIAN_FRONTEND=noninteractive bounded apt-get install -y -qq --no-install-recommends "${packages[@]}" >apt.log
fi

# The versions are those that the tests were written with; node 18 runs them. Of
# ReplayWeb.page the package alone is taken: its two scripts are built, and need nothing.
replay=replaywebpage@2.5.3
modules=(@duckdb/node-api@1.5.6-r.1 puppeteer-core@24.43.1 warcio@2.4.11)
if [ "$(cat installed 2>/dev/null)" != "$replay ${modules[*]}" ]; then
	rm -rf installed package.json package-lock.json node_modules
	bounded npm install --prefix . --loglevel error --no-audit --no-fund --ignore-scripts "${modules[@]}" >npm.log
	bounded npm pack --loglevel error "$replay" >npm.log
	mkdir node_modules/replaywebpage
	tar -xzf "${replay/@/-}.tgz" -C node_modules/replaywebpage --strip-components 1 package/{index.html,sw.js,ui.js,package.json}
	echo "$replay ${modules[*]}" >installed
fi

# A server of S3.
gateway=github.com/versity/versitygw/cmd/versitygw@v1.8.0
if [ "$(cat bin/installed 2>/dev/null)" != "$gateway" ]; then
	bounded env GOBIN="$PWD/bin" go install "$gateway"
	echo "$gateway" >bin/installed
fi
