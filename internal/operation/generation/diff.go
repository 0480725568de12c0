package generation

import (
	"context"
	"errors"

	"github.com/slipway-dev/slipway/internal/crdcheck"
	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/regenerate"
	"github.com/slipway-dev/slipway/internal/report"
)

// DefinitionChanges is the result of [CompareDefinitions]; the JSON form is stable.
type DefinitionChanges struct {
	Since      string            `json:"since"`
	Breaking   int               `json:"breaking"`
	Compatible int               `json:"compatible"`
	Changes    []crdcheck.Change `json:"changes"`
}

// String returns the summary line.
func (c DefinitionChanges) String() string {
	if len(c.Changes) == 0 {
		return "the CRDs are the same as in " + c.Since
	}
	return operation.Count(c.Compatible, "compatible change") + " since " + c.Since + ", no breaking change"
}

// errBreaking is the cause of a failed comparison.
var errBreaking = errors.New("objects or clients that were valid before may be invalid now")

// CompareDefinitions compares the CRDs that the code generates with older ones: those of a git revision, a folder or a
// file. It writes nothing. Breaking changes are reported at their places in the code and are an error, with which all
// changes are returned.
func CompareDefinitions(ctx context.Context, s *operation.Session, since string, g Generation) (DefinitionChanges, error) {
	root, err := s.ProjectRoot()
	if err != nil {
		return DefinitionChanges{}, err
	}
	plan, result, err := plannedRun(ctx, s, root, g, generate.Options{Strict: g.Strict, DryRun: true, Within: g.Outside})
	if err != nil {
		return DefinitionChanges{}, err
	}
	var older []crdcheck.File
	for _, folder := range plan.CRDFolders() {
		files, err := crdcheck.Older(ctx, root, regenerate.Relative(root, folder), since)
		if err != nil {
			return DefinitionChanges{}, err
		}
		older = append(older, files...)
	}
	d := definitionsOf(s, root, result)
	checker := crdcheck.New(s.Getenv, s.Handler)
	changes, err := checker.Compare(ctx, older, d.list)
	if err != nil {
		return DefinitionChanges{}, err
	}
	if source, version := plan.Later(); version != "" && len(changes) > 0 {
		s.Handler.Handle(report.Warning{Text: source + " controller-gen " + version + ", and the CRDs here are those of " + generate.Newest +
			": the changes include the differences between both versions. To see those of the code alone, commit what slipway generate writes and compare with that commit."})
	}
	return reportChanges(s, d, DefinitionChanges{Since: since, Changes: changes})
}

func reportChanges(s *operation.Session, d definitions, c DefinitionChanges) (DefinitionChanges, error) {
	for _, change := range c.Changes {
		if change.Breaking {
			c.Breaking++
			s.Handler.Handle(report.Finding{Rule: report.RuleBreakingChange, Position: d.position(change.File, change.Path), Message: change.String(), Suggestion: change.Advice(), Fatal: true})
			continue
		}
		c.Compatible++
		s.Handler.Handle(report.Note{Text: "compatible: " + change.String()})
	}
	if c.Changes == nil {
		c.Changes = []crdcheck.Change{}
	}
	if c.Breaking == 0 {
		s.Handler.Handle(report.Result{Text: c.String(), Value: c})
		return c, nil
	}
	s.Handler.Handle(report.Result{Value: c})
	return c, &report.Error{What: operation.Count(c.Breaking, "breaking change") + " since " + c.Since + ", listed above", Err: errBreaking,
		Hint: "add a new version with a conversion, or allow again what was allowed"}
}
