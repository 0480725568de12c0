package operation

import (
	"path/filepath"
	"strings"

	"github.com/slipway-dev/slipway/internal/scaffold"
)

// ReplacedFiles are the files that follow from a change, as they were before it, each once.
type ReplacedFiles struct {
	List []scaffold.Replaced
	seen map[string]bool
}

// Noting notes the files of the project in root; it is nil when nothing is to be noted.
func (r *ReplacedFiles) Noting(root string) func(path string, before []byte) {
	if r == nil {
		return nil
	}
	return func(path string, before []byte) {
		rel, err := filepath.Rel(root, path)
		if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return // not the project's to restore
		}
		if rel = filepath.ToSlash(rel); r.seen[rel] {
			return
		}
		if r.seen == nil {
			r.seen = map[string]bool{}
		}
		r.seen[rel] = true
		r.List = append(r.List, scaffold.Replaced{Path: rel, Existed: before != nil, Before: before})
	}
}

// Both is a function that calls two, of which either may be nil.
func Both(first, second func(path string, before []byte)) func(path string, before []byte) {
	switch {
	case first == nil:
		return second
	case second == nil:
		return first
	}
	return func(path string, before []byte) {
		first(path, before)
		second(path, before)
	}
}
