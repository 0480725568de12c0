package clients

import (
	"bytes"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/slipway-dev/slipway/internal/safefs"
)

// generatedFiles are the Go files below a folder that have the line which says
// that a generator wrote them.
func generatedFiles(folder, line string) []string {
	var files []string
	// What cannot be read is not known to be generated, and stays.
	_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return nil
		}
		text, err := safefs.ReadFile(path)
		if err == nil && bytes.Contains(text, []byte(line+"\n")) {
			files = append(files, path)
		}
		return nil
	})
	return files
}
