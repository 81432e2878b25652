#!/usr/bin/env bash
# Makes a container image of a released binary: scripts/image.sh ARCHIVE.tar.gz [TAG].
# It needs docker, podman or buildah, and this machine's CA certificates.
set -euo pipefail
archive=$1 tag=${2:-fossick}
here=$(cd "$(dirname "$0")/.." && pwd)
context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT
mkdir "$context/fossick" "$context/data" "$context/tmp"
tar --extract --file="$archive" --directory="$context/fossick" --strip-components=1
cp /etc/ssl/certs/ca-certificates.crt "$context/"
chmod 755 "$context"
for tool in docker podman buildah; do
	if "$tool" info >/dev/null 2>&1; then
		"$tool" build --file "$here/scripts/Dockerfile" --tag "$tag" "$context"
		exit
	fi
done
echo "image: no docker, podman or buildah answers; install one" >&2
exit 1
