package generation

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/crdcheck"
	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
)

// definitions are the CRDs of a run in the form of the checker. Names are paths relative to the project or, outside it,
// to the working folder.
type definitions struct {
	session *operation.Session
	root    string
	files   map[string]generate.File
	list    []crdcheck.File

	strict bool // make warnings about a place in a CRD errors
}

func definitionsOf(s *operation.Session, root string, result generate.Result) definitions {
	d := definitions{session: s, root: root, files: make(map[string]generate.File)}
	for _, f := range result.Files {
		if _, ok := f.Locate(""); !ok {
			continue
		}
		name := s.FromHere(root, f.Path)
		if rel, err := filepath.Rel(root, f.Path); err == nil && filepath.IsLocal(rel) {
			name = filepath.ToSlash(rel)
		}
		d.files[name] = f
		d.list = append(d.list, crdcheck.File{Name: name, Content: string(f.Content)})
	}
	return d
}

// position returns the place in the code that a place in a CRD was generated from, else the file.
func (d definitions) position(file, path string) report.Position {
	f, ok := d.files[file]
	if !ok {
		return report.Position{File: d.session.FromHere(d.root, file)}
	}
	at, _ := f.Locate(path)
	at.File = d.session.FromHere(d.root, at.File)
	return at
}

// errRefused is the cause of an error after files were written.
var errRefused = errors.New("the files are written nevertheless")

// checkDefinitions checks the CRDs of a run as an API server would. A CRD that would be refused is an error, although
// its file is written. Strict makes warnings errors, too, except for those about a whole CRD, such as its size.
//
// A run that the cache recalls was checked without a report when it was made. A run with a report is forgotten.
func checkDefinitions(ctx context.Context, s *operation.Session, root string, result generate.Result, strict bool) error {
	d := definitionsOf(s, root, result)
	d.strict = strict
	if len(d.list) == 0 || crdcheck.Off(s.Getenv) {
		return nil
	}
	s.Handler.Handle(report.Step{Name: "checking the CRDs"})
	reported, err := reportDefinitions(ctx, s, d)
	if reported == 0 && err == nil {
		return nil
	}
	if forgetting := result.Forget(); forgetting != nil {
		return errors.Join(err, forgetting)
	}
	return err
}

// reportDefinitions reports mistakes in the CRDs and returns their number.
func reportDefinitions(ctx context.Context, s *operation.Session, d definitions) (reported int, err error) {
	checker := crdcheck.New(s.Getenv, s.Handler)
	findings, err := checker.Check(ctx, d.list)
	if errors.Is(err, crdcheck.ErrUnavailable) {
		s.Handler.Handle(report.Note{Text: operation.Count(len(d.list), "CRD") + " not checked as an API server does: " + operation.FirstLine(err) + "; to see why: " + checker.Command()})
		return 1, nil
	}
	if err != nil {
		return 0, err
	}
	list, refused := d.reported(findings), 0
	for _, f := range list {
		s.Handler.Handle(f)
		if f.Fatal {
			refused++
		}
	}
	if refused == 0 {
		return len(list), nil
	}
	what := "API servers refuse these CRDs: "
	if d.strict {
		what = "the CRDs have mistakes: "
	}
	return len(list), &report.Error{Class: report.BadProject, What: what + operation.Count(refused, "mistake") + ", reported above", Err: errRefused, Hint: "correct them in the Go types, then run slipway generate again"}
}

// reported converts findings to places in the code, in order. A warning about a whole CRD is shown only if the file
// changed: often nothing can be done about it, so it must not repeat in every run.
func (d definitions) reported(findings []crdcheck.Finding) []report.Finding {
	var reported []report.Finding
	for _, f := range crdcheck.Distinct(findings) {
		if !f.Refused && f.Path == "" && d.files[f.File].Action == report.Unchanged {
			continue
		}
		reported = append(reported, d.finding(f))
	}
	slices.SortStableFunc(reported, func(a, b report.Finding) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return reported
}

// finding converts a finding to the terms of the Go code.
func (d definitions) finding(f crdcheck.Finding) report.Finding {
	out := report.Finding{Rule: f.Rule(), Position: d.position(f.File, f.Path), Message: f.String(), Suggestion: f.Advice(), Fatal: f.Refused || d.strict && f.Path != ""}
	place := d.files[f.File]
	if name := place.Recursion(f.Path); name != "" && f.Untyped() {
		out.Message = f.Definition + ": " + crdcheck.Place(strings.TrimSuffix(f.Path, ".type")) + ": the type " + name + " contains itself, and the schema of a CRD cannot be recursive"
		out.Suggestion = "put +kubebuilder:validation:Schemaless and +kubebuilder:pruning:PreserveUnknownFields on the field, or refer to the inner object by name"
	}
	if fields := place.Unbounded(f.Path); f.Costly() && len(fields) > 0 {
		out.Suggestion += "; without a bound: " + strings.Join(fields[:min(len(fields), mostFields)], ", ")
	}
	return out
}

// mostFields bounds how many fields a suggestion names.
const mostFields = 8
