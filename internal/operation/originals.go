package operation

import (
	"path/filepath"
	"strings"

	"github.com/slipway-dev/slipway/internal/scaffold"
)

// Originals keep the files that generating replaces as they were before a change, each once, so that the change can be
// taken back when generating fails.
type Originals struct {
	Files []scaffold.Replaced

	seen map[string]bool
}

// Recorder returns a function that keeps files of the project in root; nil if o is, since nothing is to be kept then.
func (o *Originals) Recorder(root string) func(path string, before []byte) {
	if o == nil {
		return nil
	}
	return func(path string, before []byte) {
		rel, err := filepath.Rel(root, path)
		if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return // not the project's to restore
		}
		if rel = filepath.ToSlash(rel); o.seen[rel] {
			return
		}
		if o.seen == nil {
			o.seen = map[string]bool{}
		}
		o.seen[rel] = true
		o.Files = append(o.Files, scaffold.Replaced{Path: rel, Existed: before != nil, Before: before})
	}
}
