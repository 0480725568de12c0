package newwebhook

import (
	"path"
	"path/filepath"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/gomod"
	"github.com/slipway-dev/slipway/internal/shellword"
)

// clientModule is a module that webhooks need by way of controller-runtime, and types do not: a go.mod without it lacks
// the others, too.
const clientModule = "k8s.io/client-go"

// noteModule says that a module nested in the project's, such as that of the types, does not require what the webhooks
// in it import. Others import that module, so what it requires is for its authors to decide.
func (w *planner) noteModule() error {
	file, err := gomod.NestedFile(w.Root(), w.project.WebhookDir(w.resource))
	if err != nil || file == "" {
		return err
	}
	dir := path.Dir(file)
	mod, err := gomod.Read(filepath.Join(w.Root(), filepath.FromSlash(dir)))
	if err != nil || mod == nil || mod.Requires(clientModule) {
		return err
	}
	w.Leave(file + ": the webhooks and their tests are in this Go module, which does not require all that they import; run: cd " + shellword.Quote(dir) + " && go mod tidy")
	return nil
}
