package newwebhook

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/listing"
)

// usualTree is what layouts deploy.
const usualTree = "config/default"

// elsewhere reports whether the Makefile has configurations of webhooks generated into a folder of the project's own.
func (w *planner) elsewhere() bool {
	return path.Dir(w.generation.WebhookFile()) != codebase.WebhookFolder
}

// hasConfigurations reports whether the suite finds a file of configurations in a folder of the project's own: it is
// there, or is generated of what is made. Such a project deploys in its own way, so nothing else would show that the
// file is missing.
func (w *planner) hasConfigurations() bool {
	if !w.elsewhere() {
		return false
	}
	there, err := w.Exists(w.generation.WebhookFile())
	return w.options.Defaulting || w.options.Validation || there && err == nil
}

// deployedFrom is the folder of its own from which the project deploys webhooks already: a kustomization lists it, and
// the manager's pods serve webhooks. There, new ones need their code alone. It is "" otherwise, and where a certificate
// is asked for, which is to be deployed.
func (w *planner) deployedFrom() (folder string, err error) {
	if !w.elsewhere() || w.options.Certificates != "" {
		return "", nil
	}
	all, err := listing.Read(w.Plan)
	if err != nil {
		return "", err
	}
	folder = path.Dir(w.generation.WebhookFile())
	for _, tree := range treesOf(all, folder) {
		if w.anyIn(all, tree, servesWebhooks) != "" {
			return folder, nil
		}
	}
	return "", nil
}

// treesOf are the folders whose kustomizations deploy one: the one of layouts if it does, or else those that list it.
func treesOf(all *listing.Kustomizations, folder string) []string {
	by := all.ListedBy(folder)
	if len(by) > 0 && slices.Contains(all.Parts(usualTree), folder) {
		return []string{usualTree}
	}
	return by
}

// anyIn is the first file of those that a folder builds of, or of the kustomizations that list them, in which some
// object is so; "" without one.
func (w *planner) anyIn(all *listing.Kustomizations, tree string, is func(any) bool) string {
	parts := all.Parts(tree)
	slices.Sort(parts)
	for _, part := range parts {
		list := all.File(part)
		for _, file := range append([]string{list}, w.namedIn(list)...) {
			if c, err := w.Find(file); err == nil && slices.ContainsFunc(documents(c.After()), is) {
				return file
			}
		}
	}
	return ""
}

// namedIn are the files that a kustomization names, as resources or as patches.
func (w *planner) namedIn(list string) (files []string) {
	for _, document := range documents(w.contentOf(list)) {
		walk(document, func(_ string, value any) bool {
			text, ok := value.(string)
			name := path.Join(path.Dir(list), text)
			if !ok || strings.ContainsAny(text, "\n:") || !slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name)) || strings.HasPrefix(name, "../") {
				return false
			}
			files = append(files, name)
			return false
		})
	}
	return files
}

// contentOf is a file as the plan leaves it, or nothing.
func (w *planner) contentOf(file string) []byte {
	c, err := w.Find(file)
	if err != nil {
		return nil
	}
	return c.After()
}

// noteDeployed says what of a project's own way to deploy webhooks does not follow by itself.
func (w *planner) noteDeployed(folder string) error {
	if w.Recording() {
		return nil
	}
	all, err := listing.Read(w.Plan)
	if err != nil {
		return err
	}
	if file := w.anyIn(all, folder, countsWebhooks); file != "" && (w.options.Defaulting || w.options.Validation) {
		w.Leave(fmt.Sprintf("%s: a patch counts the webhooks in %s, whose order changes with new ones; see that each number still means its webhook",
			file, w.generation.WebhookFile()))
	}
	if w.options.Conversion {
		w.Leave(fmt.Sprintf("%s: the project deploys its webhooks from here, so slipway adds no patch by which %s is converted; its definition needs spec.conversion, with strategy: Webhook and the path /convert",
			folder, w.resource.CRDName()))
	}
	return nil
}

// warnOfMarkers says that the new webhooks will not be registered, if the Makefile has the generator read other
// folders.
func (w *planner) warnOfMarkers() error {
	if made := w.made(); !made.Defaulting && !made.Validation {
		return nil
	}
	file := w.project.WebhookFile(w.resource)
	if missed, is := w.generation.Missed("webhook", path.Dir(file)); is {
		w.Leave(fmt.Sprintf("%s:%d: webhook reads %s, and the markers in %s are not in it: manifests.yaml gets no webhooks from them, and they are never called; add to the call:\npaths=./%s/...",
			missed.At().File, missed.Line, strings.Join(missed.Paths, ", "), file, path.Dir(file)))
	}
	return nil
}
