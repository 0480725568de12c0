package newwebhook

import (
	"path"

	"github.com/slipway-dev/slipway/internal/codebase"
)

// elsewhere reports whether the Makefile has configurations of webhooks generated into a folder of the project's own.
func (w *planner) elsewhere() bool {
	return path.Dir(w.generation.WebhookFile()) != codebase.WebhookFolder
}

// hasConfigurations reports whether the suite finds a file of configurations in a folder of the project's own: it is
// there, or is generated of what is made. Such a project deploys in its own way, so nothing else would show that the
// file is missing.
func (w *planner) hasConfigurations() bool {
	there, err := w.Exists(w.generation.WebhookFile())
	return w.elsewhere() && (w.options.Defaulting || w.options.Validation || there && err == nil)
}

// warnOfMarkers says that the new webhooks will not be registered, if the Makefile has the generator read other
// folders.
func (w *planner) warnOfMarkers() error {
	if made := w.made(); !made.Defaulting && !made.Validation {
		return nil
	}
	file := w.project.WebhookFile(w.resource)
	w.LeaveMissed(w.generation, "webhook", path.Dir(file), "the markers in "+file+" are not in it: manifests.yaml gets no webhooks from them, and they are never called")
	return nil
}
