#!/usr/bin/env bash
# Installs the programs by others that exports are compared with, unless they exist: Debian packages
# with apt-get, as root, and programs for node and Go in DIR.
#
#	scripts/peers.sh DIR
#	FOSSICK_FULL=1 FOSSICK_TEST_PEERS=DIR go test ./export/... ./cmd/fossick -run 'Exported|Postgres|Copy|SQLite|Bucket'
#
# A program that cannot be installed is an error, and so it is in tests with FOSSICK_TEST_PEERS set.
set -euo pipefail
[ $# = 1 ] || { echo "usage: scripts/peers.sh DIR" >&2; exit 2; }
mkdir -p "$1"
cd "$1"

limit=${PEERS_LIMIT:-600} # seconds for each step that waits for the network
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

# The tests were written with these versions; node 18 runs them. The scripts of ReplayWeb.page are
# prebuilt, so its package alone is enough.
replay=replaywebpage@2.5.3
modules=(@duckdb/node-api@1.5.6-r.1 puppeteer-core@24.43.1 warcio@2.4.11 http-message-sig@0.3.0)
if [ "$(cat installed 2>/dev/null)" != "$replay ${modules[*]}" ]; then
	rm -rf installed package.json package-lock.json node_modules
	bounded npm install --prefix . --loglevel error --no-audit --no-fund --ignore-scripts "${modules[@]}" >npm.log
	bounded npm pack --loglevel error "$replay" >npm.log
	mkdir node_modules/replaywebpage
	tar -xzf "${replay/@/-}.tgz" -C node_modules/replaywebpage --strip-components 1 package/{index.html,sw.js,ui.js,package.json}
	echo "$replay ${modules[*]}" >installed
fi

gateway=github.com/versity/versitygw/cmd/versitygw@v1.8.0
if [ "$(cat bin/installed 2>/dev/null)" != "$gateway" ]; then
	bounded env GOBIN="$PWD/bin" go install "$gateway"
	echo "$gateway" >bin/installed
fi
