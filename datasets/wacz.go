package datasets

import (
	"archive/zip"
	"fmt"
	"strings"
)

// readWACZ reads the archives in a WACZ: the WARC files in its folder archive, by name.
func readWACZ(path string) reader {
	return func(rep *Report, yield func(*Example, error) bool) {
		z, err := zip.OpenReader(path)
		if err != nil {
			yield(nil, fmt.Errorf("%s: %w; want a WACZ, which is a zip file", path, err))
			return
		}
		defer z.Close()
		a := newArchive(rep, yield)
		found := false
		for _, f := range z.File {
			if !strings.HasPrefix(f.Name, "archive/") || !warcName.MatchString(f.Name) {
				continue
			}
			found = true
			r, err := f.Open()
			if err != nil {
				yield(nil, fmt.Errorf("%s: %s: %w", path, f.Name, err))
				return
			}
			goOn := a.file(path+"/"+f.Name, r)
			if r.Close(); !goOn { // what was read is compared with the entry's checksum at its end
				return
			}
		}
		if !found {
			yield(nil, fmt.Errorf("%s: %w: no archive/*.warc.gz in it", path, ErrLayout))
			return
		}
		a.end()
	}
}
