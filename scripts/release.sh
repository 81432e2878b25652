#!/usr/bin/env bash
# release.sh [DIR [OS/ARCH...]] makes the release of HEAD in a folder (default dist/):
# archives with a static binary for Linux and macOS, amd64 and arm64, or only for
# the systems that are named, each with its bill of materials, and SHA256SUMS.
# Builds of one commit by one Go have equal bytes, wherever and whenever they are
# made. It needs git, Go and GNU tar; docs/testing.md says more.
set -euo pipefail
export LC_ALL=C TZ=UTC
limit=68000000 # bytes that a binary may have

repo=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
mkdir -p "${1:-dist}"
out=$(cd "${1:-dist}" && pwd)
targets=("${@:2}")
[ ${#targets[@]} -gt 0 ] || targets=(linux/amd64 linux/arm64 darwin/amd64 darwin/arm64)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A clone of its own, without tags: what is not committed stays out, and the version
# that Go writes into the binary depends on the commit alone.
git clone --quiet --no-tags "$repo" "$work/src"
cd "$work/src"
version=$(sed -n 's/^const version = "\(.*\)"$/\1/p' cmd/fossick/version.go)
[ -n "$version" ] || { echo "release: no version in cmd/fossick/version.go" >&2; exit 1; }
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

# What a machine's settings could change is set here.
unset GOOS GOARCH GOEXPERIMENT
export GOFLAGS=-mod=readonly GOWORK=off CGO_ENABLED=0 GOAMD64=v1 GOARM64=v8.0
go build -o "$work/describe" ./internal/release

# What no page passes through is compiled without inlining, as that makes it larger.
small=()
for cold in crypto/tls crypto/x509 encoding/gob encoding/json html/template net/http/pprof runtime/pprof text/template \
	"$(go list -m)/cmd" github.com go.opentelemetry.io gonum.org/v1/gonum/lapack google.golang.org; do
	small+=("-gcflags=$cold/...=-l")
done
for hot in abadojack bits-and-blooms blevesearch cespare clipperhouse dgraph-io fxamacker go-json-experiment gocolly klauspost ncruces saintfish sjwhitworth; do
	small+=("-gcflags=github.com/$hot/...=")
done

# Completion is the same everywhere: what this machine builds prints it, without its settings.
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
	cp -R LICENSE README.md CHANGELOG.md SECURITY.md contrib "$work/completion" "$folder/"
	tar --create --format=ustar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
		--mode='u=rwX,go=rX' --directory="$work" "$name" | gzip -9 --no-name >"$out/$name.tar.gz"
	echo "$name.tar.gz: $size bytes of binary"
done
cd "$out"
sha256sum "fossick-$version"-*.tar.gz "fossick-$version"-*.cdx.json >SHA256SUMS
