package operation

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
	"github.com/slipway-dev/slipway/internal/userdirs"
)

// Hold takes the lock of the project in root, which keeps other commands from changing it. It waits while another
// command holds it. The caller must call release.
func Hold(ctx context.Context, s *Session, root string) (release func(), err error) {
	return scaffold.Hold(ctx, root, OwnFolders(s), s.Handler)
}

// OwnFolders returns the user's folders for locks and for the key that seals journals. Keys is "" without a cache
// folder: no key is kept where another user could replace it.
func OwnFolders(s *Session) scaffold.Folders {
	own := scaffold.Folders{Locks: userdirs.Locks}
	if cache, err := userdirs.Cache(s.Getenv); err == nil {
		own.Keys = filepath.Join(cache, "journal")
	}
	return own
}

// WarnInterrupted warns before a preview if another command was interrupted or is running: its files may be incomplete.
func WarnInterrupted(s *Session, root string) {
	if scaffold.Interrupted(root) {
		s.Handler.Handle(report.Warning{Text: "an earlier command was interrupted, or another one is running: some files may be old and others new, and the preview with them (" + filepath.Join(root, ".slipway", "pending") + ")"})
	}
}

// Originals keeps the earlier content of files that generating replaces. If generating fails, the change is undone with
// them.
type Originals struct {
	Files []scaffold.Replaced

	seen map[string]bool
}

// Recorder returns a function that records a file of the project in root before it is replaced. Only the first content
// of each file is kept. It returns nil if o is nil.
func (o *Originals) Recorder(root string) func(path string, before []byte) {
	if o == nil {
		return nil
	}
	return func(path string, before []byte) {
		rel, err := filepath.Rel(root, path)
		if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return // not in the project, so not restored
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
