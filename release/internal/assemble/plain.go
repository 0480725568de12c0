package assemble

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	names "github.com/slipway-dev/slipway/internal/release"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/release/internal/distro"
	"github.com/slipway-dev/slipway/release/internal/npm"
)

// errPlain is that a folder has what no release has.
var errPlain = errors.New("they are not those of a release")

// imageName is the file with the container image.
func imageName(version string) string { return "slipway_" + version + "_image.tar" }

// fileNames are those that files of a version's release may have.
func fileNames(version string) []string {
	all := []string{names.SumsName, names.SignatureName, KeyName, formulaName, imageName(version)}
	for _, p := range names.Platforms() {
		all = append(all, names.Archive(version, p[0], p[1]), billName(version, p))
		if p[0] == "linux" {
			for _, format := range distro.Formats() {
				all = append(all, distroName(version, p, format))
			}
		}
	}
	return append(all, npm.Files(version, names.Platforms())...)
}

// plain refuses a folder that has other files than a release, or links: what lies in it may come from a machine that
// the one with the key does not trust, and its list of checksums with it.
func (o Options) plain() error {
	var wrong []string
	for _, dir := range []string{filepath.Dir(o.dist()), o.dist()} {
		if is, err := os.Lstat(dir); err == nil && !is.IsDir() {
			wrong = append(wrong, filepath.Base(dir)+" is no folder")
		}
	}
	if len(wrong) == 0 {
		wrong = strangers(o.dist(), fileNames(o.Version))
	}
	if len(wrong) == 0 {
		return nil
	}
	return &report.Error{What: "the files of the release are others", Where: o.dist(), Err: errPlain, Hint: strings.Join(wrong, "\n"), Next: "make release VERSION=" + o.Version}
}

// strangers says which entries of a folder are no files, or have none of the names. A folder that is not there has
// none.
func strangers(dir string, known []string) (wrong []string) {
	found, _ := os.ReadDir(dir) // an error is that of reading the checksums, which comes next
	for _, f := range found {
		switch {
		case !slices.Contains(known, f.Name()):
			wrong = append(wrong, f.Name()+" is no name of a release's file")
		case !f.Type().IsRegular():
			wrong = append(wrong, f.Name()+" is a link, or something else that is no file")
		}
	}
	return wrong
}
