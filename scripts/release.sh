#!/usr/bin/env bash
# release.sh [DIR [OS/ARCH...]] makes the release of HEAD in a folder (default dist/): SHA256SUMS, and
# for each system (default Linux and macOS, amd64 and arm64) an archive with a static binary, and its
# bill of materials. Builds of one commit by one Go version are byte-identical everywhere. It needs git,
# Go and GNU tar; see docs/CONTRIBUTING.md.
set -euo pipefail
export LC_ALL=C TZ=UTC
limit=85000000 # largest binary, in bytes

repo=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
mkdir -p "${1:-dist}"
out=$(cd "${1:-dist}" && pwd)
targets=("${@:2}")
[ ${#targets[@]} -gt 0 ] || targets=(linux/amd64 linux/arm64 darwin/amd64 darwin/arm64)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A clone without tags leaves out what is not committed, and the version that Go writes into the binary
# then depends on the commit alone.
git clone --quiet --no-tags "$repo" "$work/src"
cd "$work/src"
version=$(sed -n 's/^const version = "\(.*\)"$/\1/p' cmd/fossick/version.go)
[ -n "$version" ] || { echo "release: no version in cmd/fossick/version.go" >&2; exit 1; }
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

# Settings of this machine must not change the binaries.
unset GOOS GOARCH GOEXPERIMENT
export GOFLAGS=-mod=readonly GOWORK=off CGO_ENABLED=0 GOAMD64=v1 GOARM64=v8.0
go build -o "$work/describe" ./internal/release

# Packages that no page passes through are compiled without inlining, for smaller binaries.
small=()
for cold in crypto/tls crypto/x509 encoding/gob encoding/json html/template net/http/pprof runtime/pprof text/template \
	"$(go list -m)/cmd" github.com go.opentelemetry.io gonum.org/v1/gonum/lapack google.golang.org; do
	small+=("-gcflags=$cold/...=-l")
done
for hot in abadojack bits-and-blooms blevesearch cespare clipperhouse dgraph-io fxamacker go-json-experiment gocolly klauspost ncruces saintfish sjwhitworth; do
	small+=("-gcflags=github.com/$hot/...=")
done

# Completion is the same on all systems: a binary for this one prints it, without user settings.
go build -trimpath "${small[@]}" -ldflags='-s -w' -o "$work/here" ./cmd/fossick
here() { env -i HOME="$work" "$work/here" "$@"; }
mkdir -p "$work/completion"
here completion bash >"$work/completion/fossick.bash"
here completion zsh >"$work/completion/fossick.zsh"
here completion fish >"$work/completion/fossick.fish"

for target in "${targets[@]}"; do
	os=${target%/*} arch=${target#*/}
	name=fossick-$version-$os-$arch
	folder=$work/$name
	mkdir -p "$folder"
	GOOS=$os GOARCH=$arch go build -trimpath -buildvcs=true "${small[@]}" -ldflags='-s -w' -o "$folder/fossick" ./cmd/fossick
	size=$(wc -c <"$folder/fossick")
	if [ "$size" -gt "$limit" ]; then
		echo "release: $name has $size bytes, more than $limit: see what grew by 'go tool nm -size -sort size'" >&2
		exit 1
	fi
	"$work/describe" -version "$version" -time "$SOURCE_DATE_EPOCH" \
		-notices "$folder/THIRD_PARTY_NOTICES" -sbom "$out/$name.cdx.json" "$folder/fossick"
	cp -R LICENSE README.md CHANGELOG.md docs/CONTRIBUTING.md .github/SECURITY.md scripts/Dockerfile scripts/systemd "$work/completion" "$folder/"
	tar --create --format=ustar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
		--mode='u=rwX,go=rX' --directory="$work" "$name" | gzip -9 --no-name >"$out/$name.tar.gz"
	echo "$name.tar.gz: $size bytes of binary"
done
cd "$out"
sha256sum "fossick-$version"-*.tar.gz "fossick-$version"-*.cdx.json >SHA256SUMS
