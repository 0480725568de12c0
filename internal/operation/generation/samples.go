package generation

import (
	"bytes"
	"context"
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/crdcheck"
	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/regenerate"
	"github.com/slipway-dev/slipway/internal/report"
)

// unfinished marks scaffolded samples that are not filled in yet.
const unfinished = "TODO(user): Add fields here"

// checkSamples reports samples that an API server with the generated CRDs would refuse. Samples are not generated, so
// only a strict run fails.
func checkSamples(ctx context.Context, s *operation.Session, root string, plan regenerate.Plan, result generate.Result, strict bool) error {
	if crdcheck.Off(s.Getenv) {
		return nil
	}
	definitions := generatedDefinitions(s, root, plan, result)
	samples := samplesOf(s, root, definitions)
	if len(samples) == 0 {
		return nil
	}
	findings, err := crdcheck.New(s.Getenv, s.Handler).CheckSamples(ctx, definitions, samples)
	switch {
	case errors.Is(err, crdcheck.ErrUnavailable):
		return nil // checking the CRDs reports it
	case err != nil:
		return err
	case len(findings) == 0:
		return nil
	}
	if findings, err = withoutChanged(s, root, findings); err != nil {
		return err
	}
	for _, f := range findings {
		place := ""
		if f.Path != "" {
			place = f.Path + ": "
		}
		s.Handler.Handle(report.Finding{Rule: report.RuleRefusedSample, Position: report.Position{File: s.FromHere(root, f.File), Line: f.Line}, Fatal: strict,
			Message: "an API server refuses this sample: " + place + f.Message, Suggestion: "correct the sample, or the type of " + f.Definition})
	}
	if strict && len(findings) > 0 {
		return &report.Error{Class: report.BadProject, What: "API servers refuse samples: " + operation.Count(len(findings), "mistake") + ", reported above", Err: errRefused, Hint: "correct the samples, then run slipway generate again"}
	}
	return nil
}

// generatedDefinitions returns the CRDs of a run. It reads unchanged ones from disk.
func generatedDefinitions(s *operation.Session, root string, plan regenerate.Plan, result generate.Result) (all []crdcheck.File) {
	folders := plan.CRDFolders()
	for _, f := range result.Files {
		if !slices.Contains(folders, filepath.Dir(f.Path)) {
			continue
		}
		name, content := regenerate.Relative(root, f.Path), f.Content
		if len(content) == 0 {
			var err error
			if content, err = s.Codebase(root).View().ReadFile(filepath.ToSlash(name)); err != nil {
				continue // outside the project, or just generated
			}
		}
		all = append(all, crdcheck.File{Name: name, Content: string(content)})
	}
	return all
}

// samplesOf returns the finished samples in the groups of these CRDs.
func samplesOf(s *operation.Session, root string, definitions []crdcheck.File) (all []crdcheck.File) {
	var groups []string
	for _, d := range definitions {
		group, _, _ := strings.Cut(path.Base(filepath.ToSlash(d.Name)), "_")
		groups = append(groups, group+"/")
	}
	code := s.Codebase(root)
	for _, name := range code.Samples() {
		text, err := code.View().ReadFile(name)
		if err != nil || bytes.Contains(text, []byte(unfinished)) {
			continue
		}
		if slices.ContainsFunc(groups, func(group string) bool { return bytes.Contains(text, []byte(group)) }) {
			all = append(all, crdcheck.File{Name: name, Content: string(text)})
		}
	}
	return all
}

// withoutChanged removes findings that a mutating webhook may correct. Unknown fields remain: an API server reports
// them before it calls webhooks.
func withoutChanged(s *operation.Session, root string, findings []crdcheck.Finding) ([]crdcheck.Finding, error) {
	webhooks, err := s.Codebase(root).Webhooks()
	changes := func(definition string) bool {
		return slices.ContainsFunc(webhooks, func(w codebase.Webhook) bool { return w.Mutating && slices.Contains(w.Definitions, definition) })
	}
	return slices.DeleteFunc(findings, func(f crdcheck.Finding) bool {
		return f.Reason != crdcheck.UnknownField && changes(f.Definition)
	}), err
}
