package newwebhook

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/shellword"
	"github.com/slipway-dev/slipway/project"
)

// A wantedWebhook is a requested webhook: its flag, and the path of its marker.
type wantedWebhook struct {
	flag, path string
	recorded   bool // PROJECT lists it
}

// checkElsewhere looks for markers of the requested webhooks in code that slipway did not make. A second webhook of a
// path would be called twice, or keep the manager from starting.
//
// If the code and PROJECT have them all, there is nothing to do. If the layout's own file has one, only its entry in
// PROJECT is added. Other places are refused.
func (w *planner) checkElsewhere() (done bool, err error) {
	if err := w.checkConversion(); err != nil {
		return false, err
	}
	wanted := w.wanted()
	all, err := w.Code().Webhooks()
	if err != nil || len(wanted) == 0 {
		return false, err
	}
	own := w.project.WebhookFile(w.resource)
	_, ours := w.Base().File(own)
	all = slices.DeleteFunc(slices.Clone(all), func(h codebase.Webhook) bool { return ours && h.File == own })
	recorded := !w.options.Conversion
	var at []string
	var refusal error
	for _, hook := range wanted {
		i := slices.IndexFunc(all, func(w codebase.Webhook) bool { return w.Path == hook.path })
		recorded = recorded && i >= 0 && hook.recorded
		if i < 0 {
			continue
		}
		switch found := all[i]; {
		case found.File == own:
			w.theirs.Defaulting = w.theirs.Defaulting || found.Mutating
			w.theirs.Validation = w.theirs.Validation || !found.Mutating
		case refusal == nil:
			refusal = w.hasAlready(hook, found.Where(), wanted)
		}
		at = append(at, all[i].Where())
	}
	if recorded {
		w.NothingToDo(fmt.Sprintf("the project has these webhooks of %s %s, in %s, already", w.resource.APIVersion(), w.resource.Kind, strings.Join(at, ", ")))
		return true, nil
	}
	return false, refusal
}

// made returns the webhooks whose code is to be written.
func (w *planner) made() project.Webhooks {
	return project.Webhooks{
		Defaulting: w.options.Defaulting && !w.theirs.Defaulting,
		Validation: w.options.Validation && !w.theirs.Validation,
		Conversion: w.options.Conversion,
	}
}

// setUpByOthers reports whether the authors set up their webhooks without the function that slipway would call. What
// sets up a kind's webhooks serves its conversion, too.
func (w *planner) setUpByOthers() (bool, error) {
	switch made := w.made(); {
	case made.Defaulting || made.Validation:
		return false, nil
	case made.Conversion:
		return w.builtElsewhere()
	}
	if !w.besideTypes() {
		file, _ := w.Declaring(w.project.WebhookDir(w.resource), w.setupName())
		return file == "", nil
	}
	has, err := w.hasMethod(w.project.WebhookFile(w.resource), w.setupName())
	return !has, err
}

// builtElsewhere reports whether code outside of the layout's function builds webhooks of the kind.
func (w *planner) builtElsewhere() (bool, error) {
	if w.Recording() {
		return false, nil
	}
	if file, _ := w.Declaring(w.project.WebhookDir(w.resource), w.setupName()); file != "" {
		return false, nil
	}
	object := `&(\w+\.)?` + w.resource.Kind + `\{\}`
	place, err := w.Code().FirstLine(regexp.MustCompile(`NewWebhookManagedBy\(\s*\w+\s*(,\s*` + object + `\s*\)|\)\.\s*For\(\s*` + object + `\))`))
	return place != "", err
}

// wanted returns the requested webhooks that have a marker.
func (w *planner) wanted() []wantedWebhook {
	hooks := &project.Webhooks{}
	if w.recorded != nil && w.recorded.Webhooks != nil {
		hooks = w.recorded.Webhooks
	}
	var wanted []wantedWebhook
	if o := w.options; o.Defaulting {
		wanted = append(wanted, wantedWebhook{"--defaulting", w.path(true, o.DefaultingPath), hooks.Defaulting})
	}
	if o := w.options; o.Validation {
		wanted = append(wanted, wantedWebhook{"--programmatic-validation", w.path(false, o.ValidationPath), hooks.Validation})
	}
	return wanted
}

// Marked returns the place, "file:line", of the first marker of the kind's webhooks; "" if there is none.
func Marked(p *plan.Plan, code *codebase.Codebase, file *project.Project, r project.Resource) (string, error) {
	w := &planner{Plan: p, project: file, resource: r, options: Options{
		Defaulting: r.Webhooks.Defaulting, Validation: r.Webhooks.Validation,
		DefaultingPath: r.Webhooks.DefaultingPath, ValidationPath: r.Webhooks.ValidationPath,
	}}
	all, err := code.Webhooks()
	for _, found := range all {
		if slices.ContainsFunc(w.wanted(), func(hook wantedWebhook) bool { return hook.path == found.Path }) {
			return found.Where(), err
		}
	}
	return "", err
}

// hasAlready is the refusal of a webhook that the code has already. It advises the command for the rest.
func (w *planner) hasAlready(hook wantedWebhook, place string, wanted []wantedWebhook) error {
	e := &report.Error{What: "the project already has this webhook", Where: place, Hint: hook.flag + " creates a second one at " + hook.path + "; nothing was changed", Code: report.UsageCode}
	var rest []string
	for _, other := range wanted {
		if other.flag != hook.flag {
			rest = append(rest, other.flag)
		}
	}
	if w.options.Conversion {
		rest = append(rest, "--conversion")
	}
	if len(rest) > 0 {
		o := w.options
		e.Next = fmt.Sprintf("slipway create webhook --group %s --version %s --kind %s %s", shellword.Quote(o.Group), shellword.Quote(o.Version), shellword.Quote(o.Kind), strings.Join(rest, " "))
	}
	return e
}

// ownConfigFolder reports whether the Makefile generates the configurations into a folder that is not the layout's.
func (w *planner) ownConfigFolder() bool {
	return path.Dir(w.generation.WebhookFile()) != codebase.WebhookFolder
}

// hasConfigurations reports whether the suite finds generated configurations in a folder of the project's own. Such a
// project deploys in its own way, so only the suite would show that the file is missing.
func (w *planner) hasConfigurations() bool {
	there, err := w.Exists(w.generation.WebhookFile())
	return w.ownConfigFolder() && (w.options.Defaulting || w.options.Validation || there && err == nil)
}

// warnOfMarkers reports that the new webhooks will not be registered, if the Makefile's call of the generator does not
// read their folder.
func (w *planner) warnOfMarkers() error {
	if made := w.made(); !made.Defaulting && !made.Validation {
		return nil
	}
	file := w.project.WebhookFile(w.resource)
	w.LeaveMissed(w.generation, "webhook", path.Dir(file), "the markers in "+file+" are not in it: manifests.yaml gets no webhooks from them, and they are never called")
	return nil
}
