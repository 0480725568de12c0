package deletion

import (
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newwebhook"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/project"
)

// absent explains that the API does not exist, and lists similar ones.
func (o Options) absent(file *project.Project, r project.Resource) string {
	return fmt.Sprintf("the project has no %s %s; ", r.APIVersion(), r.Kind) + o.instead(file.Resources, "it has no APIs", flags)
}

// withoutWebhooks explains that the webhooks do not exist, and lists those that do.
func (o WebhookOptions) withoutWebhooks(file *project.Project) string {
	var with []project.Resource
	for _, r := range file.Resources {
		if r.Webhooks != nil {
			with = append(with, r)
		}
	}
	return fmt.Sprintf("the project has no such webhooks of %s in the group %q, version %s; ", o.Kind, o.Group, o.Version) +
		o.instead(with, "PROJECT lists no webhooks", func(r project.Resource) string { return flags(r) + flagsOf(*r.Webhooks) })
}

// maxListed bounds the kinds that a message lists.
const maxListed = 5

// instead suggests the kind with the most similar name, or lists all.
func (o Options) instead(there []project.Resource, nothing string, as func(project.Resource) string) string {
	if near := codebase.NearestKind(there, o.Group, o.Version, o.Kind); near != nil {
		return "did you mean " + as(*near) + "?"
	}
	var told []string
	for _, r := range there[:min(maxListed, len(there))] {
		told = append(told, "  "+as(r))
	}
	switch more := len(there) - len(told); {
	case len(told) == 0:
		return nothing
	case more > 0:
		told = append(told, fmt.Sprintf("  and %d more", more))
	}
	return "it has\n" + strings.Join(told, "\n")
}

// flags returns the flags that name a kind. A group without a name needs none.
func flags(r project.Resource) string {
	names := fmt.Sprintf("--version %s --kind %s", r.Version, r.Kind)
	if r.Group == "" {
		return names
	}
	return "--group " + r.Group + " " + names
}

func flagsOf(w project.Webhooks) (flags string) {
	for _, f := range []struct {
		has  bool
		flag string
	}{{w.Defaulting, " --defaulting"}, {w.Validation, " --programmatic-validation"}, {w.Conversion, " --conversion"}} {
		if f.has {
			flags += f.flag
		}
	}
	return flags
}

// Missing ends the planning of a deletion of what PROJECT does not list. It is an error if the code has it.
func Missing(p *plan.Plan, file *project.Project, d Options) error {
	r := project.Resource{Group: d.Group, Version: d.Version, Kind: d.Kind, Domain: file.Domain}
	if err := refuseUnlisted(p, file, r); err != nil {
		return err
	}
	p.NothingToDo(d.absent(file, r))
	return nil
}

// refuseUnlisted refuses to delete a kind whose type the code has and PROJECT does not list: its code would stay.
func refuseUnlisted(p *plan.Plan, file *project.Project, r project.Resource) error {
	found, err := projectfile.Declarations(p, file, r)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(found, func(k codebase.Kind) bool { return k.Package.Version == r.Version })
	if at < 0 {
		return nil
	}
	return &report.Error{
		Class: report.BadProject,
		What:  fmt.Sprintf("PROJECT does not list %s %s, whose type the project's code has", r.APIVersion(), r.Kind),
		Where: found[at].Where(), Hint: "nothing was changed; delete takes out what PROJECT lists: remove the type by hand, with what uses it",
	}
}

// refuseUnlistedWebhooks refuses to delete webhooks that the code has and PROJECT does not list.
func (o WebhookOptions) refuseUnlistedWebhooks(p *plan.Plan, file *project.Project) error {
	r := project.Resource{Group: o.Group, Version: o.Version, Kind: o.Kind, Domain: file.Domain}
	if listed := file.Lookup(o.Group, o.Version, o.Kind); listed != nil {
		r = *listed
	}
	all := !o.Defaulting && !o.Validation && !o.Conversion
	r.Webhooks = &project.Webhooks{Defaulting: all || o.Defaulting, Validation: all || o.Validation}
	place, err := newwebhook.Marked(p, p.Code(), file, r)
	if err != nil || place == "" {
		return err
	}
	return &report.Error{
		Class: report.BadProject,
		What:  "PROJECT lists no such webhooks of " + o.Kind + ", and the project's code has them", Where: place,
		Hint: "nothing was changed; delete takes out what PROJECT lists: remove the webhook by hand, with what calls it",
	}
}
