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

// definitions are the CRDs among the files of a run, as the checker reads them. Their names lead to the
// files from the working folder.
type definitions struct {
	session *operation.Session
	root    string
	files   map[string]generate.File
	list    []crdcheck.File

	strict bool // what has a place in a definition fails, also where an API server would let it pass
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

// position finds the place in the code, or else the file, that a place in a CRD comes from.
func (d definitions) position(file, path string) report.Position {
	f, ok := d.files[file]
	if !ok {
		return report.Position{File: d.session.FromHere(d.root, file)}
	}
	at, _ := f.Locate(path)
	at.File = d.session.FromHere(d.root, at.File)
	return at
}

// errRefused is why a run fails whose files are written.
var errRefused = errors.New("the files are written nevertheless")

// checkDefinitions reports what an API server would say to the CRDs of a run that are new to the
// checker. What an API server refuses is an error, although the files are written: they are what the code says. Strict
// makes warnings errors too, apart from those about a definition as a whole, such as its size.
//
// A run that is recalled was checked, and found right, when it was made: all others are forgotten.
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

// reportDefinitions reports what is wrong with the CRDs, and returns the number of reports.
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
	return len(list), &report.Error{What: what + operation.Count(refused, "mistake") + ", reported above", Err: errRefused, Hint: "correct them in the Go types, then run slipway generate again"}
}

// reported are findings at their places in the code, in the order of those. What concerns a definition as a whole and
// is no mistake is reported when the definition changes, not in every run: there need not be anything to change about
// it.
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

// finding is what the checker found, in the words of the code.
func (d definitions) finding(f crdcheck.Finding) report.Finding {
	out := report.Finding{Position: d.position(f.File, f.Path), Message: f.String(), Suggestion: f.Advice(), Fatal: f.Refused || d.strict && f.Path != ""}
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
