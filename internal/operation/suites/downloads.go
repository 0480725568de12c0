package suites

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
	"github.com/slipway-dev/slipway/internal/setupenvtest"
)

// provideForModule is provideDownloads for the session's module. Outside of a module it does nothing.
func provideForModule(ctx context.Context, s *operation.Session, runs func(root, file string) bool) error {
	root, _, err := operation.ModuleRoot(s)
	if err != nil {
		return nil
	}
	return provideDownloads(ctx, s, root, runs)
}

// anyFile is for suites that run later.
func anyFile(string, string) bool { return true }

// provideDownloads creates the folders in which envtest looks before it downloads its programs, for the suites of the
// module in root. Runs selects the suites by their file. If no folder can be made for a suite, it reports the line to
// change, and the suite will download.
func provideDownloads(ctx context.Context, s *operation.Session, root string, runs func(root, file string) bool) error {
	downloads, err := setupenvtest.Downloads(s.Folder(root), s.Getenv)
	if err != nil {
		return err
	}
	tool := setupenvtest.Tool{Programs: clusterctl.New(s.Getenv, s.Handler).Assets, Handler: s.Handler}
	for _, d := range downloads {
		if !runs(root, d.File) {
			continue
		}
		if change := unprovided(s, root, d); change != "" {
			d.File = s.Relative(d.File)
			s.Handler.Handle(report.Finding{Rule: report.RuleDownloadedPrograms, Position: d.Position, Suggestion: change, Message: effectOf(d)})
			continue
		}
		folder, made, err := tool.Provide(ctx, d)
		if err != nil {
			return err
		}
		if made {
			s.Handler.Handle(report.Note{Text: fmt.Sprintf("made %s, where the suite of %s looks before it downloads: Kubernetes %s", folder, s.Relative(d.File), setupenvtest.Kubernetes)})
		}
	}
	return nil
}

func effectOf(d setupenvtest.Download) string {
	if d.Certain {
		return "DownloadBinaryAssets: true makes envtest ignore KUBEBUILDER_ASSETS and download its programs"
	}
	return "if DownloadBinaryAssets is true here, envtest ignores KUBEBUILDER_ASSETS and downloads its programs"
}

// unprovided returns what a suite has to change to need no download, or "" if a folder can be made for it.
func unprovided(s *operation.Session, root string, d setupenvtest.Download) string {
	leave := fmt.Sprintf("remove DownloadBinaryAssets, since slipway test provides the programs; or set BinaryAssetsDirectory to the folder "+
		"of envtest.SetupEnvtestDefaultBinaryAssetsDirectory() and DownloadBinaryAssetsVersion to %q", "v"+setupenvtest.Kubernetes)
	usual, err := setupenvtest.DefaultDir(s.Getenv)
	switch {
	case !d.Exact():
		return leave
	case !setupenvtest.StandsIn(d.Version):
		return fmt.Sprintf("slipway has no Kubernetes %s: set DownloadBinaryAssetsVersion to %q", d.Version, "v"+setupenvtest.Kubernetes)
	case !staysWithin(root, d.Path()) && (err != nil || !staysWithin(usual, d.Path())):
		return "slipway writes only to folders of the project and of setup-envtest, and " + d.Folder + " is another: " + leave
	}
	return ""
}

// staysWithin reports whether a path is below a folder, also after following links.
func staysWithin(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	if err != nil || !filepath.IsLocal(rel) {
		return false
	}
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		return true // so it contains no links
	}
	within, err := safefs.OpenFolder(folder)
	if err != nil {
		return false
	}
	_, err = within.Resolve(rel)
	_ = within.Close() // nothing was written
	_, out := errors.AsType[*safefs.OutsideError](err)
	return !out
}
