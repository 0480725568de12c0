package delivery

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/features"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
)

// warnCommentedSections warns of commented-out sections of the configuration that the project's webhooks need. It says
// nothing about a project that it cannot read: the commands that change projects report that.
func warnCommentedSections(s *operation.Session, root, folder string) {
	kustomizations, err := s.Codebase(root).Config()
	if err != nil || !slices.Contains(kustomizations.Parts(path.Clean(filepath.ToSlash(folder))), codebase.DeployedFolder) {
		return
	}
	waiting, err := scaffold.WaitingSections(s.Folder(root))
	if err != nil || len(waiting) == 0 {
		return
	}
	var places, names []string
	for _, w := range waiting {
		places = append(places, fmt.Sprintf("  %s:%d: %s", w.File, w.Line, w.What))
		if name := string(w.Feature); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if slices.Contains(names, string(features.WebhookServer)) && !slices.Contains(names, string(features.CertManager)) {
		names = append(names, string(features.CertManager))
	}
	s.Handler.Handle(report.Warning{Text: "the project has webhooks, but the lines that deploy them are commented out:\n" + strings.Join(places, "\n") +
		"\n  slipway edit --enable " + strings.Join(names, ",") + " enables them"})
}
