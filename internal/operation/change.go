package operation

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
	"github.com/slipway-dev/slipway/internal/userdirs"
)

// Hold waits until no other command changes the project, and keeps others from it until release is called.
func Hold(ctx context.Context, s *Session, root string) (release func(), err error) {
	return scaffold.Hold(ctx, root, OwnFolders(s), s.Handler)
}

// OwnFolders are where locks and the key of journals are. The key is not kept where others might put one.
func OwnFolders(s *Session) scaffold.Folders {
	own := scaffold.Folders{Locks: userdirs.Locks}
	if cache, err := userdirs.Cache(s.Getenv); err == nil {
		own.Keys = filepath.Join(cache, "journal")
	}
	return own
}

// WarnInterrupted says that what is shown is planned on what a command left, or is still at.
func WarnInterrupted(s *Session, root string) {
	if scaffold.Interrupted(root) {
		s.Handler.Handle(report.Warning{Text: "an earlier command was interrupted, or another one is running: some files may be old and others new, and the preview with them (" + filepath.Join(root, ".slipway", "pending") + ")"})
	}
}

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
