// Command release writes the documents shipped with a released binary: the licences of all that is
// linked into it, and its bill of materials.
//
// In: a binary of fossick, and the module cache. Out: THIRD_PARTY_NOTICES and an SBOM in
// CycloneDX's JSON. The binary names its modules and its platform; licences are in the folders of
// the linked packages and above. scripts/release.sh calls it.
//
// Files: main.go flags; modules.go linked modules; licences.go their terms; notices.go and sbom.go
// the two outputs.
package main
