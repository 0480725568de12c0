package cli

import (
	"os"
	"path/filepath"

	"github.com/slipway-dev/slipway/internal/report"
)

// readLicense reads the header that --license-file names.
func (inv *invocation) readLicense(name string) (string, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(inv.Dir, name)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return "", &report.Error{What: "the license header cannot be read", Where: "--license-file", Hint: "a text file to put at the top of Go files", Err: err}
	}
	return string(data), nil
}
