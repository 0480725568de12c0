package newwebhook

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/finite"
	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/shellword"
	"github.com/slipway-dev/slipway/project"
)

// A wantedWebhook is a webhook to create: its flag, and the path that its marker has.
type wantedWebhook struct {
	flag, path string
	recorded   bool // PROJECT has it
}

// checkElsewhere looks for markers of these webhooks outside the file that the layout has for them: a second webhook
// would be called twice, or keep the manager from starting. It refuses those, and plans nothing where PROJECT records
// them all.
func (w *planner) checkElsewhere() (done bool, err error) {
	if err := w.checkConversion(); err != nil {
		return false, err
	}
	wanted := w.wanted()
	if len(wanted) == 0 {
		return false, nil
	}
	if line, err := w.madeByOthers(wanted); line > 0 || err != nil {
		return line > 0, err
	}
	places, err := w.markers(w.project.WebhookFile(w.resource))
	if err != nil {
		return false, err
	}
	var there []wantedWebhook
	var at []string
	for _, hook := range wanted {
		if place := places[hook.path]; place != "" {
			there, at = append(there, hook), append(at, place)
		}
	}
	switch {
	case len(there) == 0:
		return false, nil
	case len(there) == len(wanted) && !w.options.Conversion && !slices.ContainsFunc(there, func(h wantedWebhook) bool { return !h.recorded }):
		w.NothingToDo(fmt.Sprintf("the project has these webhooks of %s %s, in %s, already", w.resource.APIVersion(), w.resource.Kind, strings.Join(at, ", ")))
		return true, nil
	}
	return false, w.hasAlready(there[0], at[0], wanted)
}

// madeByOthers is the line of the first of these webhooks in the file that the layout has for them, when another tool
// made that file, all of them are in it and PROJECT records them. Nothing is planned then: how its author serves them
// is no part of what was asked for. Those that PROJECT lacks are noted: it gets their entry, and the project no other
// code of them.
func (w *planner) madeByOthers(wanted []wantedWebhook) (line int, err error) {
	own := w.project.WebhookFile(w.resource)
	if _, ours := w.Base().File(own); ours {
		return 0, nil
	}
	c, err := w.Find(own)
	if err != nil {
		return 0, err
	}
	places := map[string]int{}
	addMarkers(c.After(), func(path string, line int) { places[path] = line })
	all := !w.options.Conversion
	for _, hook := range wanted {
		there := places[hook.path] > 0
		w.noteTheirs(hook, there)
		all = all && there && hook.recorded
	}
	if !all {
		return 0, nil
	}
	line = places[wanted[0].path]
	w.NothingToDo(fmt.Sprintf("the project has these webhooks of %s %s, in %s:%d, already", w.resource.APIVersion(), w.resource.Kind, own, line))
	return line, nil
}

// noteTheirs remembers which of the webhooks to create its author wrote.
func (w *planner) noteTheirs(hook wantedWebhook, there bool) {
	switch hook.flag {
	case "--defaulting":
		w.theirs.Defaulting = there
	case "--programmatic-validation":
		w.theirs.Validation = there
	}
}

// made are the webhooks whose code is to be written.
func (w *planner) made() project.Webhooks {
	return project.Webhooks{
		Defaulting: w.options.Defaulting && !w.theirs.Defaulting,
		Validation: w.options.Validation && !w.theirs.Validation,
		Conversion: w.options.Conversion,
	}
}

// setUpByOthers reports whether the package of webhooks that its author wrote has no function by which others are set
// up: then its author's manager does it otherwise.
func (w *planner) setUpByOthers() (bool, error) {
	if made := w.made(); made.Defaulting || made.Validation || made.Conversion {
		return false, nil
	}
	if !w.besideTypes() {
		file, _ := w.Declaring(w.project.WebhookDir(w.resource), w.setupName())
		return file == "", nil
	}
	has, err := w.hasMethod(w.project.WebhookFile(w.resource), w.setupName())
	return !has, err
}

// addMarkers calls add with the path of each webhook's marker in a file, and its line.
func addMarkers(src []byte, add func(path string, line int)) {
	for _, m := range webhookMarker().FindAllSubmatchIndex(src, -1) {
		add("/"+strings.TrimPrefix(string(src[m[2]:m[3]]), "/"), 1+bytes.Count(src[:m[0]], []byte("\n")))
	}
}

// wanted are the webhooks to create that have a marker.
func (w *planner) wanted() []wantedWebhook {
	hooks := &project.Webhooks{}
	if w.recorded != nil && w.recorded.Webhooks != nil {
		hooks = w.recorded.Webhooks
	}
	var wanted []wantedWebhook
	if o := w.options; o.Defaulting {
		wanted = append(wanted, wantedWebhook{"--defaulting", w.path("/mutate-", o.DefaultingPath), hooks.Defaulting})
	}
	if o := w.options; o.Validation {
		wanted = append(wanted, wantedWebhook{"--programmatic-validation", w.path("/validate-", o.ValidationPath), hooks.Validation})
	}
	return wanted
}

// Marked is the place of the first of a kind's webhooks that the code has, "file:line"; "" if it has none.
func Marked(p *plan.Plan, file *project.Project, r project.Resource) (string, error) {
	w := &planner{Plan: p, project: file, resource: r}
	w.options.Defaulting, w.options.Validation = r.Webhooks.Defaulting, r.Webhooks.Validation
	places, err := w.markers("")
	for _, hook := range w.wanted() {
		if place := places[hook.path]; place != "" {
			return place, err
		}
	}
	return "", err
}

// hasAlready refuses a webhook that the code at a place has.
func (w *planner) hasAlready(hook wantedWebhook, place string, wanted []wantedWebhook) error {
	e := &report.Error{What: "the project already has this webhook", Where: place, Hint: hook.flag + " creates a second one at " + hook.path + "; nothing was changed"}
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

// webhookMarker is a line that has controller-gen make a webhook, with its path.
var webhookMarker = lazy.Regexp("(?m)^[ \\t]*//[ \\t]*\\+kubebuilder:webhook:(?:.*,)?path=[\"`]?([^\"`,\\s]+)")

// markers finds the markers of webhooks in the module's code, but for one file: each path with its place, "file:line".
func (w *planner) markers(own string) (map[string]string, error) {
	places := map[string]string{}
	files, err := w.Code().GoFiles()
	for _, name := range files {
		if name == own {
			continue
		}
		data, err := finite.ReadFile(filepath.Join(w.Root(), filepath.FromSlash(name)))
		if err != nil {
			continue // code that cannot be read is reported by what builds it
		}
		addMarkers(data, func(path string, line int) {
			if places[path] == "" {
				places[path] = fmt.Sprintf("%s:%d", name, line)
			}
		})
	}
	return places, err
}
