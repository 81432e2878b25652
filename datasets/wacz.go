package datasets

import (
	"archive/zip"
	"errors"
	"fmt"
	"os"
	"strings"

	"fossick/internal/reading"
	"fossick/internal/warc"
)

// maxZipEntries bounds the files of a WACZ, of which each costs half a kilobyte of memory.
const maxZipEntries = 1 << 20

// zipOf reads what a zip file has.
func zipOf(f *os.File) (*zip.Reader, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	z, err := zip.NewReader(f, info.Size())
	if err == nil && len(z.File) > maxZipEntries {
		err = fmt.Errorf("it has %d files, at most %d are read", len(z.File), maxZipEntries)
	}
	return z, err
}

// grows says whether an entry grows more than archives do: one that is packed already hardly
// at all, a plain one no more than reading.Bomb says.
func grows(f *zip.File) error {
	const packedAgain, small = 20, 1 << 20
	out, in := int64(f.UncompressedSize64), int64(f.CompressedSize64)
	packed := strings.HasSuffix(f.Name, ".gz") || strings.HasSuffix(f.Name, ".zst")
	if !reading.Bomb(in, out) && !(packed && out > small && out/packedAgain > in) {
		return nil
	}
	return fmt.Errorf("%w: %d KiB from %d", warc.ErrBomb, out>>10, in>>10)
}

// readWACZ reads the archives in a WACZ: the WARC files in its folder archive, by name.
func readWACZ(path string) reader {
	return func(rep *Report, yield func(*Example, error) bool) {
		file, err := reading.Open(path)
		if err != nil {
			yield(nil, err)
			return
		}
		defer file.Close() // opened for reading: nothing can be lost
		z, err := zipOf(file)
		if err != nil {
			yield(nil, fmt.Errorf("%s: %w; want a WACZ, which is a zip file", path, err))
			return
		}
		a := newArchive(rep, yield)
		found := false
		for _, f := range z.File {
			if !strings.HasPrefix(f.Name, "archive/") || !warcName.MatchString(f.Name) {
				continue
			}
			found = true
			r, err := f.Open()
			if err = errors.Join(err, grows(f)); err != nil {
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
