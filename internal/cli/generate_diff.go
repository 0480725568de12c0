package cli

import (
	"context"
	"errors"

	"github.com/slipway-dev/slipway/internal/crdcheck"
	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/regenerate"
	"github.com/slipway-dev/slipway/internal/report"
)

// definitionChanges is the JSON form of what `slipway generate --diff` found.
type definitionChanges struct {
	Since      string            `json:"since"`
	Breaking   int               `json:"breaking"`
	Compatible int               `json:"compatible"`
	Changes    []crdcheck.Change `json:"changes"`
}

// String is the line that ends the command.
func (c definitionChanges) String() string {
	if len(c.Changes) == 0 {
		return "the CRDs are as in " + c.Since
	}
	return count(c.Compatible, "compatible change") + " since " + c.Since + ", none that breaks what was right before"
}

// errBreaking is why a comparison fails.
var errBreaking = errors.New("objects or clients that were right before may be wrong now")

// diff compares the CRDs that follow from the code with older ones and writes nothing. Breaking changes are findings at their
// places in the code, and an error.
func (inv *invocation) diff(ctx context.Context, root string, flags generateFlags) error {
	plan, result, err := inv.plannedRun(ctx, root, generate.Options{Strict: flags.strict, DryRun: true, Within: flags.outside})
	if err != nil {
		return err
	}
	var older []crdcheck.File
	for _, folder := range plan.CRDFolders() {
		files, err := crdcheck.Older(ctx, root, regenerate.Relative(root, folder), flags.since)
		if err != nil {
			return err
		}
		older = append(older, files...)
	}
	d := inv.definitions(root, result)
	checker := crdcheck.New(inv.Getenv, inv.handler)
	changes, err := checker.Compare(ctx, older, d.list)
	if err != nil {
		return err
	}
	return inv.tellChanges(d, definitionChanges{Since: flags.since, Changes: changes})
}

func (inv *invocation) tellChanges(d definitions, c definitionChanges) error {
	for _, change := range c.Changes {
		if change.Breaking {
			c.Breaking++
			inv.handler.Handle(report.Finding{Position: d.position(change.File, change.Path), Message: change.String(), Suggestion: change.Advice(), Fatal: true})
			continue
		}
		c.Compatible++
		inv.handler.Handle(report.Note{Text: "compatible: " + change.String()})
	}
	if c.Changes == nil {
		c.Changes = []crdcheck.Change{}
	}
	if c.Breaking == 0 {
		inv.handler.Handle(report.Result{Text: c.String(), Value: c})
		return nil
	}
	inv.handler.Handle(report.Result{Value: c})
	return &report.Error{What: count(c.Breaking, "breaking change") + " since " + c.Since + ", told above", Err: errBreaking,
		Hint: "a new version beside the old one, with a conversion; or what was allowed stays allowed"}
}
