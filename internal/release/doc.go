// Command release writes what a released binary is shipped with: the licences of
// all that is linked into it, and its bill of materials.
//
// In: a binary of fossick, and the module cache. Out: THIRD_PARTY_NOTICES and an SBOM
// in CycloneDX's JSON. The binary says which modules it was linked from and for which
// platform. Licences are those in the folders of the linked packages and above.
// scripts/release.sh calls it.
//
// Files: main.go flags; modules.go what is linked; licences.go whose terms these
// are; notices.go and sbom.go the two files.
package main
